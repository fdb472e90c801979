"""What figures are of: the machine, and the versions of all that is timed on it."""

import os
import platform
import re
import subprocess
from importlib.metadata import version
from pathlib import Path

from servers import HERE, PROGRAMS


def _value(file: str, name: str) -> str | None:
    """Of the first line `name: value`."""
    lines = (line.partition(":") for line in Path(file).read_text().splitlines())
    return next((value.strip() for key, _, value in lines if key.strip() == name), None)


def _output(*command: str | os.PathLike) -> str:
    """Empty if it fails, as git does where there is no clone."""
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=HERE, text=True).stdout.strip()


def _build() -> str:
    """Which compiler, and which Boost it sees: by its own macros."""
    cache = (PROGRAMS.parent / "CMakeCache.txt").read_text()
    compiler = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.*)$", cache, re.MULTILINE)[1]
    kind = re.search(r"^CMAKE_BUILD_TYPE:\w+=(.*)$", cache, re.MULTILINE)[1]
    text = _output(compiler, "-dM", "-E", "-x", "c++", "-include", "boost/version.hpp", "/dev/null")
    macros = dict(re.findall(r'^#define (\w+) "?([^"\n]*)', text, re.MULTILINE))
    name = "clang" if "__clang__" in macros else "g++"
    boost = macros["BOOST_LIB_VERSION"].replace("_", ".")
    return f"{name} {macros['__VERSION__'].removeprefix('Clang ')} ({kind}), Boost {boost}"


def describe(rounds: int) -> str:
    """One paragraph."""
    model = _value("/proc/cpuinfo", "model name") or platform.machine()
    memory = int(_value("/proc/meminfo", "MemTotal").split()[0]) / (1 << 20)
    commit = _output("git", "describe", "--always", "--dirty") or "unknown"
    kernel = ".".join(platform.release().split(".")[:2])
    packages = ", ".join(f"{name} {version(name)}" for name in ("tesseract-core", "uvicorn", "h11"))
    return (
        f"{model}, {os.cpu_count()} cores, {memory:.1f} GiB, Linux {kernel}; "
        f"{_output(PROGRAMS / 'tessera', '--version')}, commit {commit}, {_build()}; "
        f"Python {platform.python_version()}, {packages}; {rounds} rounds."
    )
