"""A log that nobody reads: a pipe whose reader has gone to sleep."""

import http.client
import json
import os
import signal
import subprocess

import pytest
from gpu_harness.daemons import environment
from torture_harness import raw

LINES = 400  # each of more than 200 bytes: more than a pipe holds


@pytest.fixture
def daemon(build, tmp_path):
    """A daemon whose log is read to the line that it listens, and no further; with its port."""
    command = [str(build / "bin" / "tessera"), "serve", str(build / "lib" / "tessera_tests" / "trouble.so"), "--port",
               "0", "--log-json", "--log-level", "debug", "-o", str(tmp_path), "--stop-time", "2"]  # fmt: skip
    process = subprocess.Popen(command, env=environment({}, without_gpu=True), stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)  # fmt: skip
    line = process.stderr.readline()
    while b'"listening"' not in line:
        line = process.stderr.readline()
    yield process, json.loads(line)["port"]
    process.kill()
    process.wait()
    process.stderr.close()


def fill_log(port: int, lines: int = LINES) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    for _ in range(lines):
        connection.request("GET", "/health")
        assert connection.getresponse().read() == b'{"status":"ok"}'
    connection.close()


def test_holds_up_neither_answers_nor_the_stop(daemon):
    process, port = daemon
    fill_log(port)
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 0


def test_says_what_was_lost_once_it_is_read_again(daemon):
    process, port = daemon
    fill_log(port)
    log = os.read(process.stderr.fileno(), 1 << 16)
    fill_log(port, 1)
    process.send_signal(signal.SIGTERM)
    log += process.stderr.read()
    assert process.wait(20) == 0
    lines = [json.loads(line) for line in log.splitlines() if line.endswith(b"}")]
    assert lines[-1]["message"] == "stopped"
    lost = [line["lines"] for line in lines if line["message"].startswith("lines of the log are lost")]
    assert sum(lost) > 10 and len(lines) + sum(lost) > LINES


def test_does_not_keep_a_process_that_ends(daemon):
    process, port = daemon
    fill_log(port)
    with raw.connect(port) as client:
        client.sendall(raw.request("/apply", raw.inputs(x=[1], how="abort")))
        assert client.recv(100) == b""
    assert process.wait(30) != 0
