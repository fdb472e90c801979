"""Modules that fail, end the process, never return or take everything: what the caller and the operator see.

How a process that ends tells of its call is held in tests/unit/cli/crash_test.cpp; here are the clients, the others
that were served at that moment, and what comes afterwards.
"""

import http.client
import json
import os
import signal
import threading
import time

import pytest
from gpu_harness.waiting import wait_until
from torture_harness import process_facts, raw
from torture_harness.expect import INPUTS, call, logged, serves

NOT_MUCH = 8 << 30  # of address space: threads, allocators and libraries have theirs


@pytest.mark.parametrize(
    ("how", "kind", "text"),
    [
        ("endpoint_error", "ValueError", "the mesh is empty"),
        ("exception", "RuntimeError", "the solver diverged"),
        ("bad_alloc", "MemoryError", ""),
        ("int", "", ""),
    ],
)
def test_what_a_module_throws_is_told_and_the_next_call_is_served(start_daemon, how, kind, text):
    daemon = start_daemon()
    failed = call(daemon, 500, how=how)
    assert failed.body == b"Internal Server Error", "what went wrong inside is for the log, and for debug"
    line = json.loads(logged(daemon, "endpoint failed", '"endpoint":"apply"'))
    assert (line["level"], line["tesseract"]) == ("error", "trouble")
    assert kind in line["kind"] and text in line["text"] and line["text"]
    serves(daemon)
    assert daemon.stop() == 0


def test_in_debug_the_caller_is_told_too(start_daemon):
    daemon = start_daemon(TESSERACT_DEBUG="1")
    assert b"RuntimeError: the solver diverged" in call(daemon, 500, how="exception").body
    assert call(daemon, 500, how="int").body
    serves(daemon)


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize(
    ("how", "cause", "code"),
    [
        ("abort", "SIGABRT", -signal.SIGABRT),
        ("terminate", "SIGABRT", -signal.SIGABRT),
        # Sanitizers have their own ways to end.
        pytest.param("segv", "SIGSEGV", -signal.SIGSEGV, marks=pytest.mark.plain),
        pytest.param("fpe", "SIGFPE", -signal.SIGFPE, marks=pytest.mark.plain),
        ("exit", "exit(3)", 0),
        ("quick_exit", "quick_exit(3)", 5),
    ],
)
def test_an_end_is_told_with_module_endpoint_and_run(start_daemon, tmp_path, workers, how, cause, code):
    daemon = start_daemon("trouble", "--num-workers", workers)
    client = daemon.client()
    with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
        client.request("POST", "/apply?run_id=mine", {"inputs": INPUTS | {"how": how}}, {"X-Request-Id": "asked"})
    assert daemon.process.wait(30) == code
    line = json.loads(logged(daemon, "process ended during a call"))
    assert line["cause"] == cause
    assert line["during"] == f"tesseract=trouble endpoint=apply id=asked run={tmp_path}/runs/run_mine"
    serves(start_daemon("trouble", port=daemon.port))


def test_who_waited_when_a_module_ended_the_process_is_told_by_the_connection(start_daemon):
    daemon = start_daemon()
    ends = []

    def wait_in_line() -> None:
        try:
            ends.append(call(daemon).status)
        except (http.client.RemoteDisconnected, ConnectionError) as gone:
            ends.append(type(gone).__name__)

    with raw.connect(daemon.port) as first:
        first.sendall(raw.request("/apply", raw.inputs(x=[1], sleep_s=0.5, how="abort")))
        threads = [threading.Thread(target=wait_in_line) for _ in range(5)]
        time.sleep(0.2)
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        assert first.recv(100) == b""
    assert len(ends) == 5 and set(ends) <= {"RemoteDisconnected", "ConnectionResetError"}
    assert daemon.process.wait(30) == -signal.SIGABRT


def test_others_are_served_while_a_call_never_returns(start_daemon):
    daemon = start_daemon("trouble", "--num-workers", "2", "--stop-time", "1")
    hanging = raw.connect(daemon.port)
    hanging.sendall(raw.request("/apply?run_id=stuck", raw.inputs(x=[1], how="hang")))
    time.sleep(0.2)
    for _ in range(20):
        serves(daemon)
    began = time.monotonic()
    assert daemon.stop() == 0, "an operator who ends it is not told that it failed"
    assert 0.9 <= time.monotonic() - began < 5, "--stop-time 1"
    assert "some still run" in logged(daemon, '"stopped"')
    assert hanging.recv(100) == b"", "who waited for the answer is let go"
    hanging.close()


def test_with_one_worker_the_others_wait_and_health_does_not(start_daemon):
    daemon = start_daemon("trouble", "--stop-time", "1", "--max-waiting-calls", "1")
    with raw.connect(daemon.port) as hanging, raw.connect(daemon.port) as waiting:
        hanging.sendall(raw.request("/apply", raw.inputs(x=[1], how="hang")))
        time.sleep(0.2)
        waiting.sendall(raw.request("/apply", raw.inputs(x=[1])))
        time.sleep(0.2)
        assert call(daemon, 503).headers["retry-after"] == "1"
        assert daemon.client().get("/health").status == 200
        assert daemon.stop() == 0
        answer = waiting.recv(1000).decode()
        assert answer.startswith("HTTP/1.1 503 ") and "no worker became free in time" in answer
        assert hanging.recv(100) == b""


@pytest.mark.plain  # a sanitizer needs more address space than there is
def test_a_module_that_takes_all_memory_fails_alone(start_daemon):
    daemon = start_daemon(prefix=("prlimit", f"--as={1 << 30}"))
    for _ in range(2):
        call(daemon, 500, how="memory")
        assert "MemoryError" in logged(daemon, "endpoint failed")
        serves(daemon)
    assert process_facts.facts_of(daemon.pid).rss_bytes < 256 << 20, "what it took is given back"
    assert daemon.stop() == 0


@pytest.mark.plain
def test_a_body_that_does_not_fit_into_memory_is_refused_and_nothing_else(start_daemon):
    daemon = start_daemon(prefix=("prlimit", f"--as={1 << 30}"))
    with raw.connect(daemon.port) as large:
        large.sendall(raw.request("/apply", method="POST", Content_Type="application/json",
                                  Content_Length=str(3 << 30)) + b" " * (1 << 20))  # fmt: skip
        head, _, body = large.recv(1 << 16).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 503 "), head
    assert json.loads(body) == {"detail": "not enough memory for a body of 3221225472 bytes"}
    assert daemon.metric("tessera_limit_hits_total", limit="body_memory") == 1
    serves(daemon)
    assert daemon.stop() == 0


def test_many_threads_of_a_module_come_and_go(start_daemon):
    daemon = start_daemon()
    serves(daemon)
    before = process_facts.facts_of(daemon.pid)
    for _ in range(3):
        call(daemon, how="threads")
    # A daemon that serves may still be starting threads of its own, far fewer than a call's.
    few = 20 + 2 * os.cpu_count()
    wait_until(lambda: process_facts.facts_of(daemon.pid).threads <= before.threads + few, "its threads are gone")
    assert process_facts.facts_of(daemon.pid).descriptors <= before.descriptors + 4, "connections of this test alone"
    serves(daemon)


@pytest.mark.plain
def test_threads_without_end_are_the_callers_error(start_daemon):
    # Of address space, as a limit of processes is one of the user's, of whom there is more here.
    daemon = start_daemon(prefix=("prlimit", f"--as={NOT_MUCH}"))
    call(daemon, 500, how="endless_threads")
    line = logged(daemon, "endpoint failed")
    assert "Resource temporarily unavailable" in line or "MemoryError" in line
    serves(daemon)
    assert daemon.stop() == 0


def test_a_broken_pipe_in_a_module_ends_nothing(start_daemon):
    daemon = start_daemon()
    call(daemon, how="pipe")
    serves(daemon)
    assert daemon.stop() == 0
