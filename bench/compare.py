"""Times tessera and the public Python runtime beside each other, in one run, as ratios; draws a picture of it.

    python bench/compare.py          # of the programs in build/bin

Run it with the Python of an environment that has tesseract-core 1.15.0. Both serve `identity` (one float32 array, handed
back) with one worker; the same client, in a process of its own, sends both the same bytes over one kept connection.
Rounds are interleaved (tessera, runtime, tessera, …), each round warms up first, and a figure is the median of the
rounds' medians, a p99 that of the rounds' p99s. Files lie on /dev/shm. What is printed is Markdown, for the README as
it is; what misses its goal is bold.
"""

import argparse
import statistics
import sys
import tempfile

import cases
import footprint
import machine
import picture
from cases import CASES, Case
from figures import begin_goals, goal_line, medians, ratio_text, time_text, verdict
from servers import HERE, Server, Servers, run_timer

PICTURE = HERE / "times.svg"
PICTURE_SIZES = [4**power for power in range(5, 14)]
"""Bytes of an array, 1 KiB to 64 MiB."""
SECTIONS = ["requests", "small", "load", "footprint", "picture"]
PRICED_CALLS = 20000
"""Enough for a processor time that is counted in hundredths of a second."""


def time_requests(server: Server, where: list[str], case: Case, count: int, warmup: int) -> dict:
    options = ["--body", server.body, "--accept", case.accept, "--status", case.status]
    options += ["--count", count, "--warmup", warmup]
    if case.leaves_files:
        options += ["--remove", server.folder]
    return run_timer("tessera_request_timer", *where, *options)


def compare_requests(servers: dict[str, Server], rounds: int) -> None:
    print("| request | tessera, TCP | p99 | Unix socket | p99 | Python runtime | p99 | TCP is faster by | Unix socket by |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
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
        times = [time_text(time) for pair in zip((tcp, unix, runtime), medians(measured, "p99_us")) for time in pair]
        by_unix = (
            ratio_text(runtime / unix, case.goal)
            if case.goal_unix is None
            else verdict(runtime / unix, case.goal_unix)
        )
        print(f"| {name} | {' | '.join(times)} | {verdict(runtime / tcp, case.goal)} | {by_unix} |", flush=True)


def measure_small_calls(ours: Server, busy: Server, echo: Server, rounds: int) -> None:
    """What a call with 3 floats takes beside a bare echo, of the processor, and for being seen."""
    case = CASES["3 floats, json"]
    for server in (ours, busy, echo):
        server.body.write_bytes(cases.SMALL)
    places = [(ours, ours.where), (ours, ours.where_unix), (echo, echo.where)]
    measured = [
        [time_requests(server, where, case, case.count, case.warmup) for server, where in places]
        for _ in range(rounds)
    ]
    tcp, unix, beast = medians(measured, "p50_us")
    above = f"{tcp - beast:+.0f} µs ({time_text(tcp)}, the echo {time_text(beast)})"
    goal_line("3 floats, json, above an echo of Beast with the same threads", above, tcp - beast <= 25, "≤ 25 µs")

    def price(server: Server, where: list[str]) -> float:
        """Microseconds of the server's processor time for each call, of calls one after the other."""
        before = footprint.processor_seconds(server)
        time_requests(server, where, case, PRICED_CALLS, 0)
        return (footprint.processor_seconds(server) - before) * 1e6 / PRICED_CALLS

    for name, where_of in (("TCP", lambda server: server.where), ("Unix socket", lambda server: server.where_unix)):
        prices = [(price(ours, where_of(ours)), price(busy, where_of(busy))) for _ in range(min(rounds, 3))]
        plain, polling = (statistics.median(column) for column in zip(*prices))
        spent = f"{polling:.0f} µs, without {plain:.0f} µs"
        goal_line(f"`--busy-poll 100us`, {name}: processor time of a call in the daemon", spent, True, "stated")

    options = ["--benchmark_filter=^be_seen$", "--benchmark_format=json", f"--benchmark_repetitions={rounds}"]
    timed = run_timer("tessera_daemon_bench", *options)["benchmarks"]
    seen = statistics.median(entry["cpu_time"] for entry in timed if entry["run_type"] == "iteration") / 1e3
    share = seen / min(tcp, unix) * 100
    text = f"{seen:.2f} µs, {share:.1f} % of {time_text(min(tcp, unix))}"
    goal_line("being seen: id, clocks, counts, a line that is not logged", text, share <= 2, "≤ 2 % of a small call")


def compare_load(ours: Server, runtime: Server, rounds: int) -> None:
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
        unserved = max(entries[0]["unserved"] for entries in measured)
        text = f"{tessera:,.0f} requests/s, p99 {time_text(tessera_p99)}, "
        text += "all served" if unserved == 0 else f"{unserved} unserved"
        text += f"; runtime {python:,.0f}, p99 {time_text(python_p99)}: {tessera / python:.1f}x"
        is_met = unserved == 0 and (tessera_p99 <= 1e5 if goal is None else tessera / python >= goal)
        goal_text = "all served, p99 ≤ 100 ms" if goal is None else f"≥ {goal}x"
        goal_line(f"{count:,} connections", text, is_met, goal_text)


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
    print(f"drawn: {PICTURE.relative_to(HERE.parent)}", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", choices=SECTIONS)
    options = parser.parse_args()
    wanted = [options.only] if options.only else SECTIONS

    print(machine.describe(options.rounds) + "\n", flush=True)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder, Servers(folder) as servers:
        started = {"runtime": servers.start_runtime()} if wanted not in (["footprint"], ["small"]) else {}
        started |= {"tessera": servers.start_tessera()}
        if "requests" in wanted or "small" in wanted:
            started["busy"] = servers.start_tessera("busy", "--busy-poll", "100us")
        if "requests" in wanted:
            started["unprepared"] = servers.start_tessera("unprepared", "--prepared-files", "0")
            compare_requests(started, options.rounds)
        if wanted not in (["requests"], ["picture"]):
            begin_goals()
        if "small" in wanted:
            measure_small_calls(started["tessera"], started["busy"], servers.start_echo(), options.rounds)
        if "load" in wanted:
            compare_load(started["tessera"], started["runtime"], min(options.rounds, 3))
        if "footprint" in wanted:
            footprint.measure(servers)
        if "picture" in wanted:
            draw(started["tessera"], started["runtime"])


if __name__ == "__main__":
    main()
