"""What a GPU array adds to a call: the same call with an array on the GPU and with a host array, by turns.

On the stand-in driver this is the daemon's own work; the copies cost what memcpy costs. Goal: at most 60 us.
Usage: gpu_calls.py --build BUILD [--calls N]; LD_LIBRARY_PATH chooses the driver.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "gpu"))
sys.dont_write_bytecode = True

from gpu_harness import daemons  # noqa: E402

SIZES = (1, 64, 1024, 65_536, 1_048_576)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--calls", type=int, default=2000)
    options = parser.parse_args()
    build = options.build.resolve()
    with tempfile.TemporaryDirectory(dir="/dev/shm") as root:
        os.environ.setdefault("TESSERA_STAND_IN_ROOT", root)
        daemon = daemons.start([str(build / "bin" / "tessera")], str(build / "lib" / "tessera_tests" / "places.so"),
                               Path(root) / "out")
        print(f"{'bytes':>10} {'on the GPU':>12} {'on the host':>12} {'added':>8} {'with the client':>16}   us, medians")
        for size in SIZES:
            calls = options.calls if size < 1_000_000 else options.calls // 10
            said = subprocess.run(
                [str(build / "bin" / "tessera_gpu_peer"), "times", str(daemon.port), str(calls), str(size)],
                env=daemons.environment({}), stdout=subprocess.PIPE, text=True, check=True).stdout
            gpu, host, whole = map(float, said.split())
            print(f"{4 * size:>10} {gpu:>12.1f} {host:>12.1f} {gpu - host:>8.1f} {whole:>16.1f}")
        daemon.stop()


if __name__ == "__main__":
    main()
