"""Runs in which a client or a daemon is killed at one step of the exchange, by the stand-in driver itself.

Each has a machine of its own. What is proved of each: all GPU memory comes back within the deadline, nobody hangs, and
whoever read data read the right data.
"""

import os
import shutil
import signal
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from gpu_harness import daemons

# --exports-timeout. A machine that is so busy that clients who live do not come to read within the first is given the
# next: those who live must have their data.
DEADLINES_S = (1, 8, 60)
SLACK_S = 1.0
HANG_S = 120
AT_ONCE = 8  # most of the time each waits for the deadline
GOOD, SERVER_GONE, CUDA_FAILED = 0, 3, 5  # exit codes of tessera_gpu_peer


@dataclass(frozen=True)
class Schedule:
    """Who dies, at which call of the driver, and how the exchange goes until then."""

    victim: str  # "client" or "daemon"
    call: int
    when: str  # "before" or "after"
    workers: int
    calls: int
    elements: int

    @property
    def crash(self) -> dict[str, str]:
        return {"TESSERA_STAND_IN_CRASH": f"*:{self.call}:{self.when}"}


@dataclass
class Outcome:
    schedule: Schedule
    was_killed: bool = False
    seconds: float = 0.0  # until all memory was back
    fault: str | None = None
    deadline_s: int = DEADLINES_S[0]
    has_expired: bool = False  # while clients that live were at work


class Runner:
    """Runs schedules with the programs of a build."""

    def __init__(self, build: Path):
        self._program = [str(build / "bin" / "tessera")]
        self._module = str(build / "lib" / "tessera_tests" / "places.so")
        self._peer = str(build / "bin" / "tessera_gpu_peer")

    def plan(self, count: int) -> list[Schedule]:
        """So many schedules, spread evenly over the calls that each side makes, before and after each."""
        shapes = [(1, 6, 64), (4, 6, 64), (1, 7, 300_000), (4, 12, 1000)]
        all_of_them = []
        for workers, calls, elements in shapes:
            steps = self._count_steps(workers, calls, elements)
            for victim, (first, last) in steps.items():
                all_of_them += [
                    Schedule(victim, call, when, workers, calls, elements)
                    for call in range(first, last + 1)
                    for when in ("before", "after")
                ]
        stride = max(1.0, len(all_of_them) / count)
        chosen = [all_of_them[int(i * stride) % len(all_of_them)] for i in range(count)]
        assert len(set(chosen)) >= min(count, len(all_of_them)) * 0.99
        return chosen

    def run_all(self, schedules: list[Schedule]) -> list[Outcome]:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            return list(pool.map(self.run, schedules))

    def run(self, schedule: Schedule) -> Outcome:
        for deadline_s in DEADLINES_S:
            outcome = self._run_within(schedule, deadline_s)
            if not (outcome.fault and outcome.has_expired):
                break
        return outcome

    def _run_within(self, schedule: Schedule, deadline_s: int) -> Outcome:
        root = tempfile.mkdtemp(prefix="tessera_gpu_kill.", dir="/dev/shm")
        outcome = Outcome(schedule, deadline_s=deadline_s)
        try:
            run = self._kill_client if schedule.victim == "client" else self._kill_daemon
            # What is freed is overwritten at once, so that nobody can read it by luck.
            run(outcome, Path(root), {"TESSERA_STAND_IN_ROOT": root, "TESSERA_STAND_IN_POISON": "165"})
        except (AssertionError, subprocess.TimeoutExpired, OSError) as fault:
            outcome.fault = repr(fault)
        finally:
            shutil.rmtree(root, ignore_errors=True)
        return outcome

    def _start(self, schedule: Schedule, deadline_s: int, root: Path, env: dict[str, str]) -> daemons.Daemon:
        return daemons.start(self._program, self._module, root / "out", "--exports-timeout", str(deadline_s),
                             "--cuda-ipc-pool-fraction", "0", "--num-workers", str(schedule.workers), **env)

    def _client(self, daemon: daemons.Daemon, schedule: Schedule, env: dict[str, str]) -> subprocess.Popen:
        return subprocess.Popen([self._peer, "calls", str(daemon.port), str(schedule.calls), str(schedule.elements)],
                                env=daemons.environment(env), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def _ask(self, env: dict[str, str], *arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run([self._peer, *arguments], env=daemons.environment(env), stdout=subprocess.PIPE, text=True,
                              timeout=HANG_S)

    def _kill_client(self, outcome: Outcome, root: Path, env: dict[str, str]) -> None:
        schedule = outcome.schedule
        daemon = self._start(schedule, outcome.deadline_s, root, env)
        try:
            witness = self._client(daemon, schedule, env)
            victim = self._client(daemon, schedule, env | schedule.crash)
            self._expect(witness, (GOOD,), "the client beside it", outcome, daemon)
            self._expect(victim, (GOOD, -signal.SIGKILL), "the client", outcome, daemon)
            outcome.was_killed = victim.returncode == -signal.SIGKILL
            outcome.seconds = self._wait_for_memory(env, outcome.deadline_s + SLACK_S)
            assert daemon.leases()["total"] == 0
            ended = len(daemon.log_lines)
            self._expect(self._client(daemon, schedule, env), (GOOD,), "a client afterwards", outcome, daemon, ended)
            assert daemon.stop() == 0, "the daemon did not end well"
        finally:
            if daemon.process.poll() is None:
                daemon.kill()

    def _kill_daemon(self, outcome: Outcome, root: Path, env: dict[str, str]) -> None:
        schedule = outcome.schedule
        daemon = self._start(schedule, outcome.deadline_s, root, env | schedule.crash)
        try:
            client = self._client(daemon, schedule, env)
            self._expect(client, (GOOD, SERVER_GONE, CUDA_FAILED), "the client", outcome, daemon)
            if client.returncode == CUDA_FAILED and daemon.process.poll() is None and has_expired(daemon, 0):
                outcome.has_expired = True
                raise AssertionError("the client came too late")
            if client.returncode != GOOD:
                daemon.process.wait(HANG_S)
            outcome.was_killed = daemon.process.poll() == -signal.SIGKILL
            assert client.returncode == GOOD or outcome.was_killed, f"the daemon: {daemon.process.returncode}"
            outcome.seconds = self._wait_for_memory(env, outcome.deadline_s + SLACK_S)
        finally:
            if daemon.process.poll() is None:
                daemon.kill()

    def _expect(self, process: subprocess.Popen, codes: tuple[int, ...], who: str, outcome: Outcome,
                daemon: daemons.Daemon, since: int = 0) -> None:
        """Waits for a client, which has to end in one of these ways."""
        _, said = process.communicate(timeout=HANG_S)
        if process.returncode not in codes:
            outcome.has_expired = has_expired(daemon, since)
            raise AssertionError(f"{who}: {process.returncode} {said}")

    def _wait_for_memory(self, env: dict[str, str], limit_s: float) -> float:
        answer = self._ask(env, "used", str(limit_s))
        taken, seconds = answer.stdout.split()
        assert answer.returncode == 0, f"{taken} bytes of GPU memory are not back after {seconds} s"
        return float(seconds)

    def _count_steps(self, workers: int, calls: int, elements: int) -> dict[str, tuple[int, int]]:
        """The numbers of the calls that each side makes between the first request and the last."""
        root = tempfile.mkdtemp(prefix="tessera_gpu_kill.", dir="/dev/shm")
        env = {"TESSERA_STAND_IN_ROOT": root}
        schedule = Schedule("none", 0, "before", workers, calls, elements)
        daemon = self._start(schedule, DEADLINES_S[-1], Path(root), env)
        try:
            began = int(self._ask(env, "total", str(daemon.pid)).stdout)
            client = self._client(daemon, schedule, env)
            _, said = client.communicate(timeout=HANG_S)
            assert client.returncode == GOOD, said
            ended = int(self._ask(env, "total", str(daemon.pid)).stdout)
            of_client = int(self._ask(env, "total", str(client.pid)).stdout)
            return {"client": (1, of_client), "daemon": (began + 1, ended)}
        finally:
            daemon.stop()
            shutil.rmtree(root, ignore_errors=True)


def has_expired(daemon: daemons.Daemon, since: int) -> bool:
    """Whether the daemon has given up a lease, by the lines of its log from one on."""
    return any("not named done in time" in line for line in daemon.log_lines[since:])
