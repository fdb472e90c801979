"""Ten times more calls than the workers can do: bounded, polite, and over when it is over."""

import json
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from gpu_harness.waiting import wait_until
from torture_harness import process_facts, raw
from torture_harness.timing import Canary, Probe, summary

WORKERS = 2
SLEEP_S = 0.02
RATE = 10 * WORKERS / SLEEP_S
WAITING = 64
CONNECTIONS = 400
ELEMENTS = 4096

REFUSED_LIMIT_MS = 50
HEALTH_LIMIT_MS = 20
HEALTH = raw.request("/health")


def call_rate(daemon, seconds: float) -> float:
    """Calls a second that as many clients as there are workers get done, one after the other."""
    counts = [0] * WORKERS
    body = json.loads(raw.inputs(x=[1.0], sleep_s=SLEEP_S))
    end = time.monotonic() + seconds

    def call(number: int) -> None:
        client = daemon.client()
        while time.monotonic() < end:
            assert client.request("POST", "/apply", body).status == 200
            counts[number] += 1

    threads = [threading.Thread(target=call, args=(number,)) for number in range(WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / seconds


def overload(port: int, seconds: float) -> subprocess.Popen:
    program = Path(__file__).parent / "torture_harness" / "load.py"
    arguments = {"port": port, "rate": RATE, "seconds": seconds, "elements": ELEMENTS, "sleep_s": SLEEP_S,
                 "connections": CONNECTIONS}  # fmt: skip
    return subprocess.Popen([sys.executable, str(program), json.dumps(arguments)], stdout=subprocess.PIPE, text=True)


def most_bytes() -> int:
    """What the limits allow: each connection a request that is read and a refusal; each call that waits or runs its
    body, its array and its answer; and what allocators keep."""
    array = 4 * ELEMENTS
    body = array * 4 // 3 + 512
    return CONNECTIONS * (body + array + (32 << 10)) + (WAITING + WORKERS) * (2 * body + array) + (8 << 20)


@pytest.mark.plain
def test_ten_times_too_many_calls(start_daemon, request):
    seconds = request.config.getoption("--overload-s")
    daemon = start_daemon("trouble", "--num-workers", str(WORKERS), "--max-waiting-calls", str(WAITING))
    rate_before = call_rate(daemon, 1)
    with Canary() as canary:
        with Probe(canary.port, HEALTH) as quiet_canary, Probe(daemon.port, HEALTH) as quiet_health:
            time.sleep(1)
        bytes_before = process_facts.facts_of(daemon.pid).rss_bytes
        process_facts.forget_peak(daemon.pid)
        with Probe(canary.port, HEALTH) as busy_canary, Probe(daemon.port, HEALTH) as busy_health:
            load = overload(daemon.port, seconds)
            report, _ = load.communicate(timeout=seconds + 60)
        waited_s = time.monotonic()
    assert load.returncode == 0
    result = json.loads(report)
    time.sleep(max(0.0, result["ended_at"] + 1 - waited_s))
    rate_after = call_rate(daemon, 1)
    rate_later = call_rate(daemon, 1)
    peak_bytes = process_facts.peak_rss_bytes(daemon.pid)

    served, refused = result["answers"]["200"], result["answers"]["503"]
    noise_ms = summary(busy_canary.times)["p99_ms"]
    health = summary(busy_health.times)
    print(f"\n{result['sent']} calls in {seconds:g} s: {served['count']} served, {refused['count']} refused, p99 after "
          f"{refused['p99_ms']:.1f} ms; /health p99 {health['p99_ms']:.2f} ms (unloaded "
          f"{summary(quiet_health.times)['p99_ms']:.2f}), a plain echo {noise_ms:.2f} ms (unloaded "
          f"{summary(quiet_canary.times)['p99_ms']:.2f}); {bytes_before / 2**20:.1f} MiB grew to "
          f"{peak_bytes / 2**20:.1f}, allowed {most_bytes() / 2**20:.1f} more; calls/s before {rate_before:.0f}, after "
          f"{rate_after:.0f}, later {rate_later:.0f}")  # fmt: skip

    assert set(result["answers"]) == {"200", "503"} and result["broken"] == result["unanswered"] == 0
    assert refused["count"] > 5 * served["count"], "it was no overload"
    assert served["count"] >= 0.8 * rate_before * seconds, "the workers did less than when there was less to do"
    # The load and the probes are programs of this machine, too; what it does to a plain echo is not the daemon's doing.
    assert refused["p99_ms"] <= REFUSED_LIMIT_MS + 2 * noise_ms + 1000 * result["late_s"]
    assert health["p99_ms"] <= HEALTH_LIMIT_MS + 2 * noise_ms
    assert peak_bytes - bytes_before <= most_bytes()
    # What the machine has become slower since, it is later, too.
    assert rate_after >= 0.8 * min(rate_before, rate_later), "not at full speed a second later"
    assert daemon.stop() == 0


def test_a_refused_call_is_told_when_to_come_again(start_daemon):
    daemon = start_daemon("trouble", "--max-waiting-calls", "0")
    with raw.connect(daemon.port) as busy:
        busy.sendall(raw.request("/apply", raw.inputs(x=[1], sleep_s=1)))
        wait_until(lambda: daemon.metric("tessera_workers_busy") == 1, "the worker is busy")
        client = daemon.client()
        answer = client.request("POST", "/apply", {"inputs": {"x": [1]}})
        assert answer.status == 503
        assert answer.headers["retry-after"] == "1"
        assert answer.json() == {"detail": "all workers are busy and too many calls wait for one"}
        assert busy.recv(1 << 16).startswith(b"HTTP/1.1 200 ")
    wait_until(lambda: daemon.metric("tessera_workers_busy") == 0, "the worker is free")
    assert client.request("POST", "/apply", {"inputs": {"x": [1]}}).status == 200, "the same connection, later"
