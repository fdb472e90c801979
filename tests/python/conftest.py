"""Daemons of a build, and clients of what they serve."""

import os
import subprocess
import time
from pathlib import Path

import pytest

from tessera import Tesseract

BUILD = Path(os.environ.get("TESSERA_BUILD", Path(__file__).resolve().parents[2] / "build"))
NAMES = ["vectoradd", "identity", "everything", "failing"]


class Served:
    """A daemon with the examples on a Unix socket and a port."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder = folder
        self.socket = folder / "socket"
        (folder / "in").mkdir()
        self.log = (folder / "log").open("wb")
        command = [BUILD / "bin/tessera", "serve", *NAMES, "--port", "0", "--unix", self.socket, "--num-workers", "2"]
        command += ["--input-path", folder / "in", "--output-path", folder / "out", "--debug", *options]
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log)
        deadline = time.monotonic() + 30
        while not self.socket.exists():
            assert self.process.poll() is None and time.monotonic() < deadline, (folder / "log").read_text()
            time.sleep(0.01)

    def url(self, name: str) -> str:
        return f"unix:{self.socket}:/{name}"

    def client(self, name: str, **options) -> Tesseract:
        return Tesseract.from_url(self.url(name), **options)

    def stop(self) -> None:
        self.process.terminate()
        assert self.process.wait(timeout=20) == 0
        self.log.close()


@pytest.fixture(scope="session")
def served(tmp_path_factory):
    daemon = Served(tmp_path_factory.mktemp("served"))
    yield daemon
    daemon.stop()


@pytest.fixture(scope="session")
def served_gpu(tmp_path_factory):
    daemon = Served(tmp_path_factory.mktemp("served"), "--gpu-transport", "cuda_ipc")
    yield daemon
    daemon.stop()
