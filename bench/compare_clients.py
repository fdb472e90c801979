"""Times clients beside each other, in one run, as ratios.

    python bench/compare_clients.py     # of the programs in build/bin, with the package tessera on the path

C++: a raw socket, cpp-httplib, Boost.Beast and the SDK call one tessera. Python: tesseract-core's SDK 1.15.0 and the
package tessera call tessera and the Python runtime. All call `identity` with one float32 array. Each round runs every
client in a process of its own, in turn; a figure is the median of the rounds' medians, a p99 that of the rounds' p99s
(of a round's few calls the slowest). What misses its goal is bold.
"""

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass

from figures import medians, time_text, verdict
from servers import Server, Servers, run_timer

CXX_CLIENTS = ("raw", "httplib", "beast", "sdk")
# name: (elements, calls per round)
CASES = {"3 floats": (3, 2000), "64 MiB": (16 << 20, 7)}


@dataclass
class PythonCase:
    """What is called, how often, and how many times faster than the public SDK on its runtime ours on tessera must be."""

    elements: int
    count: int
    output_format: str | None
    goal: float | None = None
    goal_unix: float | None = None


PYTHON_CASES = {
    "3 floats, json": PythonCase(3, 400, "json"),
    "64 MiB, default encoding": PythonCase(16 << 20, 3, None),
    "64 MiB, base64": PythonCase(16 << 20, 5, "json+base64", 8, 15),
    "64 MiB, binref": PythonCase(16 << 20, 5, "json+binref", 12),
}


def call_from_python(module: str, url: str, elements: int, count: int, output_format: str | None, folder: str) -> None:
    """What a round in Python does; prints its median and p99 as JSON."""
    import importlib
    import math
    import time

    import numpy

    # Ours sends files too, where the server reads them.
    paths = {"server_output_path": folder} | ({"server_input_path": folder} if module == "tessera" else {})
    tesseract = importlib.import_module(module).Tesseract.from_url(url, **paths)
    if output_format:
        tesseract = tesseract.with_encoding(output_format=output_format)
    values = numpy.full(elements, 1.25, dtype="float32")
    times = []
    for number in range(count + count // 5 + 1):
        begin = time.perf_counter()
        result = tesseract.apply({"x": values})["x"]
        if number > count // 5:
            times.append((time.perf_counter() - begin) * 1e6)
        assert result.shape == values.shape and result[-1] == values[-1]
    times.sort()
    print(json.dumps({"p50_us": statistics.median(times), "p99_us": times[math.ceil(0.99 * len(times)) - 1]}))


def compare_cxx(places: dict[str, str], rounds: int) -> None:
    print("| C++ | raw | cpp-httplib | Beast | SDK | SDK - raw | cpp-httplib / Beast |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for case, (elements, count) in CASES.items():
        for kind, place in places.items():
            found = {client: [] for client in CXX_CLIENTS}
            for _ in range(rounds):
                for client in CXX_CLIENTS:
                    found[client].append(run_timer("tessera_client_timer", client, place, elements, count)["p50_us"])
            raw, httplib, beast, sdk = (statistics.median(found[client]) for client in CXX_CLIENTS)
            times = " | ".join(time_text(value) for value in (raw, httplib, beast, sdk, sdk - raw))
            print(f"| {case}, {kind} | {times} | {httplib / beast:.2f} |", flush=True)


def compare_threads(place: str, rounds: int) -> None:
    """Small calls of 64 threads: by one client object, and by one for each."""
    found = {"shared": [], "each": []}
    for _ in range(rounds):
        for kind, values in found.items():
            values.append(run_timer("tessera_client_timer", kind, place, 64, 100)["per_second"])
    shared, each = (statistics.median(values) for values in found.values())
    print(f"\n64 threads in C++: {shared:,.0f} calls/s with one client, {each:,.0f} with one each ({shared / each:.2f}x)")


def time_python(module: str, server: Server, url: str, case: PythonCase) -> dict:
    """A round of one client, in a process of its own; the files that it leaves are removed."""
    command = [sys.executable, __file__, "--call", module, url, str(case.elements), str(case.count),
               case.output_format or "", str(server.folder)]  # fmt: skip
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    for run in server.folder.glob("run_*"):
        shutil.rmtree(run)
    return json.loads(output)


def ratio(slower: float, faster: float, goal: float | None = None) -> str:
    return f"{slower / faster:.1f}x" if goal is None else verdict(slower / faster, goal)


def compare_python(tessera: Server, runtime: Server, rounds: int) -> None:
    tcp, unix = f"http://127.0.0.1:{tessera.port}", f"unix:{tessera.unix_path}"
    reference = f"http://127.0.0.1:{runtime.port}"
    places = [
        ("tesseract_core", runtime, reference),
        ("tesseract_core", tessera, tcp),
        ("tessera", tessera, tcp),
        ("tessera", tessera, unix),
        ("tessera", runtime, reference),
    ]
    on_one_server = []
    print(
        "\n| call from Python | public SDK and runtime | p99 | public SDK, tessera | p99 | tessera's SDK, TCP | p99 "
        "| Unix socket | p99 | TCP is faster by | Unix socket by |"
    )
    print("|" + " --- |" * 11)
    for name, case in PYTHON_CASES.items():
        measured = [[time_python(*place, case) for place in places] for _ in range(rounds)]
        theirs, mixed, ours, ours_unix, ours_on_runtime = medians(measured, "p50_us")
        figures = list(zip((theirs, mixed, ours, ours_unix), medians(measured, "p99_us")))
        times = " | ".join(time_text(time) for pair in figures for time in pair)
        print(
            f"| {name} | {times} | {ratio(theirs, ours, case.goal)} | {ratio(theirs, ours_unix, case.goal_unix)} |",
            flush=True,
        )
        on_one_server.append(
            f"| {name} | {ratio(mixed, ours)} | {ratio(mixed, ours_unix)} "
            f"| {time_text(ours_on_runtime)} | {ratio(theirs, ours_on_runtime)} |"
        )
    print("\n| tessera's SDK and the public one on the same server | on tessera, TCP | Unix socket ", end="")
    print("| tessera's SDK, runtime | on the runtime |\n| --- | --- | --- | --- | --- |")
    print("\n".join(on_one_server))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", choices=["cxx", "python"])
    parser.add_argument("--call", nargs=6, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.call:
        module, url, elements, count, output_format, folder = options.call
        call_from_python(module, url, int(elements), int(count), output_format or None, folder)
        return

    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder, Servers(folder) as servers:
        tessera = servers.start_tessera()
        if options.only != "python":
            compare_cxx({"TCP": str(tessera.port), "Unix": str(tessera.unix_path)}, options.rounds)
            compare_threads(str(tessera.port), options.rounds)
        if options.only != "cxx":
            compare_python(tessera, servers.start_runtime(), options.rounds)


if __name__ == "__main__":
    main()
