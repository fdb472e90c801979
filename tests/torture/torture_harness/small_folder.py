"""A file system of its own for one daemon, small enough to be full: in its own mount namespace, gone with it."""

import functools
import subprocess
from pathlib import Path

import pytest

# As whoever may make a user namespace, or as root.
_WAYS = (("unshare", "-Urm"), ("unshare", "-m"))


@functools.cache
def _way() -> tuple[str, ...]:
    said = []
    for way in _WAYS:
        done = subprocess.run([*way, "mount", "-t", "tmpfs", "-o", "size=1m", "none", "/mnt"], capture_output=True,
                              text=True)  # fmt: skip
        if done.returncode == 0:
            return way
        said.append(done.stderr.strip())
    pytest.skip("no namespace to mount in: " + "; ".join(said))


def mounted_at(folder: Path, size: str) -> tuple[str, ...]:
    """Words before a command that then sees a tmpfs of that size at the folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    script = 'mount -t tmpfs -o size="$1" none "$2" && shift 2 && exec "$@"'
    return (*_way(), "sh", "-c", script, "sh", size, str(folder))


def remount(pid: int, folder: Path, options: str) -> None:
    """Changes the mount of a process that was started so."""
    entry = ["nsenter", "-t", str(pid), "-m"]
    if "-Urm" in _way():
        entry += ["-U", "--preserve-credentials"]
    subprocess.run([*entry, "mount", "-o", f"remount,{options}", str(folder)], check=True)


def seen_by(pid: int, folder: Path) -> Path:
    """The folder as the process sees it."""
    return Path(f"/proc/{pid}/root{folder}")


def free_bytes(folder: Path) -> int:
    import os

    facts = os.statvfs(folder)
    return facts.f_bavail * facts.f_frsize
