"""Checks what the GPU kit wrote. Usage: check_results.py stand_in|no_driver RESULTS.json | libraries ROWS

The part `python` depends on what the machine has: here it says what it misses, and stand_in_libraries shows the rest.
"""

import json
import sys

PARTS = ["driver_conformance", "transport", "served", "bandwidth", "probes"]
LIBRARIES = ["PyTorch", "CuPy", "JAX"]
PROBES = [f"P{number}" for number in range(1, 15)]
# What the stand-in has not.
MAY_BE_SKIPPED = {
    "vectoradd_cuda",  # no kernels
    "P5 open in a second context",
    "P9 words in imported memory",
    # No right to make namespaces.
    "P2 equal numbers in two PID namespaces",
    "P9 event between processes with a /dev/shm each",
}
SIZES = ["1 KiB", "4 KiB", "16 KiB", "64 KiB", "256 KiB", "1 MiB", "4 MiB", "16 MiB"]


def check_stand_in(results, rows):
    assert results["failed"] == 0, [row for row in rows if row["state"] == "failed"]
    for part in results["parts"]:
        assert part["passed"] + part["answers"] > 0 or part["name"] == "python", part["name"]
    check_python(rows)
    for row in rows:
        if row["state"] == "skipped" and row["part"] not in ("driver_conformance", "python"):
            assert row["name"] in MAY_BE_SKIPPED and row["text"], row
    assert any(row["name"] == "vectoradd_cuda" and "kernels" in row["text"] for row in rows)
    for probe in PROBES:
        assert any(row["part"] == "probes" and row["name"].split()[0] == probe for row in rows), probe
    table = [row for row in rows if row["part"] == "bandwidth"]
    assert [row["name"] for row in table] == SIZES, table
    for row in table:
        figures = row["figures"]
        assert 0 < figures["copy_us"] and 0 < figures["copy_share_warm"] and 0 < figures["copy_share_cold"], row
    made_up = next(row for row in rows if "handle that was made up" in row["name"])
    assert "cuIpcOpenMemHandle" in made_up["text"], made_up
    assert results["machine"]["driver_version"] > 0 and results["machine"]["gpus"], results["machine"]


def check_python(rows):
    """Either there is no Python that the wheel goes with, or each library is there, or says that it is not."""
    part = [row for row in rows if row["part"] == "python"]
    if [row["name"] for row in part] == ["all"]:
        assert part[0]["text"].startswith("there is no Python 3.12 or later here"), part
        return
    assert part[0]["state"] == "passed" and "package is imported" in part[0]["name"], part
    for library in LIBRARIES:
        assert any(row["name"].startswith(library) for row in part), library


def check_no_driver(results, rows):
    others = [part for part in results["parts"] if part["name"] != "python"]
    assert sum(part["passed"] for part in others) == 0 and results["failed"] == 0, rows
    check_python(rows)
    for part in PARTS:
        reasons = [row["text"] for row in rows if row["part"] == part and row["state"] == "skipped"]
        assert reasons and all("libcuda" in reason for reason in reasons), (part, reasons)


def check_libraries(rows):
    for library in LIBRARIES:
        states = [row["state"] for row in rows if row["name"].startswith(f"{library}: ")]
        skipped = 1 if library == "JAX" else 0  # takes DLPack alone
        assert sorted(states) == ["answer", *["passed"] * (9 - skipped), *["skipped"] * skipped], rows


def main():
    kind, path = sys.argv[1:]
    if kind == "libraries":
        with open(path, encoding="utf-8") as file:
            check_libraries([json.loads(line) for line in file])
        return
    with open(path, encoding="utf-8") as file:
        results = json.load(file)
    assert [part["name"] for part in results["parts"]] == [*PARTS, "python"], results["parts"]
    rows = [{"part": part["name"], **row} for part in results["parts"] for row in part["rows"]]
    {"stand_in": check_stand_in, "no_driver": check_no_driver}[kind](results, rows)
    print(f"{path}: {len(rows)} rows are as they should be")


main()
