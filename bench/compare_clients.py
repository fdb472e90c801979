"""Times clients beside each other, in one run, as ratios.

    python bench/compare_clients.py     # of the programs in build/bin, with the package tessera on the path

C++: a raw socket, cpp-httplib, Boost.Beast and the SDK call one tessera. Python: tesseract-core's SDK 1.15.0 and the
package tessera call tessera and the Python runtime. All call `identity` with one float32 array. Each round runs every
client in a process of its own, in turn; a figure is the median of the rounds' medians.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile

from compare import show
from servers import Server, Servers, run_timer

CXX_CLIENTS = ("raw", "httplib", "beast", "sdk")
# name: (elements, calls per round)
CASES = {"3 floats": (3, 2000), "64 MiB": (16 << 20, 7)}
PYTHON_CASES = {
    # name: (elements, calls, format)
    "3 floats, json": (3, 400, "json"),
    "64 MiB, default encoding": (16 << 20, 3, None),
    "64 MiB, base64": (16 << 20, 5, "json+base64"),
    "64 MiB, binref": (16 << 20, 5, "json+binref"),
}


def call_from_python(module: str, url: str, elements: int, count: int, output_format: str | None, folder: str) -> None:
    """What a round in Python does; prints the median in microseconds."""
    import importlib
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
    print(statistics.median(times))


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
            times = " | ".join(show(value) for value in (raw, httplib, beast, sdk, sdk - raw))
            print(f"| {case}, {kind} | {times} | {httplib / beast:.2f} |", flush=True)


def compare_threads(place: str, rounds: int) -> None:
    """Small calls of 64 threads: by one client object, and by one for each."""
    found = {"shared": [], "each": []}
    for _ in range(rounds):
        for kind, values in found.items():
            values.append(run_timer("tessera_client_timer", kind, place, 64, 100)["per_second"])
    shared, each = (statistics.median(values) for values in found.values())
    print(f"\n64 threads in C++: {shared:,.0f} calls/s with one client, {each:,.0f} with one each ({shared / each:.2f}x)")


def compare_python(tessera: Server, runtime: Server, rounds: int) -> None:
    print("\n| Python | tesseract-core's SDK | tessera | ratio | over the Unix socket | ratio |")
    print("| --- | --- | --- | --- | --- | --- |")
    for case, (elements, count, output_format) in PYTHON_CASES.items():
        for name, server in (("tessera", tessera), ("runtime", runtime)):
            url = f"http://127.0.0.1:{server.port}"
            clients = [("tesseract_core", url), ("tessera", url)]
            if server.unix_path:
                clients.append(("tessera", f"unix:{server.unix_path}"))
            found = [[] for _ in clients]
            for _ in range(rounds):
                for times, (module, where) in zip(found, clients):
                    command = [sys.executable, __file__, "--call", module, where, str(elements), str(count),
                               output_format or "", str(server.folder)]  # fmt: skip
                    times.append(float(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout))
            medians = [statistics.median(times) for times in found]
            line = f"| {case}, on {name} | {show(medians[0])} | {show(medians[1])} | {medians[0] / medians[1]:.1f}x |"
            if len(medians) == 3:
                line += f" {show(medians[2])} | {medians[0] / medians[2]:.1f}x |"
            print(line, flush=True)


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
