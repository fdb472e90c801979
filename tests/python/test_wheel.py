"""The wheel in environments of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

WHEELS = os.environ.get("TESSERA_WHEELS")
pytestmark = pytest.mark.skipif(WHEELS is None, reason="TESSERA_WHEELS does not name the folder of the wheel")


def run_in_new_environment(folder: Path, packages: list[str], script: str) -> str:
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin/python"
    wheel = next(Path(WHEELS).glob("tessera-*.whl"))
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel, *packages]
    env = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    subprocess.run(install, check=True, env=env)
    done = subprocess.run([python, "-c", script], cwd=folder, env=env, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_runs_without_the_build(tmp_path, served):
    script = f"""
import numpy
from tessera import Tesseract
tess = Tesseract.from_url({served.url("vectoradd")!r})
print(repr(tess.apply({{"a": [1.0], "b": numpy.array([2.0])}})["result"]))
"""
    assert run_in_new_environment(tmp_path / "env", ["numpy"], script) == "array([3.])\n"


def test_it_works_without_numpy(tmp_path, served):
    script = f"""
import array
from tessera import Tesseract
tess = Tesseract.from_url({served.url("vectoradd")!r})
result = tess.apply({{"a": [1.0, 2.0], "b": array.array("d", [3.0, 4.0])}})["result"]
print(type(result).__name__, result.tolist(), result.shape)
try:
    tess.apply({{"a": memoryview(array.array("d", [1, 2, 3, 4]))[::2], "b": [1, 2]}})
except TypeError as error:
    print(error)
"""
    said = run_in_new_environment(tmp_path / "env", [], script)
    assert said.startswith("memoryview [4.0, 6.0] (2,)\n") and "NumPy is not installed" in said
