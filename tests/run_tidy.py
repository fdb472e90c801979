#!/usr/bin/env python3
"""Asks clang-tidy about every source that a build compiles; headers are seen through them.

Usage: run_tidy.py BUILD. The static analyzer looks at each source of BUILD by itself, as it skips what is included. All
other checks look at the unity sources of the preset `tidy`: most of their time goes into headers, which are read once
for several sources there.
"""

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# The commands of BUILD are those of g++: clang does not know all of its flags, and Boost 1.74 not that clang has
# coroutines. Paths through a function are followed up to so many nodes, a quarter of what is usual: half of the time.
ANALYZER = [
    "--extra-arg=-Wno-unknown-warning-option",
    "--extra-arg=-DBOOST_ASIO_HAS_CO_AWAIT",
    "--extra-arg=-DBOOST_ASIO_HAS_STD_COROUTINE",
    *(f"--extra-arg={word}" for word in ("-Xclang", "-analyzer-config", "-Xclang", "max-nodes=50000")),
]


def config_of(place: Path) -> Path:
    """That of the nearest folder, which clang-tidy finds by itself only for what lies in the repository."""
    return next(config for folder in place.parents if (config := ROOT / folder / ".clang-tidy").exists())


@dataclass(frozen=True)
class Look:
    """One run of clang-tidy."""

    place: Path  # of the source in the repository, or as if it were there
    source: Path
    options: tuple

    def run(self) -> tuple[int, str]:
        command = ["clang-tidy-19", "--quiet", f"--config-file={config_of(self.place)}", *self.options, self.source]
        # It counts the warnings that it does not show on stderr.
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        return done.returncode, done.stdout


def configured_for_unity() -> Path:
    configure = ["cmake", "--preset", "tidy", "--log-level=WARNING"]
    subprocess.run(configure, cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
    return ROOT / "build/tidy"


def sources(build: Path) -> dict[Path, Path]:
    """Each source of ours with its place. Others are made in a build: headers that must compile alone, kernels in C."""
    places = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = Path(entry["file"])
        if source.is_relative_to(build):
            if source.match("Unity/*.cxx"):
                places[source] = source.relative_to(build)
        elif source.is_relative_to(ROOT):
            places[source] = source.relative_to(ROOT)
    return places


def looks(build: Path, unity_build: Path) -> list[Look]:
    """All runs; those that take longest come first, so that no core waits for one at the end."""
    found = [
        Look(place, source, ("-p", unity_build, "--checks=-clang-analyzer-*"))
        for source, place in sources(unity_build).items()
    ]
    for source, place in sources(build).items():
        if place.parts[0] == "tests":
            continue  # tests/.clang-tidy says why
        # What the command line names comes after what the config does: its exceptions must be said again.
        exceptions = re.findall(r"-clang-analyzer-[\w.*]+", config_of(place).read_text())
        checks = ",".join(["--checks=-*", "clang-analyzer-*", *exceptions])
        found.append(Look(place, source, ("-p", build, checks, *ANALYZER)))
    slow = ("daemon", "cli", "tesseract")
    return sorted(found, key=lambda look: (look.place.parts[0] not in slow, look.source.suffix != ".cxx", look.place))


def main() -> int:
    all_looks = looks(Path(sys.argv[1]).resolve(), configured_for_unity())
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(Look.run, all_looks))
    # A finding in a header comes once for each source that includes it.
    lines, failed = set(), []
    for look, (code, text) in zip(all_looks, results):
        findings = [line for line in text.splitlines() if re.search(r": (error|warning): ", line)]
        # Where a path through our code ends in a library's header, the analyzer reports the header.
        own = [line for line in findings if not line.startswith("/usr/include/")]
        if own or (code != 0 and not findings):
            lines.update(own)
            failed.append(str(look.place))
    if failed:
        print(*sorted(lines), "clang-tidy is not content with " + " ".join(failed), sep="\n", file=sys.stderr)
        return 1
    print(f"clang-tidy: clean after {len(all_looks)} looks")
    return 0 if all_looks else 1


if __name__ == "__main__":
    sys.exit(main())
