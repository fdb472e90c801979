"""A wall clock that is set, by hours, while a daemon runs. What is right then:

- what says when something was (log lines, Date, metrics.csv) follows the wall clock, as it is what people read;
- what lasts (waits, time limits, leases) follows a clock that nobody sets: nothing ends early, nothing late;
- runs kept by --keep-runs go no earlier than they should; where the clocks differ they may stay for longer.
"""

import datetime
import email.utils
import json
import struct
import time

import pytest
from gpu_harness.waiting import wait_until
from torture_harness import raw
from torture_harness.expect import call, logged, serves

HOUR_S = 3600
JUMPS = [7 * HOUR_S, -5 * HOUR_S, 400 * 24 * HOUR_S, -400 * 24 * HOUR_S, 0]


class WallClock:
    """That of one daemon."""

    def __init__(self, path):
        self.path = path
        self.set_ahead(0)

    def set_ahead(self, seconds: int) -> None:
        """Before now, as the file is mapped: written in place."""
        with open(self.path, "r+b" if self.path.exists() else "wb") as file:
            file.write(struct.pack("q", seconds))
        self.seconds = seconds

    def is_now(self, moment: datetime.datetime) -> bool:
        shown = moment.timestamp() - self.seconds
        return abs(shown - time.time()) < 30


@pytest.fixture
def wall_clock(tmp_path):
    return WallClock(tmp_path / "shift")


@pytest.fixture
def start(start_daemon, build, wall_clock):
    def start(*options: str, name: str = "trouble", **settings: str):
        library = build / "lib" / "tessera_tests" / "clock_shift.so"
        return start_daemon(name, *options, LD_PRELOAD=str(library), TESSERA_CLOCK_SHIFT=str(wall_clock.path),
                            **settings)  # fmt: skip

    return start


def test_what_is_told_follows_the_clock_at_once(start, wall_clock):
    daemon = start("--log-level", "debug")
    for number, jump in enumerate(JUMPS):
        wall_clock.set_ahead(jump)
        answer = call(daemon, headers={"Accept": "application/json"})
        assert wall_clock.is_now(email.utils.parsedate_to_datetime(answer.headers["date"])), answer.headers
        call(daemon, 500, how="endpoint_error")
        wait_until(lambda count=number + 1: daemon.log().count("endpoint failed") == count, "the line")
        line = [line for line in daemon.log_lines if "endpoint failed" in line][-1]
        assert wall_clock.is_now(datetime.datetime.fromisoformat(json.loads(line)["time"])), line
    assert daemon.stop() == 0


def test_a_call_that_runs_and_one_that_waits_are_answered_in_their_time(start, wall_clock):
    daemon = start()
    with raw.connect(daemon.port) as running, raw.connect(daemon.port) as waiting:
        began = time.monotonic()
        for plain in (running, waiting):
            plain.sendall(raw.request("/apply", raw.inputs(x=[1], sleep_s=0.5)))
            time.sleep(0.05)
        for jump in JUMPS:
            time.sleep(0.05)
            wall_clock.set_ahead(jump)
        for plain, least_s in ((running, 0.5), (waiting, 1.0)):
            assert plain.recv(1 << 16).startswith(b"HTTP/1.1 200 ")
            assert least_s <= time.monotonic() - began < least_s + 10


def test_connections_and_requests_that_come_slowly_outlive_a_jump(start, wall_clock):
    daemon = start()
    request = raw.request("/apply", raw.inputs(x=[1]), Connection="close")
    with raw.connect(daemon.port) as kept, raw.connect(daemon.port) as slow:
        kept.sendall(raw.request("/health"))
        assert kept.recv(1 << 16)
        for number, jump in enumerate(JUMPS):
            slow.sendall(request[number * 10 : number * 10 + 10])
            wall_clock.set_ahead(jump)
            time.sleep(1.1 / len(JUMPS))  # connections are looked at once a second
        time.sleep(1.1)
        slow.sendall(request[len(JUMPS) * 10 :])
        assert slow.recv(1 << 16).startswith(b"HTTP/1.1 200 ")
        kept.sendall(raw.request("/health"))
        assert kept.recv(1 << 16).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("jump", [-7 * HOUR_S, 7 * HOUR_S], ids=["back", "ahead"])
def test_runs_are_kept_for_their_time_and_removed_then(start, wall_clock, tmp_path, jump):
    keep_s = 4
    daemon = start("--keep-runs", f"{keep_s}s")
    runs = tmp_path / "runs"
    began = time.time()
    call(daemon, query="?run_id=before")
    wall_clock.set_ahead(jump)
    call(daemon, query="?run_id=after")
    while (passed := time.time() - began) < keep_s - 1:  # file systems and we both count whole seconds
        assert (runs / "run_before/logs/tesseract.log").exists(), f"removed after {passed:.1f} s of {keep_s}"
        assert (runs / "run_after/logs/tesseract.log").exists(), f"removed after {passed:.1f} s of {keep_s}"
        time.sleep(0.1)
    # Files have the time of the kernel, which nobody has set here: to both runs the clock was set after they were made.
    wait_until(lambda: not list(runs.iterdir()), "both runs are removed", 10)
    assert "removed old runs" in logged(daemon, "removed old runs")
    assert daemon.stop() == 0


def test_a_lease_lasts_as_long_as_it_says(start, wall_clock, build, tmp_path):
    # GPU arrays, on the stand-in driver.
    (tmp_path / "gpus").mkdir()
    daemon = start("--exports-timeout", "3", "--gpu-transport", "cuda_ipc", name="places",
                   LD_LIBRARY_PATH=str(build / "stand_in"), TESSERA_STAND_IN_ROOT=str(tmp_path / "gpus"))  # fmt: skip
    began = time.monotonic()
    assert daemon.client().apply({"x": [1.0], "place": "new"}).lease
    while time.monotonic() - began < 2.5:
        for jump in JUMPS:
            wall_clock.set_ahead(jump)
            leases = daemon.leases()["total"]
            assert leases == 1 or time.monotonic() - began > 2.9, "expired early"
    wait_until(lambda: daemon.leases()["total"] == 0, "the lease expired", 5)
    assert daemon.stop() == 0


def test_stopping_takes_its_time_and_no_more(start, wall_clock):
    daemon = start("--stop-time", "2")
    with raw.connect(daemon.port) as hanging:
        hanging.sendall(raw.request("/apply", raw.inputs(x=[1], how="hang")))
        time.sleep(0.1)
        began = time.monotonic()
        daemon.process.terminate()
        for jump in JUMPS:
            time.sleep(0.1)
            wall_clock.set_ahead(jump)
        assert daemon.process.wait(30) == 0
        assert 1.9 <= time.monotonic() - began < 8


def test_a_daemon_that_starts_with_a_wrong_clock_serves(start, wall_clock):
    wall_clock.set_ahead(-20 * 365 * 24 * HOUR_S)
    daemon = start("--keep-runs", "2s")
    serves(daemon)
    wall_clock.set_ahead(0)
    serves(daemon)
    assert daemon.stop() == 0
