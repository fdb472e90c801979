"""Starts a server of each Tesseract that the tests call, by the harness of the conformance suite, and runs a program on them.

Usage: run_on_servers.py (--reference | --serve COMMAND) PROGRAM [OPTION...]
Servers with a GPU transport are started where there is a driver. Ends with the program's status.
"""

import argparse
import ctypes
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "conformance"))

from harness.servers import Server, Servers, reference_serve_command

LIMIT_S = 600  # of the program: one that hangs fails

SERVERS = {
    "vectoradd": ("vectoradd", {"debug": True}),
    "univariate": ("univariate", {}),
    "identity": ("identity", {}),
    "identity_binref": ("identity", {"output_format": "json+binref", "compression": "lz4"}),
    "everything": ("everything", {}),
    "failing": ("failing", {}),
    "failing_debugged": ("failing", {"debug": True}),
}
GPU_SERVERS = {
    "identity_gpu": ("identity", {"gpu_transport": "cuda_ipc"}),
    "everything_gpu": ("everything", {"gpu_transport": "cuda_ipc"}),
}


def has_driver() -> bool:
    try:
        return ctypes.CDLL("libcuda.so.1").cuInit(0) == 0
    except OSError:
        return False


def start(servers: Servers, name: str, settings: dict) -> Server:
    """The harness picks a free port, which a connection of somebody else's may take before the server does."""
    for attempt in range(5):
        try:
            return servers.get(name, **settings)
        except pytest.fail.Exception as failure:
            if attempt == 4 or "address already in use" not in str(failure).lower():
                raise
    raise AssertionError("not reached")


def argument(name: str, server: Server) -> str:
    return f"{name}={server.url},{server.output_path.parent}"


def show_logs(started: dict[str, Server]) -> None:
    for name, server in started.items():
        ended = server.process.poll()
        print(f"--- {name}: {'runs' if ended is None else f'ended with {ended}'}\n{server.log()[-1000:]}")


def main() -> int:
    parser = argparse.ArgumentParser()
    kind = parser.add_mutually_exclusive_group(required=True)
    kind.add_argument("--reference", action="store_true")
    kind.add_argument("--serve")
    parser.add_argument("program")
    parser.add_argument("options", nargs=argparse.REMAINDER)
    given = parser.parse_args()

    with tempfile.TemporaryDirectory(prefix="tessera_sdk_servers.") as scratch:
        # The stand-in driver reads it once, when a process loads it.
        os.environ["TESSERA_STAND_IN_ROOT"] = str(Path(scratch) / "machine")
        Path(os.environ["TESSERA_STAND_IN_ROOT"]).mkdir()
        wanted = SERVERS | (GPU_SERVERS if has_driver() else {})
        servers = Servers(given.serve or reference_serve_command(), {}, Path(scratch))
        try:
            with ThreadPoolExecutor(max_workers=len(wanted)) as pool:
                started = dict(zip(wanted, pool.map(lambda each: start(servers, *each), wanted.values())))
            arguments = [argument(name, server) for name, server in started.items()]
            status = subprocess.run([given.program, *given.options, *arguments], check=False, timeout=LIMIT_S).returncode
            if status:
                show_logs(started)
            return status
        finally:
            servers.close()


if __name__ == "__main__":
    sys.exit(main())
