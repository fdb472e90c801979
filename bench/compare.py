"""Times tessera and the public Python runtime beside each other, in one run, as ratios.

    python bench/compare.py          # of the programs in build/bin

Run it with the Python of an environment that has tesseract-core 1.15.0. Both serve `identity` (one float32 array, handed
back) with one worker; the same client, in a process of its own, sends both the same bytes. Rounds are interleaved
(tessera, runtime, tessera, …), each round warms up first, and a figure is the median of the rounds' medians.
"""

import argparse
import base64
import json
import os
import platform
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE.parent / "build" / "bin"
REFERENCE = HERE.parent / "tests" / "conformance" / "reference" / "identity" / "tesseract_api.py"


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


def array_body(count: int) -> bytes:
    """A request with `count` float32 as base64."""
    values = b"".join(value.to_bytes(4, "little") for value in (0x3F800000, 0x40490FDB))
    raw = (values * (count // 2 + 1))[: 4 * count]
    data = {"buffer": base64.b64encode(raw).decode(), "encoding": "base64"}
    array = {"object_type": "array", "shape": [count], "dtype": "float32", "data": data}
    return json.dumps({"inputs": {"x": array}}, separators=(",", ":")).encode()


CASES = {
    # name: (body, Accept, requests per round, warm-up requests)
    "3 floats, json": (b'{"inputs":{"x":[1.0,2.0,3.0]}}', "application/json", 1000, 200),
    "64 MiB, base64": (array_body(16 << 20), "application/json+base64", 5, 2),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tessera", default=PROGRAMS / "tessera", help="the program tessera")
    parser.add_argument("--timer", default=PROGRAMS / "tessera_request_timer", help="the program tessera_request_timer")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        ports = {"tessera": free_port(), "tessera, Unix socket": 0, "runtime": free_port()}
        unix_path = folder / "socket"
        env = {key: value for key, value in os.environ.items() if "TESSERACT_" not in key}
        env |= {"TESSERACT_OUTPUT_PATH": scratch, "TESSERACT_INPUT_PATH": scratch}
        log = open(folder / "log", "wb")
        started = {}
        commands = {
            "tessera": [options.tessera, "serve", "identity", "--port", str(ports["tessera"]), "--unix", str(unix_path)],
            "runtime": [
                sys.executable, "-m", "tesseract_core.runtime", "serve", "--port", str(ports["runtime"]),
            ],
        }  # fmt: skip
        processes = {}
        for name, command in commands.items():
            processes[name] = subprocess.Popen(
                command, env=env | {"TESSERACT_API_PATH": str(REFERENCE)}, stdout=log, stderr=log, cwd=folder
            )
            started[name] = wait_until_well(ports[name], processes[name])

        def measure(server: str, case: str) -> dict:
            _, accept, count, warmup = CASES[case]
            where = ["--unix", str(unix_path)] if "Unix" in server else ["--tcp", str(ports[server])]
            command = [options.timer, *where, "--target", "/apply", "--body", str(folder / f"{case}.json")]
            command += ["--accept", accept, "--count", str(count), "--warmup", str(warmup)]
            return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)

        try:
            print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
            print(f"first answer after start: tessera {started['tessera'] * 1e3:.0f} ms, runtime {started['runtime'] * 1e3:.0f} ms\n")
            print("| case | tessera p50 | p99 | Unix socket p50 | runtime p50 | p99 | ratio TCP | ratio Unix |")
            print("| --- | --- | --- | --- | --- | --- | --- | --- |")
            for case, (body, *_) in CASES.items():
                (folder / f"{case}.json").write_bytes(body)
                rounds = [{server: measure(server, case) for server in ports} for _ in range(options.rounds)]

                def middle(server: str, key: str) -> float:
                    return statistics.median(entry[server][key] for entry in rounds)

                def show(microseconds: float) -> str:
                    return f"{microseconds / 1e3:.1f} ms" if microseconds >= 1e4 else f"{microseconds:.0f} µs"

                ours, unix, theirs = (middle(server, "p50_us") for server in ports)
                print(
                    f"| {case} | {show(ours)} | {show(middle('tessera', 'p99_us'))} | {show(unix)} | {show(theirs)} "
                    f"| {show(middle('runtime', 'p99_us'))} | {theirs / ours:.1f}x | {theirs / unix:.1f}x |",
                    flush=True,
                )
        finally:
            for process in processes.values():
                process.terminate()
            for process in processes.values():
                process.wait(timeout=15)


if __name__ == "__main__":
    main()
