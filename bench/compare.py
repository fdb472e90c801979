"""Times tessera and the public Python runtime beside each other, in one run, as ratios; draws a picture of it.

    python bench/compare.py          # of the programs in build/bin

Run it with the Python of an environment that has tesseract-core 1.15.0. Both serve `identity` (one float32 array, handed
back) with one worker; the same client, in a process of its own, sends both the same bytes over one kept connection.
Rounds are interleaved (tessera, runtime, tessera, …), each round warms up first, and a figure is the median of the
rounds' medians. Files lie on /dev/shm.
"""

import argparse
import os
import platform
import statistics
import tempfile
from importlib.metadata import version
from pathlib import Path

import cases
import footprint
import picture
from cases import CASES, Case
from servers import HERE, Server, Servers, run_timer

PICTURE = HERE / "times.svg"
PICTURE_SIZES = [4**power for power in range(5, 14)]
"""Bytes of an array, 1 KiB to 64 MiB."""


def show(microseconds: float) -> str:
    return f"{microseconds / 1e3:.1f} ms" if microseconds >= 1e4 else f"{microseconds:.0f} µs"


def time_requests(server: Server, where: list[str], case: Case, count: int, warmup: int) -> dict:
    options = ["--body", server.body, "--accept", case.accept, "--status", case.status]
    options += ["--count", count, "--warmup", warmup]
    if case.leaves_files:
        options += ["--remove", server.folder]
    return run_timer("tessera_request_timer", *where, *options)


def medians(rounds: list[list[dict]], key: str) -> list[float]:
    return [statistics.median(entry[key] for entry in entries) for entries in zip(*rounds)]


def verdict(ratio: float, goal: float) -> str:
    return f"{ratio:.1f}x (≥ {goal:g}x)" if ratio >= goal else f"**{ratio:.1f}x (≥ {goal:g}x)**"


def compare_requests(servers: dict[str, Server], rounds: int) -> None:
    print("| request | tessera, TCP | p99 | Unix socket | Python runtime | p99 | TCP is faster by | Unix socket by |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, case in CASES.items():
        ours, theirs = servers[case.server], servers["runtime"]
        for server in (ours, theirs):
            server.body.write_bytes(case.make_body(server.folder))
        places = [(ours, ours.where), (ours, ours.where_unix), (theirs, theirs.where)]
        measured = [
            [time_requests(server, where, case, case.count, case.warmup) for server, where in places]
            for _ in range(rounds)
        ]
        tcp, unix, runtime = medians(measured, "p50_us")
        tcp_p99, _, runtime_p99 = medians(measured, "p99_us")
        by_unix = f"{runtime / unix:.1f}x" if case.goal_unix is None else verdict(runtime / unix, case.goal_unix)
        print(
            f"| {name} | {show(tcp)} | {show(tcp_p99)} | {show(unix)} | {show(runtime)} | {show(runtime_p99)} "
            f"| {verdict(runtime / tcp, case.goal)} | {by_unix} |",
            flush=True,
        )


def compare_with_echo(ours: Server, echo: Server, rounds: int) -> None:
    case = CASES["3 floats, json"]
    for server in (ours, echo):
        server.body.write_bytes(cases.SMALL)
    measured = [
        [time_requests(server, server.where, case, case.count, case.warmup) for server in (ours, echo)]
        for _ in range(rounds)
    ]
    tessera, beast = medians(measured, "p50_us")
    mark = "" if tessera - beast <= 25 else "**"
    print(
        f"\n3 floats, json: {show(tessera)}; an echo of Boost.Beast with the same threads: {show(beast)}; "
        f"{mark}{tessera - beast:+.0f} µs (≤ 25 µs){mark}",
        flush=True,
    )


def compare_load(ours: Server, runtime: Server, rounds: int) -> None:
    print("\n| connections | tessera, requests/s | p99 | Python runtime, requests/s | p99 | faster by |")
    print("| --- | --- | --- | --- | --- | --- |")
    for count, goal in ((8, 50), (64, 50), (1000, None)):
        measured = []
        for _ in range(rounds):
            entries = []
            for server in (ours, runtime):
                server.body.write_bytes(cases.SMALL)
                options = ["--body", server.body, "--connections", count, "--seconds", 2]
                entries.append(run_timer("tessera_load_timer", *server.where, *options))
            measured.append(entries)
        (tessera, python), (tessera_p99, python_p99) = medians(measured, "per_second"), medians(measured, "p99_us")
        ratio = tessera / python
        unserved = max(entries[0]["unserved"] for entries in measured)
        served = "" if count < 1000 else f", {unserved} unserved (p99 ≤ 100 ms)"
        print(
            f"| {count} | {tessera:,.0f} | {show(tessera_p99)}{served} | {python:,.0f} | {show(python_p99)} "
            f"| {f'{ratio:.1f}x' if goal is None else verdict(ratio, goal)} |",
            flush=True,
        )


def draw(ours: Server, runtime: Server) -> None:
    """Times of every size and encoding, one round each."""
    makers = {
        "json": (lambda count, _: cases.json_body(count), "application/json"),
        "base64": (lambda count, _: cases.base64_body(cases.floats(count)), cases.BASE64),
        "binref": (lambda count, at: cases.binref_body(cases.floats(count), at), cases.BINREF),
    }
    lines = {}
    for encoding, (make, accept) in makers.items():
        for name, server in (("Python runtime", runtime), ("tessera", ours)):
            points = []
            for size in PICTURE_SIZES:
                if encoding == "json" and size > 4 * cases.MIB:
                    continue
                server.body.write_bytes(make(size // 4, server.folder))
                case = Case(None, accept, 0, 0, 0, leaves_files=encoding == "binref")
                count = max(3, min(200, (4 * cases.MIB) // size))
                points.append((size, time_requests(server, server.where, case, count, max(2, count // 5))["p50_us"]))
            lines[f"{name}, {encoding}"] = points
    PICTURE.write_text(picture.draw(lines), encoding="utf-8")
    print(f"\ndrawn: {PICTURE.relative_to(HERE.parent)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", choices=["requests", "echo", "load", "footprint", "picture"])
    options = parser.parse_args()
    wanted = [options.only] if options.only else ["requests", "echo", "load", "footprint", "picture"]

    model = next(
        (line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line),
        platform.machine(),
    )
    print(
        f"{model}, {os.cpu_count()} cores, Linux {platform.release()}, Python {platform.python_version()}, "
        f"tesseract-core {version('tesseract-core')}, {options.rounds} rounds\n"
    )
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder, Servers(folder) as servers:
        started = {"runtime": servers.start_runtime()} if wanted != ["footprint"] else {}
        started |= {"tessera": servers.start_tessera()}
        if "requests" in wanted:
            started["busy"] = servers.start_tessera("busy", "--busy-poll", "100us")
            started["unprepared"] = servers.start_tessera("unprepared", "--prepared-files", "0")
            compare_requests(started, options.rounds)
        if "echo" in wanted:
            compare_with_echo(started["tessera"], servers.start_echo(), options.rounds)
        if "load" in wanted:
            compare_load(started["tessera"], started["runtime"], min(options.rounds, 3))
        if "footprint" in wanted:
            footprint.measure(servers)
        if "picture" in wanted:
            draw(started["tessera"], started["runtime"])


if __name__ == "__main__":
    main()
