"""A file system of its own for one daemon, small enough to be full: in its own mount namespace, gone with it."""

import functools
import os
import shutil
import subprocess
import tempfile
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


# A user namespace is not enough for a block device.
_MOUNT_IMAGE = 'mount -o loop "$1" "$2" && shift 2 && exec "$@"'


def _make_image(path: Path, size: str) -> str:
    """An empty file system in a file; gives why there is none."""
    program = shutil.which("mkfs.ext4", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if program is None:
        return "there is no mkfs.ext4"
    with open(path, "wb") as file:
        file.truncate(int(size.removesuffix("m")) << 20)
    # All of it for whoever writes, root or not, with a journal as disks have.
    done = subprocess.run([program, "-q", "-m", "0", "-O", "has_journal", str(path)], capture_output=True, text=True)
    return done.stderr.strip() if done.returncode != 0 else ""


@functools.cache
def _obstacle_to_disks() -> str:
    with tempfile.TemporaryDirectory() as folder:
        image = Path(folder) / "image"
        if obstacle := _make_image(image, "8m"):
            return obstacle
        done = subprocess.run(["unshare", "-m", "sh", "-c", _MOUNT_IMAGE, "sh", str(image), "/mnt", "true"],
                              capture_output=True, text=True)  # fmt: skip
        return done.stderr.strip()


def disk_mounted_at(folder: Path, size: str) -> tuple[str, ...]:
    """The same with ext4 on a loop device, whose image lies beside the folder."""
    if obstacle := _obstacle_to_disks():
        pytest.skip(f"no disk to mount: {obstacle}")
    folder.mkdir(parents=True, exist_ok=True)
    image = folder.with_suffix(".image")
    assert _make_image(image, size) == ""
    return ("unshare", "-m", "sh", "-c", _MOUNT_IMAGE, "sh", str(image), str(folder))


def entered(pid: int) -> tuple[str, ...]:
    """Words before a command that then sees what a process sees that was started so."""
    words = ("nsenter", "-t", str(pid), "-m")
    return (*words, "-U", "--preserve-credentials") if "-Urm" in _way() else words


def remount(pid: int, folder: Path, options: str) -> None:
    """Changes the mount of a process that was started so."""
    subprocess.run([*entered(pid), "mount", "-o", f"remount,{options}", str(folder)], check=True)


def seen_by(pid: int, folder: Path) -> Path:
    """The folder as the process sees it."""
    return Path(f"/proc/{pid}/root{folder}")


def free_bytes(folder: Path) -> int:
    facts = os.statvfs(folder)
    return facts.f_bavail * facts.f_frsize
