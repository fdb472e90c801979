#!/usr/bin/env python3
"""Sends mixed good and bad traffic to a daemon for a while, and shows whether it holds more and more.

Usage: soak.py --minutes 60 [--build BUILD] [--clients 4] [--pause-ms 5] [--folder FOLDER]

Prints a table as it goes. In the end the last quarter of the time is compared with the second (the first is for
warming up): memory, descriptors, threads, leases, the runs that should be gone by now (the number of all files follows
the traffic) and files that belong to no run must not have grown by more than TOLERANCES. Exit code 0 if all that holds
and no answer was wrong.
"""

import argparse
import collections
import os
import shutil
import signal
import statistics
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "gpu"), str(TESTS / "torture"), str(TESTS / "conformance")]
if __name__ == "__main__":
    # The driver reads it when the process loads it: before anything asks.
    os.environ["TESSERA_STAND_IN_ROOT"] = tempfile.mkdtemp(prefix="tessera_soak.", dir="/dev/shm")

from gpu_harness import daemons, machine  # noqa: E402
from torture_harness import process_facts, traffic  # noqa: E402

KEEP_RUNS_S = 30
# They are looked at four times in that time, and removing takes a while.
OVERDUE_S = 1.5 * KEEP_RUNS_S
# How much the median of the last quarter may be above that of the second: a share, and a number on top.
TOLERANCES = {
    "rss_mib": (0.02, 4),
    "descriptors": (0, 4),
    "threads": (0, 0),
    "overdue": (0, 50),
    # Clients put a file here for the time of a call.
    "strays": (0, 4),
    "leases": (0, 2),
    "gpu_kib": (0.1, 4096),
}


class Soak:
    """One daemon, its clients and what was seen of it."""

    def __init__(self, arguments: argparse.Namespace, folder: Path):
        build = Path(arguments.build).resolve()
        self._folder = folder
        self._daemon = daemons.start(
            [str(build / "bin" / "tessera")], "identity", folder, "univariate", "everything",
            str(build / "lib" / "tessera_tests" / "trouble.so"), "--keep-runs", f"{KEEP_RUNS_S}s",
            "--num-workers", "2", "--max-body-bytes", str(traffic.MAX_BODY_BYTES))  # fmt: skip
        self._end = time.monotonic() + arguments.minutes * 60
        self._pause_s = arguments.pause_ms / 1000
        self._counts: collections.Counter = collections.Counter()
        self._faults: list[str] = []
        self._lock = threading.Lock()
        self._samples: list[dict[str, float]] = []
        # The client's half of the stand-in driver is for one thread.
        self._clients = [traffic.Client(self._daemon, folder, seed, seed == 0) for seed in range(arguments.clients)]

    def run(self, minutes: float) -> bool:
        threads = [threading.Thread(target=self._drive, args=(client,), daemon=True) for client in self._clients]
        for thread in threads:
            thread.start()
        every_s = min(10.0, minutes * 60 / 60)
        print(f"{'min':>6} {'requests':>9} {'MiB':>7} {'fds':>5} {'threads':>7} {'files':>6} {'overdue':>7} "
              f"{'strays':>6} {'leases':>6} {'GPU KiB':>8} {'CPU s':>8} {'faults':>6}", flush=True)  # fmt: skip
        began = time.monotonic()
        row_s = max(every_s, minutes * 60 / 60)
        next_row = began
        while time.monotonic() < self._end and self._daemon.process.poll() is None:
            sample = self._sample()
            if time.monotonic() >= next_row:
                self._print(sample, time.monotonic() - began)
                next_row += row_s
            time.sleep(every_s)
        for thread in threads:
            thread.join()
        return self._judge()

    def end(self) -> None:
        if self._daemon.process.poll() is None:
            self._daemon.kill()

    def _drive(self, client: traffic.Client) -> None:
        while time.monotonic() < self._end and self._daemon.process.poll() is None:
            try:
                name = client.act()
            except Exception:
                name = "fault"
                with self._lock:
                    self._faults.append(traceback.format_exc())
                time.sleep(0.1)
            with self._lock:
                self._counts[name] += 1
            time.sleep(self._pause_s)

    def _sample(self) -> dict[str, float]:
        facts = process_facts.facts_of(self._daemon.pid)
        sample = {
            "rss_mib": facts.rss_bytes / 2**20,
            "descriptors": facts.descriptors,
            "threads": facts.threads,
            "files": process_facts.files_below(self._folder),
            "overdue": process_facts.runs_older_than(OVERDUE_S, self._folder),
            "strays": process_facts.strays_below(self._folder),
            "leases": self._daemon.leases()["total"],
            "gpu_kib": machine.used_bytes() / 1024,
            "processor_s": facts.processor_s,
        }
        self._samples.append(sample)
        return sample

    def _print(self, sample: dict[str, float], seconds: float) -> None:
        print(f"{seconds / 60:6.1f} {sum(self._counts.values()):9} {sample['rss_mib']:7.1f} {sample['descriptors']:5} "
              f"{sample['threads']:7} {sample['files']:6} {sample['overdue']:7} "
              f"{sample['strays']:6} {sample['leases']:6} {sample['gpu_kib']:8.0f} {sample['processor_s']:8.1f} "
              f"{len(self._faults):6}", flush=True)  # fmt: skip

    def _judge(self) -> bool:
        ended = self._daemon.process.poll()
        is_good = ended is None and not self._faults
        if ended is not None:
            print(f"the daemon ended with {ended}:\n" + "".join(self._daemon.log_lines[-20:]))
        for fault in list(dict.fromkeys(self._faults))[:5]:
            print(fault)
        quarter = len(self._samples) // 4
        for name, (share, number) in TOLERANCES.items():
            second, last = (statistics.median(sample[name] for sample in part) if part else 0.0
                            for part in (self._samples[quarter : 2 * quarter], self._samples[-quarter:]))  # fmt: skip
            limit = second * (1 + share) + number
            is_good = is_good and last <= limit
            print(f"{name:12} second quarter {second:10.1f}, last {last:10.1f}, allowed {limit:10.1f}"
                  f"{'' if last <= limit else '  GREW'}")  # fmt: skip
        print("actions: " + ", ".join(f"{name} {count}" for name, count in sorted(self._counts.items())))
        is_good = self._daemon.stop() == 0 and is_good
        print(f"{'flat' if is_good else 'FAILED'}: {sum(self._counts.values())} actions, {len(self._faults)} faults")
        return is_good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(TESTS.parent / "build"))
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--pause-ms", type=float, default=5)
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    folder = Path(tempfile.mkdtemp(prefix="tessera_soak."))
    soak = Soak(arguments, folder)
    try:
        return 0 if soak.run(arguments.minutes) else 1
    finally:
        soak.end()
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(os.environ["TESSERA_STAND_IN_ROOT"], ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
