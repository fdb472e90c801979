"""What a process holds now, by /proc."""

import contextlib
import os
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Facts:
    """Of one moment."""

    rss_bytes: int
    descriptors: int
    threads: int
    processor_s: float


def facts_of(pid: int) -> Facts:
    """Of a process that lives."""
    folder = Path(f"/proc/{pid}")
    status = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines())
    # After the name, which may hold spaces and brackets; times are in hundredths of a second.
    stat = (folder / "stat").read_text().rpartition(")")[2].split()
    return Facts(
        rss_bytes=int(status["VmRSS"].split()[0]) * 1024,
        descriptors=len(list((folder / "fd").iterdir())),
        threads=int(status["Threads"]),
        processor_s=(int(stat[11]) + int(stat[12])) / 100,
    )


def peak_rss_bytes(pid: int) -> int:
    """The most that was resident at once, since it began or since forget_peak()."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise LookupError(f"process {pid} has no VmHWM")


def forget_peak(pid: int) -> None:
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def runs_older_than(seconds: float, folder: Path) -> int:
    """Folders of runs one level down, in which nothing was made for so long."""
    now = time.time()
    count = 0
    for run in folder.glob("*/run_*"):
        with contextlib.suppress(FileNotFoundError):
            count += now - run.stat().st_mtime > seconds
    return count


def strays_below(folder: Path) -> int:
    """Files and folders two levels down that are no runs, and what is in them."""
    count = 0
    for place in folder.glob("*/*"):
        if not place.name.startswith("run_"):
            count += 1 + files_below(place)
    return count


def files_below(folder: Path) -> int:
    """Files and folders; what goes meanwhile is not counted."""
    return sum(len(folders) + len(files) for _, folders, files in os.walk(folder))
