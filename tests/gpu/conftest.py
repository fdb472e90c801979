"""The programs of a build, a machine of the stand-in driver for each run, and daemons on it."""

import os
import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "conformance"))

# The driver reads it once, when a process loads it: before any test does.
os.environ["TESSERA_STAND_IN_ROOT"] = tempfile.mkdtemp(prefix="tessera_gpu_tests.", dir="/dev/shm")

pytest.register_assert_rewrite("gpu_harness")
from gpu_harness import daemons, machine  # noqa: E402


def pytest_addoption(parser):
    parser.addoption("--build", default=str(TESTS.parent / "build"), help="the folder of a build")
    parser.addoption("--schedules", type=int, default=200, help="in how many ways somebody is killed")


def pytest_unconfigure():
    shutil.rmtree(os.environ["TESSERA_STAND_IN_ROOT"], ignore_errors=True)


@pytest.fixture(scope="session")
def build(request) -> Path:
    return Path(request.config.getoption("--build")).resolve()


@pytest.fixture(scope="session")
def start_daemon(build, tmp_path_factory):
    """start_daemon(name, *options, **settings): see gpu_harness.daemons.start. Ends them all in the end."""
    started = []

    def start(name: str, *options: str, **settings):
        module = build / "lib" / "tessera_tests" / f"{name}.so"
        daemon = daemons.start([str(build / "bin" / "tessera")], str(module) if module.exists() else name,
                               tmp_path_factory.mktemp(name), *options, **settings)
        started.append(daemon)
        return daemon

    yield start
    with ThreadPoolExecutor(max_workers=16) as pool:  # each may wait a second for its clients
        list(pool.map(daemons.Daemon.stop, started))


@pytest.fixture(scope="module")
def places(start_daemon):
    """A daemon of places that the tests of a module share."""
    daemon = start_daemon("places")
    yield daemon
    assert daemon.stop() == 0


@pytest.fixture(autouse=True, scope="session")
def stand_in():
    """The machine of this run."""
    assert machine.used_bytes() == 0
    return machine
