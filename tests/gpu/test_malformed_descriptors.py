"""What a client may write in the place of a descriptor: 422 with the reason, and CUDA is not asked."""

import base64

import numpy as np
import pytest
from gpu_harness import machine
from gpu_harness.buffers import Buffer, lent, message, uuids

UUID, HANDLE, PLACE, SIZE = range(4)
NOBODY = "00000000-0000-0000-0000-000000000001"
PATTERN = "array_non_numeric"  # what the form of a descriptor refuses is no array at all
DECODE = "array_decode_error"


def changed(part: int, value: str):
    def change(parts: list[str]) -> str:
        return ":".join([*parts[:part], value, *parts[part + 1 :]])

    return change


def encoded(size_bytes: int) -> str:
    return base64.b64encode(b"\x01" * size_bytes).decode()


CASES = {
    "nothing": (lambda parts: "", PATTERN),
    "colons": (lambda parts: ":::", PATTERN),
    "no uuid": (changed(UUID, ""), PATTERN),
    "upper uuid": (lambda parts: parts[0].upper() + ":" + ":".join(parts[1:]), PATTERN),
    "uuid with prefix": (lambda parts: "GPU-" + ":".join(parts), PATTERN),
    "uuid without dashes": (lambda parts: parts[0].replace("-", "") + ":" + ":".join(parts[1:]), PATTERN),
    "ordinal": (changed(UUID, "0"), PATTERN),
    "uuid of nobody": (changed(UUID, NOBODY), DECODE),
    "uuid of a path": (changed(UUID, "../../../../../../../../dev/nvidia0"), PATTERN),
    "handle of 0 bytes": (changed(HANDLE, ""), DECODE),
    "handle of 1 byte": (changed(HANDLE, encoded(1)), DECODE),
    "handle of 63 bytes": (changed(HANDLE, encoded(63)), DECODE),
    "handle of 65 bytes": (changed(HANDLE, encoded(65)), DECODE),
    "handle of 128 bytes": (changed(HANDLE, encoded(128)), DECODE),
    "handle of 1 MiB": (changed(HANDLE, encoded(1 << 20)), DECODE),
    "handle without padding": (lambda parts: ":".join(parts).replace("==", ""), DECODE),
    "handle with padding within": (changed(HANDLE, "AAAA=" + "A" * 81 + "=="), DECODE),
    "handle of other letters": (changed(HANDLE, "-_" + "A" * 84 + "=="), PATTERN),
    "handle of spaces": (changed(HANDLE, " " * 88), PATTERN),
    "negative offset": (changed(PLACE, "-4"), PATTERN),
    "signed offset": (changed(PLACE, "+4"), PATTERN),
    "hexadecimal offset": (changed(PLACE, "0x10"), PATTERN),
    "offset with a point": (changed(PLACE, "4.0"), PATTERN),
    "offset with an exponent": (changed(PLACE, "1e3"), PATTERN),
    "no offset": (changed(PLACE, ""), PATTERN),
    "offset of spaces": (changed(PLACE, " 4"), PATTERN),
    "offset past the end": (changed(PLACE, "4"), DECODE),
    "offset at the end": (changed(PLACE, "4000"), DECODE),
    "offset near 2^63": (changed(PLACE, str(2**63 - 4)), DECODE),
    "offset that wraps": (changed(PLACE, str(2**64 - 4000)), DECODE),
    "offset before the array": (changed(PLACE, str(2**64 - 256)), DECODE),
    "offset of 2^64": (changed(PLACE, str(2**64)), DECODE),
    "offset of 100 digits": (changed(PLACE, "9" * 100), DECODE),
    "negative size": (changed(SIZE, "-1"), PATTERN),
    "size of 0": (changed(SIZE, "0"), DECODE),
    "size below the array": (changed(SIZE, "3999"), DECODE),
    "size of 2^64": (changed(SIZE, str(2**64)), DECODE),
    "no size": (changed(SIZE, ""), PATTERN),
    "three parts": (lambda parts: ":".join(parts[:3]), PATTERN),
    "five parts": (lambda parts: ":".join([*parts, "0"]), PATTERN),
    "trailing colon": (lambda parts: ":".join([*parts, ""]), PATTERN),
    "trailing space": (lambda parts: ":".join(parts) + " ", PATTERN),
    "trailing line": (lambda parts: ":".join(parts) + "\n", PATTERN),
    "trailing nul": (lambda parts: ":".join(parts) + "\0", PATTERN),
    "a million colons": (lambda parts: ":" * 1_000_000, PATTERN),
}


def opened(daemon) -> int:
    return machine.calls("cuIpcOpenMemHandle_v2", daemon.pid) + machine.calls("cuIpcOpenMemHandle", daemon.pid)


@pytest.fixture
def buffer():
    with Buffer(4000) as memory:
        memory.write(np.arange(1000, dtype="float32"))
        yield memory


@pytest.mark.parametrize("case", CASES)
def test_a_malformed_descriptor_is_refused_before_cuda_sees_it(places, buffer, case):
    change, kind = CASES[case]
    reference = change(buffer.reference().split(":"))
    before, calls = opened(places), machine.calls("cuMemAlloc_v2", places.pid)
    answer = places.client().apply({"x": message(reference, [1000]), "place": "same"})
    assert answer.status == 422, answer.body[:500]
    (problem,) = answer.json()["detail"]
    assert (problem["type"], problem["loc"]) == (kind, ["body", "inputs", "x"])
    if kind == DECODE:
        assert problem["ctx"]["encoding"] == "cuda_ipc" and len(problem["ctx"]["error"]) > 20
    assert (opened(places), machine.calls("cuMemAlloc_v2", places.pid)) == (before, calls)


@pytest.mark.parametrize("case", [name for name in CASES if CASES[name][1] == DECODE and name != "size below the array"])
def test_the_check_asks_for_the_same(places, case):
    with Buffer(256) as memory:
        reference = CASES[case][0](memory.reference().split(":"))
        before = opened(places)
        body = {"gpu_transport": "cuda_ipc", "array": message(reference, [256], "uint8"), "expected": encoded(256)}
        answer = places.client().request("POST", "/check_gpu_transport", body).json()
    assert answer["ok"] is False and answer["reason"].startswith("the Tesseract could not exchange GPU memory")
    assert opened(places) == before


@pytest.mark.parametrize("shape", [[-1], [2**62], [2**63], [1 << 40, 1 << 40], [2**31, 2**31, 4], [1001], [10**30]])
def test_a_shape_that_does_not_fit_is_refused_before_cuda_sees_it(places, buffer, shape):
    before = opened(places)
    answer = places.client().apply({"x": message(buffer.reference(), shape)})
    assert answer.status == 422 and answer.json()["detail"][0]["loc"] == ["body", "inputs", "x"]
    assert opened(places) == before


@pytest.mark.parametrize(("offset", "size"), [(4000, 1 << 30), (1 << 40, 1 << 50), (2**64 - 4096, 2**64 - 1), (4, 4004)])
def test_what_lies_past_the_real_allocation_is_never_read(places, buffer, offset, size):
    """The client may lie about the size of its allocation; the driver does not."""
    copies = machine.calls("cuMemcpyDtoDAsync_v2", places.pid)
    answer = places.client().apply({"x": message(buffer.reference(offset, size), [1000])})
    assert answer.status == 422
    assert "4000" in answer.json()["detail"][0]["ctx"]["error"]
    assert machine.calls("cuMemcpyDtoDAsync_v2", places.pid) == copies


def test_handles_that_nobody_made_are_refused_by_the_driver(places):
    reference = f"{uuids()[0]}:{base64.b64encode(bytes(64)).decode()}:0:4000"
    for _ in range(3):
        answer = places.client().apply({"x": message(reference, [1000])})
        assert answer.status == 422 and "handle_invalid" in answer.json()["detail"][0]["ctx"]["error"]
    assert machine.counts(places.pid).live_mappings == places.gpu()["counters"]["handles_opened"] - places.gpu()[
        "counters"]["handles_closed"]


def test_the_daemon_serves_on_after_all_of_it(places):
    with lent([[1.0, 2.0]]) as x:
        answer = places.client().apply({"x": x, "place": "host"}, accept="application/json")
    assert answer.json()["y"]["data"]["buffer"] == [[1.0, 2.0]]
    assert places.leases()["total"] == 0
