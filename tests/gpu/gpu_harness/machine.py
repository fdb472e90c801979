"""What the stand-in driver counts, of every process of its machine."""

import ctypes
import functools


class Counts(ctypes.Structure):
    """As TesseraStandInCounts of tessera/stand_in/control.h."""

    _fields_ = [
        ("live_allocations", ctypes.c_uint64),
        ("allocated_bytes", ctypes.c_uint64),
        ("live_mappings", ctypes.c_uint64),
        ("mapped_bytes", ctypes.c_uint64),
        ("contexts", ctypes.c_uint64),
    ]


@functools.cache
def _driver() -> ctypes.CDLL:
    driver = ctypes.CDLL("libcuda.so.1")
    assert driver.cuInit(0) == 0
    driver.tessera_stand_in_calls.restype = ctypes.c_int64
    driver.tessera_stand_in_used_bytes.restype = ctypes.c_uint64
    return driver


def counts(pid: int = 0) -> Counts:
    """What a process has now, or had when it died; 0 is this process."""
    found = Counts()
    assert _driver().tessera_stand_in_counts(pid, ctypes.byref(found)) == 0, f"no process {pid}"
    return found


def calls(function: str, pid: int = 0) -> int:
    """How often a process called a function of the driver."""
    number = _driver().tessera_stand_in_calls(pid, function.encode())
    assert number >= 0, f"no process {pid}, or no function {function}"
    return number


def used_bytes(gpu: int = 0) -> int:
    """Bytes taken on a GPU, by all processes that live."""
    return _driver().tessera_stand_in_used_bytes(gpu)
