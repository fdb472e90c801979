"""Counts the tests in report folders: prints `passed failed skipped`.

A folder holds ctest.xml, with gtest/<program>.xml for each GoogleTest program that ctest ran, or the report of one run:
pytest.xml, gtest.xml.
A program of ctest counts as its tests; if it has no report, or failed without a failed test (a crash, a sanitizer's
finding at its end), it counts as one failed test more.
"""

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path


def count_cases(report: Path) -> tuple[int, int, int]:
    passed = failed = skipped = 0
    for case in ElementTree.parse(report).iter("testcase"):
        if case.get("status") == "notrun":  # left out by GTEST_FILTER
            continue
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif case.find("skipped") is not None or case.get("result") == "skipped":
            skipped += 1
        else:
            passed += 1
    return passed, failed, skipped


def count_ctest(folder: Path) -> tuple[int, int, int]:
    passed = failed = skipped = 0
    for program in ElementTree.parse(folder / "ctest.xml").iter("testcase"):
        if program.find("skipped") is not None:  # it said that it cannot run here, and why
            skipped += 1
            continue
        is_good = program.get("status") == "run"
        report = folder / "gtest" / f"{program.get('name')}.xml"
        try:
            counts = count_cases(report)
        except (OSError, ElementTree.ParseError):
            counts = (1, 0, 0) if is_good else (0, 1, 0)
        passed += counts[0]
        failed += counts[1] + (0 if is_good or counts[1] else 1)
        skipped += counts[2]
    return passed, failed, skipped


def main(folders: list[str]) -> None:
    total = [0, 0, 0]
    for name in folders:
        folder = Path(name)
        if (folder / "ctest.xml").exists():
            counts = count_ctest(folder)
        elif (folder / "gtest.xml").exists():
            counts = count_cases(folder / "gtest.xml")
        else:
            counts = count_cases(folder / "pytest.xml")
        total = [a + b for a, b in zip(total, counts)]
    print(*total)


if __name__ == "__main__":
    main(sys.argv[1:])
