"""Daemons that are killed and started again where they were, and clients that vanish in the middle of an answer."""

import contextlib
import http.client
import json
import os
import random
import signal
import socket
import stat
import threading
import time

import numpy as np
import pytest
from gpu_harness.waiting import wait_until
from torture_harness import process_facts, raw
from torture_harness.expect import INPUTS, call, logged, serves

MIB = 1 << 20


def call_unix(path) -> dict:
    """One apply over the Unix socket."""
    with socket.socket(socket.AF_UNIX) as plain:
        plain.settimeout(30)
        plain.connect(str(path))
        plain.sendall(raw.request("/apply", raw.inputs(**INPUTS), Connection="close"))
        answer = b""
        while piece := plain.recv(1 << 16):
            answer += piece
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 "), head
    return json.loads(body)


def test_after_kill_9_a_new_daemon_takes_the_same_socket_and_port(start_daemon, tmp_path, times):
    path = tmp_path / "tessera.sock"
    port = 0
    for _ in range(times):
        daemon = start_daemon("trouble", "--unix", str(path), port=port)
        port = daemon.port
        assert call_unix(path)["y"]["data"]["buffer"] == INPUTS["x"]
        serves(daemon)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        # One call computes, one connection is idle: both are in the way of the port.
        running, idle = raw.connect(port), raw.connect(port)
        running.sendall(raw.request("/apply", raw.inputs(x=[1], sleep_s=5)))
        time.sleep(0.05)
        daemon.kill()
        assert running.recv(100) == b""
        assert path.exists(), "nobody could remove it"
        with pytest.raises(ConnectionRefusedError):
            call_unix(path)
        running.close()
        idle.close()
    daemon = start_daemon("trouble", "--unix", str(path), port=port)
    assert daemon.stop() == 0
    assert not path.exists()


def test_a_second_daemon_does_not_take_the_socket_of_one_that_lives(start_daemon, tmp_path, build):
    path = tmp_path / "tessera.sock"
    first = start_daemon("trouble", "--unix", str(path))
    with pytest.raises(AssertionError, match="the daemon did not start"):
        start_daemon("trouble", "--unix", str(path))
    assert call_unix(path)["y"]["data"]["buffer"] == INPUTS["x"]
    assert first.stop() == 0


def test_what_a_killed_daemon_was_writing_is_no_answer_and_what_it_answered_is_whole(start_daemon, tmp_path, times):
    """json+binref: every reference that a client got leads to all of its bytes, whenever the daemon was killed."""
    sent = np.arange(MIB, dtype="float32")
    body = raw.inputs(x=raw.base64_array(sent))
    chance = random.Random(1)
    for _ in range(times):
        daemon = start_daemon("trouble", "--num-workers", "2")
        buffers: list[str] = []

        def call_again(daemon=daemon, buffers=buffers) -> None:
            with contextlib.suppress(OSError, http.client.HTTPException):
                while True:
                    answer = daemon.client().request("POST", "/apply", body, {"Accept": "application/json+binref"})
                    buffers.append(answer.json()["y"]["data"]["buffer"])

        threads = [threading.Thread(target=call_again) for _ in range(3)]
        for thread in threads:
            thread.start()
        wait_until(lambda buffers=buffers: buffers != [], "the first answer")
        time.sleep(chance.random() * 0.2)
        daemon.kill()
        for thread in threads:
            thread.join(30)
        for name, _, offset in (buffer.partition(":") for buffer in buffers):
            assert offset == "0" and (tmp_path / "runs" / name).read_bytes() == sent.tobytes()
    serves(start_daemon("trouble"))


def read_answer(plain) -> dict:
    """The body of a whole 200, after which the daemon closes."""
    answer = b"".join(iter(lambda: plain.recv(1 << 20), b""))
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 "), head
    assert f"content-length: {len(body)}" in head.decode().lower()
    return json.loads(body)


def test_a_client_that_says_that_it_sends_no_more_gets_its_answer_whole(start_daemon):
    """Half a close, before the daemon has read the request, while it computes, and while it sends."""
    daemon = start_daemon("trouble", "--num-workers", "2")
    for when in ("at_once", "computing", "sending"):
        # What is sent meanwhile has to be more than buffers take.
        sent = raw.base64_array(np.ones(2 * MIB if when == "sending" else 1 << 14, "float32"))
        request = raw.request("/apply", raw.inputs(x=sent, sleep_s=0.2 if when == "computing" else 0.0), raw.BASE64)
        for _ in range(2):
            with raw.connect(daemon.port, receive_buffer=1 << 18) as plain:
                plain.sendall(request)
                if when == "computing":
                    time.sleep(0.1)
                elif when == "sending":
                    assert plain.recv(1, socket.MSG_PEEK) == b"H"
                plain.shutdown(socket.SHUT_WR)
                assert read_answer(plain)["y"]["data"] == sent["data"]
    serves(daemon)
    assert daemon.stop() == 0


@pytest.mark.parametrize("end", ["reset", "close", "half_close"])
def test_clients_that_vanish_in_the_middle_of_an_answer_hurt_nobody(start_daemon, times, end):
    daemon = start_daemon("trouble", "--num-workers", "2")
    serves(daemon)
    request = raw.request("/apply", raw.inputs(x=raw.base64_array(np.ones(2 * MIB, "float32"))), raw.BASE64)
    before = process_facts.facts_of(daemon.pid)
    for _ in range(times):
        plain = raw.connect(daemon.port, receive_buffer=4096)
        plain.sendall(request)
        assert plain.recv(15) == b"HTTP/1.1 200 OK"  # the rest, 11 MiB, does not fit into what buffers there are
        if end == "reset":
            raw.reset(plain)
        elif end == "half_close":
            plain.shutdown(socket.SHUT_WR)  # FIN; what cannot be delivered is refused a moment later
            time.sleep(0.01)
            plain.close()
        else:
            plain.close()
        call(daemon)
    for client in daemon.clients:
        client.close()
    wait_until(lambda: process_facts.facts_of(daemon.pid).descriptors <= before.descriptors, "connections closed")
    serves(daemon)
    assert daemon.process.poll() is None, "SIGPIPE"
    assert daemon.stop() == 0


def test_one_who_never_reads_holds_up_nobody(start_daemon):
    daemon = start_daemon()
    request = raw.request("/apply", raw.inputs(x=raw.base64_array(np.ones(2 * MIB, "float32"))), raw.BASE64)
    with contextlib.ExitStack() as stack:
        for _ in range(5):
            plain = stack.enter_context(raw.connect(daemon.port, receive_buffer=4096))
            plain.sendall(request)
        for _ in range(10):
            serves(daemon)
        daemon.process.send_signal(signal.SIGTERM)
        logged(daemon, '"stopping"')
    assert daemon.process.wait(30) == 0


def test_standard_error_that_nobody_reads_any_more_ends_nothing(build, start_daemon):
    """A log that goes into a closed pipe: an operator's `tessera serve ... | head`."""
    daemon = start_daemon("trouble", "--log-level", "debug")
    # The reader of the pipe is the test's own thread: with the descriptor replaced under it, the pipe has no reader.
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, daemon.process.stderr.fileno())
    os.close(null)
    for _ in range(20):
        serves(daemon)
    assert daemon.process.poll() is None
    daemon.process.send_signal(signal.SIGTERM)
    assert daemon.process.wait(30) == 0
