"""Served Tesseracts for the tests of the Python package."""

import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "gpu"), str(TESTS / "torture"), str(TESTS / "conformance")]

# The stand-in driver reads it once, when a process loads it.
os.environ["TESSERA_STAND_IN_ROOT"] = tempfile.mkdtemp(prefix="tessera_python_tests.", dir="/dev/shm")

pytest.register_assert_rewrite("gpu_harness", "harness")
from gpu_harness import daemons
from tessera import Tesseract


def pytest_unconfigure():
    """Removes the machine of this run."""
    shutil.rmtree(os.environ["TESSERA_STAND_IN_ROOT"], ignore_errors=True)


@dataclass
class Served:
    """A daemon, and clients of what it serves."""

    daemon: daemons.Daemon
    unix_path: Path
    output_path: Path

    @property
    def address(self) -> str:
        return self.daemon.url

    def url(self, name: str) -> str:
        return f"{self.address}/{name}"

    def client(self, name: str, **options) -> Tesseract:
        return Tesseract.from_url(self.url(name), **options)


@pytest.fixture(scope="session")
def serve(tmp_path_factory):
    """serve(names, *options, **settings): a daemon of Tesseracts, which ends with the tests."""
    started = []

    def start(names: list[str], *options: str, **settings) -> Served:
        folder = tmp_path_factory.mktemp(names[0])
        unix_path = folder / "sock"
        settings.setdefault("transport", None)
        daemon = daemons.start(
            ["tessera"], names[0], folder, *names[1:], "--unix", str(unix_path), *options, **settings
        )
        started.append(daemon)
        return Served(daemon, unix_path, folder)

    yield start
    for daemon in started:
        assert daemon.stop() == 0


@pytest.fixture(scope="session")
def served(serve) -> Served:
    """The examples, by name."""
    return serve(["vectoradd", "everything", "failing", "identity"], "--num-workers", "8")


@pytest.fixture(scope="session")
def debugged(serve) -> Served:
    """The examples in debug mode."""
    return serve(["vectoradd", "failing"], "--debug")


@pytest.fixture(scope="session")
def vectoradd(served) -> Tesseract:
    return served.client("vectoradd")


@pytest.fixture(scope="session")
def everything(served) -> Tesseract:
    return served.client("everything").with_encoding(output_format="json+base64")


@pytest.fixture(scope="session")
def failing(served) -> Tesseract:
    return served.client("failing")


@pytest.fixture(scope="session")
def identity(served) -> Tesseract:
    return served.client("identity").with_encoding(output_format="json+base64")
