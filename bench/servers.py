"""Servers of this machine that are timed: tessera, the public Python runtime, and a bare echo of Boost.Beast."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE.parent / "build" / "bin"
REFERENCE = HERE.parent / "tests" / "conformance" / "reference" / "identity" / "tesseract_api.py"


def run_timer(program: str, *arguments) -> dict:
    """What a program that times something prints."""
    output = subprocess.run([PROGRAMS / program, *map(str, arguments)], check=True, stdout=subprocess.PIPE).stdout
    return json.loads(output)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until_well(port: int, process: subprocess.Popen) -> float:
    """Seconds until /health answers."""
    began = time.monotonic()
    while time.monotonic() - began < 60:
        if process.poll() is not None:
            sys.exit(f"a server ended with code {process.returncode}")
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5):
                return time.monotonic() - began
        except OSError:
            time.sleep(0.002)
    sys.exit("a server did not answer within 60 s")


@dataclass
class Server:
    port: int
    process: subprocess.Popen
    folder: Path
    """Where its files are read from and written to."""
    unix_path: Path | None = None
    start_seconds: float = 0

    @property
    def body(self) -> Path:
        """The file of the body that it is sent."""
        return self.folder / "body.json"

    @property
    def where(self) -> list[str]:
        """How the programs that time it are told where it is."""
        return ["--tcp", str(self.port)]

    @property
    def where_unix(self) -> list[str]:
        return ["--unix", str(self.unix_path)]


class Servers(contextlib.ExitStack):
    """Starts servers, and ends them with its block. Files lie in `folder`, one folder for each server."""

    def __init__(self, folder: str | os.PathLike) -> None:
        super().__init__()
        self.folder = Path(folder)

    def _start(self, name: str, command: list, port: int, unix_path: Path | None = None) -> Server:
        folder = self.folder / name
        folder.mkdir()
        env = {key: value for key, value in os.environ.items() if "TESSERACT_" not in key}
        env |= {"TESSERACT_OUTPUT_PATH": str(folder), "TESSERACT_INPUT_PATH": str(folder)}
        env |= {"TESSERACT_API_PATH": str(REFERENCE)}
        log = self.enter_context(open(folder / "log", "wb"))
        began = time.monotonic()
        process = subprocess.Popen(command, env=env, stdout=log, stderr=log, cwd=folder)
        self.callback(process.wait, timeout=15)
        self.callback(process.terminate)
        server = Server(port, process, folder, unix_path)
        if name != "echo":
            wait_until_well(port, process)
        server.start_seconds = time.monotonic() - began
        return server

    def start_tessera(self, name: str = "tessera", *options: str) -> Server:
        port, unix_path = free_port(), self.folder / f"{name}.socket"
        command = [PROGRAMS / "tessera", "serve", "identity", "--port", str(port), "--unix", unix_path, *options]
        return self._start(name, command, port, unix_path)

    def start_runtime(self) -> Server:
        port = free_port()
        command = [sys.executable, "-m", "tesseract_core.runtime", "serve", "--port", str(port)]
        return self._start("runtime", command, port)

    def start_echo(self) -> Server:
        """Of Beast, with as many threads as tessera has: for one worker, for each core, and one more."""
        port, threads = free_port(), 1 + os.cpu_count() + 1
        return self._start("echo", [PROGRAMS / "tessera_beast_echo", str(port), str(threads)], port)
