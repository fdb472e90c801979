"""What a daemon takes: time to start, memory of calls, memory and processor time of idle connections."""

import os
import socket
import time
from pathlib import Path

import cases
from figures import goal_line
from servers import Server, Servers, run_timer

CONNECTIONS = 1000


def status_kib(server: Server, name: str) -> int:
    for line in Path(f"/proc/{server.process.pid}/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1])
    raise KeyError(name)


def processor_seconds(server: Server) -> float:
    fields = Path(f"/proc/{server.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def call(server: Server, body: bytes, count: int) -> None:
    server.body.write_bytes(body)
    options = ["--body", server.body, "--accept", cases.BASE64, "--count", count, "--warmup", 0]
    run_timer("tessera_request_timer", *server.where, *options)


def measure(servers: Servers) -> None:
    """Prints lines of the table of goals."""
    starts = [servers.start_tessera(f"start{number}").start_seconds * 1e3 for number in range(5)]
    start = sorted(starts)[len(starts) // 2]
    goal_line("start: process to first answer", f"{start:.0f} ms", start <= 50, "≤ 50 ms")

    server = servers.start_tessera("idle")
    before = status_kib(server, "VmRSS")
    clients = []
    for _ in range(CONNECTIONS):
        client = socket.create_connection(("127.0.0.1", server.port))
        client.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert client.recv(4096).startswith(b"HTTP/1.1 200")
        clients.append(client)
    time.sleep(0.2)
    each = (status_kib(server, "VmRSS") - before) / CONNECTIONS
    began = processor_seconds(server)
    time.sleep(5)
    share = (processor_seconds(server) - began) / 5 * 100
    goal_line(f"{CONNECTIONS:,} idle connections: memory of each", f"{each:.1f} KiB", each <= 10, "≤ 10 KiB")
    goal_line(f"{CONNECTIONS:,} idle connections: processor time", f"{share:.1f} %", share < 0.5, "0 %")
    for client in clients:
        client.close()

    server = servers.start_tessera("large")
    before = status_kib(server, "VmRSS")
    call(server, cases.base64_body(cases.floats(16 * cases.MIB)), 1)
    peak = (status_kib(server, "VmHWM") - before) / 1024 / 64
    goal_line("peak of one call with 64 MiB as base64", f"{peak:.2f} x the array", peak <= 3.5, "≤ 3.5 x")

    server = servers.start_tessera("growth")
    body = cases.base64_body(cases.floats(cases.MIB // 4))
    call(server, body, 200)
    before = status_kib(server, "VmRSS")
    call(server, body, 1000)
    growth = status_kib(server, "VmRSS") - before
    goal_line("growth over 1,000 calls with 1 MiB", f"{growth} KiB", growth <= 256, "none (≤ 256 KiB)")
