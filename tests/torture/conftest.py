"""Daemons of a build, that the tests of load and faults may break."""

import re
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "gpu"))

pytest.register_assert_rewrite("torture_harness")
from gpu_harness import daemons  # noqa: E402

# Whatever became of the process then, and whether or not a test looked at that.
SANITIZER_REPORT = re.compile(r"^.*(?:ERROR: \w+Sanitizer|WARNING: ThreadSanitizer|runtime error: ).*$", re.MULTILINE)


def pytest_addoption(parser):
    parser.addoption("--build", default=str(TESTS.parent / "build"), help="the folder of a build")
    parser.addoption("--overload-s", type=float, default=6, help="how long there are more calls than can be done")
    parser.addoption("--times", type=int, default=5, help="how often what goes by chance is done again")


@pytest.fixture(scope="session")
def build(request) -> Path:
    return Path(request.config.getoption("--build")).resolve()


@pytest.fixture
def times(request) -> int:
    return request.config.getoption("--times")


@pytest.fixture
def start_daemon(build, tmp_path):
    """start_daemon(name, *options, prefix=(), **settings): see gpu_harness.daemons.start. Kills what is left, and fails
    for what a sanitizer reported."""
    started = []

    def start(name: str = "trouble", *options: str, prefix=(), folder: Path = tmp_path / "runs", **settings):
        module = build / "lib" / "tessera_tests" / f"{name}.so"
        daemon = daemons.start([*prefix, str(build / "bin" / "tessera")], str(module) if module.exists() else name,
                               folder, *options, transport=None, without_gpu=True, **settings)
        started.append(daemon)
        return daemon

    yield start
    for daemon in started:
        for client in daemon.clients:
            client.close()
        if daemon.process.poll() is None:
            daemon.kill()
    reports = [daemon.log() for daemon in started if SANITIZER_REPORT.search(daemon.log())]
    assert not reports, "\n".join(reports)
