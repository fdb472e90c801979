"""More calls than a daemon can do, from a process of its own, sent when they are due whatever became of those before.

python load.py '{"port": 8000, "rate": 1000, "seconds": 6, "elements": 4096, "sleep_s": 0.02, "connections": 400}'
prints what became of them as one line of JSON.
"""

import asyncio
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np  # noqa: E402

from torture_harness import raw, timing  # noqa: E402


class Connection(asyncio.Protocol):
    """One request at a time."""

    def __init__(self, load: "Load"):
        self._load = load
        self._received = b""
        self._sent_at = 0.0
        self._is_waiting = False

    def connection_made(self, transport) -> None:
        self._transport = transport

    def send(self, request: bytes) -> None:
        self._sent_at = time.perf_counter()
        self._is_waiting = True
        self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, separator, body = self._received.partition(b"\r\n\r\n")
        if separator:
            length = int(head.lower().partition(b"content-length: ")[2].split(b"\r", 1)[0])
            if len(body) >= length:
                self._received = b""
                self._is_waiting = False
                self._load.answered(self, int(head.split(b" ", 2)[1]), time.perf_counter() - self._sent_at)

    def connection_lost(self, error) -> None:
        if self._is_waiting:
            self._load.broken += 1


class Load:
    """Of one run."""

    def __init__(self, port: int, rate: float, seconds: float, elements: int, sleep_s: float, connections: int):
        self._port, self._rate, self._seconds, self._connections = port, rate, seconds, connections
        array = raw.base64_array(np.ones(elements, "float32"))
        self._request = raw.request("/apply", raw.inputs(x=array, sleep_s=sleep_s), raw.BASE64)
        self._free: list[Connection] = []
        self._open = 0
        self._waiting = 0
        self._latencies: dict[int, list[float]] = {}
        self._unsent = 0
        self._late: list[float] = []
        self._answered_at = 0.0
        self.broken = 0

    def answered(self, connection: Connection, status: int, seconds: float) -> None:
        self._waiting -= 1
        self._free.append(connection)
        self._latencies.setdefault(status, []).append(seconds)
        self._answered_at = time.monotonic()

    async def run(self) -> dict:
        loop = asyncio.get_running_loop()
        began = time.perf_counter()
        sent = 0
        while (now := time.perf_counter() - began) < self._seconds:
            while sent < now * self._rate:
                self._late.append(now - sent / self._rate)
                sent += 1
                if not self._free and self._open < self._connections:
                    self._open += 1
                    _, made = await loop.create_connection(lambda: Connection(self), "127.0.0.1", self._port)
                    self._free.append(made)
                if self._free:
                    self._waiting += 1
                    self._free.pop().send(self._request)
                else:
                    self._unsent += 1
            await asyncio.sleep(0.001)
        ended_at = time.monotonic()
        while self._waiting > self.broken and time.monotonic() < ended_at + 30:
            await asyncio.sleep(0.01)
        return {
            "sent": sent - self._unsent,
            "unsent": self._unsent,
            "broken": self.broken,
            "unanswered": self._waiting - self.broken,
            "connections": self._open,
            "late": timing.summary(self._late),
            "ended_at": ended_at,
            "drained_s": max(0.0, self._answered_at - ended_at),
            "answers": {status: timing.summary(times) for status, times in self._latencies.items()},
        }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(Load(**json.loads(sys.argv[1])).run())))
