"""Outputs that cannot be written: the call is told why, nothing of it stays, and the next one is served."""

import contextlib
import errno
import os
import time

import numpy as np
import pytest
from gpu_harness.waiting import wait_until
from torture_harness import raw, small_folder

BINREF = {"Accept": "application/json+binref"}
FULL = os.strerror(errno.ENOSPC)
READ_ONLY = os.strerror(errno.EROFS)
MIB = 1 << 20


@pytest.fixture
def runs(tmp_path):
    return tmp_path / "runs"


def apply(daemon, size_bytes: int, headers=BINREF, query: str = "", **values):
    body = raw.inputs(x=raw.base64_array(np.ones(size_bytes // 4, "float32")), **values)
    return daemon.client().request("POST", f"/apply{query}", body, headers)


def fill(folder, spare_bytes: int) -> None:
    """Takes all of a file system but about so much."""
    left = small_folder.free_bytes(folder) - spare_bytes
    (folder / "filler").write_bytes(bytes(max(left, 0)))


def files_in(folder) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.name != "filler")


def error_lines(daemon, count: int) -> list[str]:
    """All lines of errors, once there are so many: they come by a pipe."""

    def lines() -> list[str]:
        return [line for line in daemon.log_lines if '"level":"error"' in line]

    wait_until(lambda: len(lines()) >= count, f"{count} errors in the log", 5)
    return lines()


def settled_free_bytes(folder) -> int:
    """Once no file is made ahead any more."""
    seen = [-1, -2, -3]
    while len(set(seen)) > 1:
        time.sleep(0.03)
        seen = [*seen[1:], small_folder.free_bytes(folder)]
    return seen[0]


@pytest.mark.parametrize("prepared", ["0", str(64 * MIB)], ids=["plain_files", "prepared_files"])
def test_an_answer_that_does_not_fit_is_refused_and_leaves_nothing(start_daemon, runs, prepared):
    daemon = start_daemon("trouble", "--prepared-files", prepared, folder=runs,
                          prefix=small_folder.mounted_at(runs, "8m"))  # fmt: skip
    seen = small_folder.seen_by(daemon.pid, runs)
    for _ in range(3):  # of one size: files of it are made ahead, if any are
        assert apply(daemon, MIB).status == 200
    before, free_before = files_in(seen), settled_free_bytes(seen)

    too_large = apply(daemon, 8 * MIB)

    assert too_large.status == 500
    assert too_large.headers["content-type"].startswith(("text/plain", "application/json"))
    [line] = error_lines(daemon, 1)
    assert "the files of a call cannot be written" in line and FULL in line and ".bin" in line
    assert files_in(seen) == before, "something of the refused call is left"
    assert settled_free_bytes(seen) >= free_before, "less is free than before"
    assert apply(daemon, 8 * MIB, {"Accept": "application/json+base64"}).status == 200, "without files"
    assert apply(daemon, MIB).status == 200
    assert daemon.stop() == 0


@pytest.mark.parametrize("spare_bytes", [0, 1 << 12, 2 << 12, 3 << 12, 4 << 12, 8 << 12])
def test_whatever_is_left_on_a_full_disk_nothing_half_done_stays(start_daemon, runs, spare_bytes):
    daemon = start_daemon("trouble", folder=runs, prefix=small_folder.mounted_at(runs, "1m"))
    seen = small_folder.seen_by(daemon.pid, runs)
    fill(seen, spare_bytes)
    free_before = small_folder.free_bytes(seen)
    for query in ("", "?run_id=mine", "?run_id=far/down"):
        answer = apply(daemon, 1 << 16, query=query)
        assert answer.status == 500, answer.body[:200]
    assert not [name for name in files_in(seen) if name.endswith(".bin")]
    # What a client chose itself may be there, whole; the daemon's own choice may not.
    assert not [name for name in files_in(seen) if not name.startswith(("run_mine", "run_far"))]
    assert all(FULL in line for line in error_lines(daemon, 3))
    assert free_before - small_folder.free_bytes(seen) <= 2 * 4096, "only the first rows of two metrics.csv"

    (seen / "filler").unlink()
    answer = apply(daemon, 1 << 16, query="?run_id=mine")
    assert answer.status == 200, "there is room again"
    name, _, _ = answer.json()["y"]["data"]["buffer"].partition(":")
    assert (seen / name).stat().st_size == 1 << 16
    assert daemon.stop() == 0


def test_prepared_files_leave_room_on_a_disk_that_becomes_full(start_daemon, runs):
    daemon = start_daemon("trouble", "--prepared-files", str(64 * MIB), folder=runs,
                          prefix=small_folder.mounted_at(runs, "24m"))  # fmt: skip
    served = 0
    while (answer := apply(daemon, MIB)).status == 200:
        served += 1
    # What was made ahead is used up, not in the way: beside the small files of each there is no room for one more.
    assert served == 23, f"{served} answers of 1 MiB on 24 MiB"
    assert answer.status == 500 and FULL in error_lines(daemon, 1)[-1]


def test_prepared_files_make_room_for_an_answer_that_needs_it(start_daemon, runs):
    daemon = start_daemon("trouble", "--prepared-files", str(64 * MIB), folder=runs,
                          prefix=small_folder.mounted_at(runs, "24m"))  # fmt: skip
    seen = small_folder.seen_by(daemon.pid, runs)
    for _ in range(3):
        assert apply(daemon, MIB).status == 200
    settled_free_bytes(seen)
    held = small_folder.free_bytes(seen)
    fill(seen, MIB)  # beside two files of one MiB that were made ahead
    assert held < 20 * MIB, "nothing was made ahead: the test shows nothing"
    answer = apply(daemon, 5 * MIB // 2)
    assert answer.status == 200, answer.body
    name, _, _ = answer.json()["y"]["data"]["buffer"].partition(":")
    assert (seen / name).read_bytes() == np.ones(5 * MIB // 8, "float32").tobytes()
    assert daemon.stop() == 0


def test_a_log_that_does_not_fit_is_lost_and_the_call_is_not(start_daemon, runs):
    daemon = start_daemon("trouble", folder=runs, prefix=small_folder.mounted_at(runs, "1m"))
    seen = small_folder.seen_by(daemon.pid, runs)
    fill(seen, 0)
    answer = apply(daemon, 1 << 12, {}, print="a line that finds no room")
    assert answer.status == 200
    wait_until(lambda: "is lost" in daemon.log() and FULL in daemon.log(), "the warning", 5)
    (seen / "filler").unlink()
    assert apply(daemon, 1 << 12, {}, "?run_id=mine", print="a line").status == 200
    assert (seen / "run_mine/logs/tesseract.log").read_text() == "a line\n"
    assert daemon.stop() == 0


# ext4 takes what is written into memory first, and has room for small files where there is none for large ones.
@pytest.mark.parametrize("prepared", ["0", str(64 * MIB)], ids=["plain_files", "prepared_files"])
def test_a_disk_that_is_full_refuses_what_does_not_fit_and_serves_again(start_daemon, runs, prepared):
    daemon = start_daemon("trouble", "--prepared-files", prepared, folder=runs,
                          prefix=small_folder.disk_mounted_at(runs, "24m"))  # fmt: skip
    seen = small_folder.seen_by(daemon.pid, runs)
    assert apply(daemon, MIB).status == 200
    before = files_in(seen)
    # Until nothing at all fits any more, and the disk says so to all who write.
    with contextlib.suppress(OSError), open(seen / "filler", "wb", buffering=0) as filler:
        while True:
            filler.write(bytes(MIB))
    with contextlib.suppress(OSError), open(seen / "filler", "ab", buffering=0) as filler:
        while True:
            filler.write(bytes(512))
    for query in ("", "?run_id=mine"):
        assert apply(daemon, MIB, query=query).status == 500
    assert all(FULL in line for line in error_lines(daemon, 2))
    assert [name for name in files_in(seen) if not name.startswith("run_mine")] == before
    assert not [name for name in files_in(seen) if name.startswith("run_mine") and name.endswith(".bin")]
    assert apply(daemon, MIB, {"Accept": "application/json+base64"}).status == 200, "without files"

    (seen / "filler").unlink()
    wait_until(lambda: small_folder.free_bytes(seen) > 8 * MIB, "the disk has room again")
    answer = apply(daemon, MIB, query="?run_id=mine")
    assert answer.status == 200, answer.body
    name, _, _ = answer.json()["y"]["data"]["buffer"].partition(":")
    assert (seen / name).read_bytes() == np.ones(MIB // 4, "float32").tobytes()
    assert daemon.stop() == 0


def test_a_read_only_folder_refuses_files_and_nothing_else(start_daemon, runs):
    daemon = start_daemon("trouble", folder=runs, prefix=small_folder.mounted_at(runs, "4m"))
    small_folder.remount(daemon.pid, runs, "ro")
    for number, query in enumerate(("", "?run_id=mine"), 1):
        answer = apply(daemon, 1 << 12, query=query)
        assert answer.status == 500, answer.body[:200]
        line = error_lines(daemon, number)[-1]
        assert READ_ONLY in line and str(runs) in line
    assert apply(daemon, 1 << 12, {"Accept": "application/json+base64"}).status == 200
    assert files_in(small_folder.seen_by(daemon.pid, runs)) == []
    small_folder.remount(daemon.pid, runs, "rw")
    assert apply(daemon, 1 << 12, query="?run_id=mine").status == 200
    assert daemon.stop() == 0


def test_a_daemon_starts_on_a_full_disk(start_daemon, runs):
    prefix = small_folder.mounted_at(runs, "1m")
    script = prefix[-4].replace("&& shift", '&& head -c 1m /dev/zero >"$2/filler"; shift')
    daemon = start_daemon("trouble", folder=runs, prefix=(*prefix[:-4], script, *prefix[-3:]))
    assert apply(daemon, 1 << 12).status == 500
    assert apply(daemon, 1 << 12, {}).status == 200
    assert daemon.stop() == 0
