"""Times of answers, and of a server that does nothing: what this machine would do to anybody's answers just now."""

import multiprocessing
import socket
import statistics
import threading
import time


def summary(seconds: list[float]) -> dict:
    """Of at least one time, in milliseconds."""
    ordered = sorted(seconds)
    return {
        "count": len(ordered),
        "median_ms": 1000 * statistics.median(ordered),
        "p99_ms": 1000 * ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)],
        "max_ms": 1000 * ordered[-1],
    }


def _echo(listener: socket.socket) -> None:
    while True:
        connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while received := connection.recv(1 << 16):
            connection.sendall(received)
        connection.close()


class Canary:
    """A process that sends back what it gets, to one connection after the other: its times are what is left of ours
    when the daemon is taken away."""

    def __enter__(self) -> "Canary":
        listener = socket.create_server(("127.0.0.1", 0))
        self.port = listener.getsockname()[1]
        self._process = multiprocessing.get_context("fork").Process(target=_echo, args=(listener,), daemon=True)
        self._process.start()
        listener.close()
        return self

    def __exit__(self, *_) -> None:
        self._process.kill()
        self._process.join()


class Probe:
    """Asks on one connection again and again, on a thread, until stopped; `times` are what answers took, in seconds."""

    def __init__(self, port: int, request: bytes, pause_s: float = 0.005):
        self._connection = socket.create_connection(("127.0.0.1", port), timeout=60)
        self._connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._request, self._pause_s = request, pause_s
        self._is_stopping = threading.Event()
        self._thread = threading.Thread(target=self._ask)
        self.times: list[float] = []

    def __enter__(self) -> "Probe":
        self._thread.start()
        return self

    def __exit__(self, *_) -> None:
        self._is_stopping.set()
        self._thread.join()
        self._connection.close()

    def _ask(self) -> None:
        while not self._is_stopping.wait(self._pause_s):
            began = time.perf_counter()
            self._connection.sendall(self._request)
            assert self._connection.recv(1 << 16)
            self.times.append(time.perf_counter() - began)
