"""What goes wrong with GPU memory between processes, as its users report it, does not go wrong here.

FAILURE_MODES.md lists which failure is tested where. What the stand-in driver does is set by its variables.
"""

import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest
from gpu_harness import machine
from gpu_harness.buffers import Buffer, lent, message, on_gpu, read, uuids
from gpu_harness.calls import PAGE, PLACES, apply, holds_nothing, stand_in
from gpu_harness.daemons import DONE, IPC, environment
from gpu_harness.waiting import wait_until


# --- which way the data took ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "accept", "way"),
    [
        ("same", IPC, "in_place=1, staged=0, through_host=0"),
        ("new", IPC, "in_place=1, staged=0, through_host=0"),
        ("offset", IPC, "in_place=0, staged=1, through_host=0"),
        ("pages", IPC, "in_place=1, staged=0, through_host=0"),
        ("pool", IPC, "in_place=0, staged=1, through_host=0"),
        ("managed", IPC, "in_place=0, staged=1, through_host=0"),
        ("new", "application/json", "in_place=0, staged=0, through_host=1"),
        ("host", IPC, None),
    ],
)
def test_every_answer_says_which_way_its_arrays_took(places, place, accept, way):
    copies = places.metric("tessera_gpu_host_copies_total")
    with lent([1.0, 2.0]) as x:
        answer = places.client().apply({"x": x, "place": place}, accept=accept, done=None)
    assert answer.headers.get("tessera-gpu-arrays") == way
    assert places.metric("tessera_gpu_host_copies_total") - copies == (1 if accept != IPC else 0)


def test_an_answer_says_which_inputs_went_through_the_host(start_daemon):
    """Those of a Tesseract that takes host arrays alone."""
    daemon = start_daemon("vectoradd")
    with Buffer(64) as buffer:
        buffer.write(np.ones(3))
        x = message(buffer.reference(), [3], "float64")
        answer = daemon.client().apply({"a": x, "b": x})
        assert answer.headers["tessera-gpu-arrays"] == "in_place=0, staged=0, through_host=0, inputs_through_host=2"
        assert daemon.metric("tessera_gpu_host_copies_total") == 2
        assert "tessera-gpu-arrays" not in daemon.client().apply({"a": [1.0], "b": [1.0]}).headers


def test_host_copies_can_be_forbidden(start_daemon):
    daemon = start_daemon("places", TESSERACT_FORBID_DEVICE_HOST_COPY="1")
    answer = daemon.client().apply({"x": [1.0], "place": "new"}, accept="application/json")
    assert answer.status == 500
    assert daemon.client().apply({"x": [1.0], "place": "new"}).status == 200
    assert daemon.metric("tessera_gpu_host_copies_total") == 0


@pytest.mark.parametrize("forbidden", ["0", "1"])
def test_host_copies_can_be_forbidden_on_the_command_line(build, tmp_path, forbidden):
    module = build / "lib" / "tessera_tests" / "places.so"
    run = subprocess.run(
        [build / "bin" / "tessera", "run", module, "apply", "-o", tmp_path, '{"inputs": {"x": [1.0], "place": "new"}}'],
        env=environment({"TESSERACT_FORBID_DEVICE_HOST_COPY": forbidden}), capture_output=True, text=True, check=False)
    assert (run.returncode == 0) == (forbidden == "0"), run.stderr
    assert ("TESSERACT_FORBID_DEVICE_HOST_COPY forbids" in run.stderr) == (forbidden == "1")


# --- memory that has no handle --------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["offset", "pool", "managed"])
def test_memory_without_a_handle_is_staged_and_no_call_fails(start_daemon, place):
    """Pointer attributes tell; a call that fails on purpose would tell others too."""
    daemon = start_daemon("places")
    values = np.arange(100, dtype="float32")
    answer, received = apply(daemon, values, place)
    np.testing.assert_array_equal(received, values)
    before = machine.calls("cuIpcGetMemHandle", daemon.pid)
    _, received = apply(daemon, values, place, done=answer.lease)
    np.testing.assert_array_equal(received, values)
    # The staging buffer's handle is remembered, and none was asked of the author's memory.
    assert machine.calls("cuIpcGetMemHandle", daemon.pid) == before == 1


def test_the_daemon_never_loads_the_cuda_runtime(places):
    """Which keeps a last error that other libraries of the process would find."""
    apply(places, [1.0])
    assert "libcudart" not in Path(f"/proc/{places.pid}/maps").read_text()


# --- one process, one mapping ---------------------------------------------------------------------------------------


def test_what_a_daemon_exported_comes_back_to_it(start_daemon):
    """CUDA refuses to open a handle in its own process; the array is found without it."""
    daemon = start_daemon("places")
    values = np.arange(1000, dtype="float32")
    for place in ("new", "offset", "pages", "pool"):
        first = daemon.client().apply({"x": values.tolist(), "place": place})
        opened = daemon.counter("handles_opened")
        second = daemon.client().apply({"x": first.json()["y"], "place": "new"})
        assert second.status == 200, second.body
        np.testing.assert_array_equal(read(second.json()["y"]), values)
        third = daemon.client().apply({"x": second.json()["y"], "place": "same"})
        np.testing.assert_array_equal(read(third.json()["y"]), values)
        assert daemon.counter("handles_opened") == opened
    assert daemon.counter("imports_same_process") == 8


def test_what_was_named_done_does_not_come_back(start_daemon):
    daemon = start_daemon("places")
    first = daemon.client().apply({"x": [1.0], "place": "new"})
    assert daemon.client().get("/health", headers={DONE: first.lease}).status == 200
    answer = daemon.client().apply({"x": first.json()["y"]})
    assert answer.status == 422
    assert "is not exported (any more)" in answer.json()["detail"][0]["msg"]
    assert machine.calls("cuIpcOpenMemHandle_v2", daemon.pid) == 0


def test_a_handle_is_opened_once_however_often_it_comes(start_daemon):
    daemon = start_daemon("places", "--num-workers", "4")
    wrong = []
    with Buffer(4 * PAGE) as buffer:
        buffer.write(np.arange(PAGE, dtype="float32"))

        def call(number: int) -> None:
            client = daemon.client()
            for step in range(20):
                first = 1000 * number + step
                x = message(buffer.reference(4 * first), [50])
                answer = client.apply({"x": x, "place": "host"}, accept="application/json")
                if answer.json()["y"]["data"]["buffer"] != [float(first + i) for i in range(50)]:
                    wrong.append((number, step))

        threads = [threading.Thread(target=call, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []
    assert machine.calls("cuIpcOpenMemHandle_v2", daemon.pid) == 1
    assert daemon.counter("mapping_hits") == 79


def test_memory_freed_and_allocated_again_is_not_taken_for_the_old(start_daemon):
    """The same address, other bytes; the daemon still has the old memory mapped, which is in the way (208)."""
    daemon = start_daemon("places")
    addresses = set()
    for number in range(5):
        with Buffer(PAGE) as buffer:
            addresses.add(buffer.address)
            values = np.full(100, number, "float32")
            buffer.write(values)
            x = message(buffer.reference(), [100])
            answer = daemon.client().apply({"x": x, "place": "host"}, accept="application/json")
        assert answer.json()["y"]["data"]["buffer"] == values.tolist()
    assert len(addresses) < 5, "the driver did not give the address again"
    assert daemon.counter("stale_mappings") > 0


def test_operators_see_memory_that_only_a_mapping_keeps(start_daemon):
    daemon = start_daemon("places")
    before = machine.used_bytes()
    with Buffer(8 * PAGE) as buffer:
        x = message(buffer.reference(), [10])
        assert daemon.client().apply({"x": x, "place": "host"}).status == 200
    assert machine.used_bytes() >= before + 8 * PAGE  # freed, but mapped
    assert daemon.gpu()["counters"]["mapped_bytes"] == daemon.metric("tessera_gpu_mapped_bytes") == 8 * PAGE
    assert daemon.stop() == 0
    assert machine.used_bytes() <= before


def test_many_mappings_are_bounded_by_what_the_process_can_address(start_daemon):
    """Idle ones make room; each call works."""
    daemon = start_daemon("places", **stand_in(address_limit_mib=256))
    for number in range(20):
        with Buffer(32 * PAGE) as buffer:
            buffer.write(np.full(4, number, "float32"))
            x = message(buffer.reference(), [4])
            answer = daemon.client().apply({"x": x, "place": "host"}, accept="application/json")
            assert answer.status == 200, answer.body
            assert answer.json()["y"]["data"]["buffer"] == [number] * 4


def test_the_daemon_needs_no_ipc_events(start_daemon, tmp_path):
    """Which rendezvous elsewhere than memory does, and fail where that place is not shared."""
    daemon = start_daemon("places", **stand_in(event_root=tmp_path / "nowhere"))
    for place in PLACES:
        apply(daemon, [1.0, 2.0], place, done=None)
    for name in ("cuIpcGetEventHandle", "cuIpcOpenEventHandle"):
        assert machine.calls(name, daemon.pid) == 0


# --- which GPU ------------------------------------------------------------------------------------------------------


def test_a_gpu_is_known_by_its_uuid_whatever_its_number(start_daemon):
    daemon = start_daemon("places", CUDA_VISIBLE_DEVICES="1,0")
    assert [gpu["uuid"] for gpu in daemon.gpu()["gpus"]] == uuids()[::-1]
    for number in (0, 1):
        answer, received = apply(daemon, [1.0, 2.0], gpu=number)
        assert answer.json()["y"]["data"]["buffer"].startswith(uuids()[number])
        np.testing.assert_array_equal(received, [1.0, 2.0])


def test_a_gpu_that_the_daemon_does_not_see_is_named(start_daemon):
    daemon = start_daemon("places", CUDA_VISIBLE_DEVICES="1")
    with lent([1.0]) as x:
        answer = daemon.client().apply({"x": x})
    assert answer.status == 422
    assert f"UUID {uuids()[0]}, which this process cannot see" in answer.json()["detail"][0]["msg"]
    assert machine.calls("cuIpcOpenMemHandle_v2", daemon.pid) == 0


def test_contexts_are_made_where_arrays_are_and_nowhere_else(start_daemon):
    """A context takes some 500 MiB of a GPU."""
    daemon = start_daemon("places", **stand_in(context_mib=0))
    assert machine.counts(daemon.pid).contexts == 0
    apply(daemon, [1.0], "same", gpu=1)
    assert machine.counts(daemon.pid).contexts == 1


def test_an_array_goes_to_a_gpu_without_peer_access(start_daemon):
    daemon = start_daemon("places", **stand_in(p2p="none"))
    answer, received = apply(daemon, [1.0, 2.0], "gpu1")
    assert answer.json()["y"]["data"]["buffer"].startswith(uuids()[1])
    np.testing.assert_array_equal(received, [1.0, 2.0])


def test_another_instance_of_a_divided_gpu_gets_its_reason(start_daemon):
    daemon = start_daemon("places", **stand_in(mig="0=2"))
    (gpu,) = daemon.gpu()["gpus"]
    assert gpu["uuid"] not in uuids()
    with lent([1.0]) as x:
        body = {"gpu_transport": "cuda_ipc", "array": {**x, "shape": [256], "dtype": "uint8"}, "expected": ""}
        body["array"]["data"]["buffer"] = message_of_256(x)
        answer = daemon.client().request("POST", "/check_gpu_transport", body).json()
    assert answer["ok"] is False and uuids()[0] in answer["reason"]


def message_of_256(x: dict) -> str:
    """The descriptor of an allocation that claims to be large enough for the check."""
    return ":".join([*x["data"]["buffer"].split(":")[:3], "4096"])


# --- what the driver refuses ----------------------------------------------------------------------------------------

REASONS = {
    1: "handle_invalid",
    2: "out_of_memory",
    201: "pid_collision",
    205: "map_failed",
    217: "no_peer_access",
    400: "handle_invalid",
    800: "no_permission",
    801: "ipc_unsupported",
    999: "cuda_failed",
}


@pytest.mark.parametrize("code", REASONS)
def test_an_open_that_fails_gives_its_reason_and_leaves_nothing(start_daemon, code):
    daemon = start_daemon("places", **stand_in(faults=f"cuIpcOpenMemHandle_v2:1+:{code}"))
    allocations = machine.counts(daemon.pid).live_allocations
    with lent([1.0]) as x:
        answer = daemon.client().apply({"x": x})
    assert answer.status == 422
    error = answer.json()["detail"][0]["ctx"]["error"]
    assert f"({REASONS[code]})" in error and len(error) > 40
    assert "bad handle" not in error
    assert error.count("cuIpcOpenMemHandle") == 1
    with Buffer(256) as buffer:
        body = {"gpu_transport": "cuda_ipc", "array": message(buffer.reference(), [256], "uint8"), "expected": ""}
        check = daemon.client().request("POST", "/check_gpu_transport", body).json()
    assert check["ok"] is False and f"({REASONS[code]})" in check["reason"]
    assert check["reason"].count("cuIpcOpenMemHandle") == 1

    def left() -> tuple[int, int]:
        counts = machine.counts(daemon.pid)
        return counts.live_allocations, counts.live_mappings

    wait_until(lambda: left() == (allocations, 0), "nothing is left")
    # The daemon goes on: what needs no handle of others works.
    assert daemon.client().apply({"x": [1.0], "place": "new"}).status == 200


@pytest.mark.parametrize("function", ["cuMemAlloc_v2", "cuMemcpyDtoDAsync_v2", "cuIpcGetMemHandle", "cuStreamSynchronize"])
def test_a_call_that_fails_once_fails_one_request(start_daemon, function):
    """No memory is left behind, and the next call works."""
    daemon = start_daemon("places", "--cuda-ipc-pool-fraction", "0", **stand_in(faults=f"{function}:1:999"))
    statuses = []
    for _ in range(4):
        with lent(np.arange(1000.0)) as x:
            answer = daemon.client().apply({"x": x, "place": "new"})
            statuses.append(answer.status)
            if answer.lease:
                assert daemon.client().get("/health", headers={DONE: answer.lease}).status == 200
    assert statuses[-2:] == [200, 200] and set(statuses[:2]) <= {200, 422, 500}
    assert statuses[0] != 200 or machine.calls(function, daemon.pid) == 0
    wait_until(lambda: holds_nothing(daemon), "the memory comes back")


@pytest.mark.parametrize(
    ("knobs", "reason"),
    [
        ({"stub": 1}, "stub_driver"),
        ({"devices": 0}, "no_device"),
        ({"version": 11000}, "driver_too_old"),
        ({"compute_mode": 2}, "prohibited_mode"),
        ({"attributes": "18=1,125=0"}, "ipc_unsupported"),
        ({"faults": "cuInit:*:999"}, None),
    ],
)
def test_a_daemon_says_at_its_start_why_the_transport_cannot_work(start_daemon, knobs, reason):
    daemon = start_daemon("places", **stand_in(**knobs))
    state = daemon.gpu()
    assert state["works"] is False and len(state["why"]) > 20
    assert reason is None or state["reason"] == reason
    assert state["reason"] in daemon.log() and "is offered, but cannot work here" in daemon.log()
    # It is offered all the same, and the check says why it does not work.
    assert "cuda_ipc" in daemon.client().get("/openapi.json").json()["x-supported-gpu-transports"]
    assert daemon.client().apply({"x": [1.0], "place": "host"}).status == 200


# --- neighbours -----------------------------------------------------------------------------------------------------


def test_a_handle_shows_no_byte_of_others(start_daemon):
    """An importer can read the whole allocation that a handle opens."""
    from tesseract_core.runtime.cuda import api

    import base64

    daemon = start_daemon("places")
    secret = np.full(300_000, 7.0, "float32")
    answer, _ = apply(daemon, secret, "new")
    assert daemon.client().get("/health", headers={DONE: answer.lease}).status == 200
    for place in ("new", "same", "offset", "pool", "scalar"):
        answer = daemon.client().apply({"x": [1.0], "place": place} if place != "same" else {"x": [1.0], "place": "new"})
        _, handle, offset, size = answer.json()["y"]["data"]["buffer"].split(":")
        assert int(size) % PAGE == 0
        with on_gpu(0):
            address = api.ipc_open_mem_handle(base64.b64decode(handle))
            block = np.empty(int(size), "uint8")
            api.memcpy_device_to_host(block.ctypes.data, address, block.nbytes)
            api.ipc_close_mem_handle(address)
        array = block[int(offset) : int(offset) + 4].view("float32")
        assert array[0] == 1.0
        block[int(offset) : int(offset) + 4] = 0
        assert not block.any(), f"{np.count_nonzero(block)} bytes of others at {place}"


def test_a_mapping_outlives_the_daemon_that_exported(start_daemon):
    from tesseract_core.runtime.cuda import api

    import base64

    daemon = start_daemon("places")
    answer = daemon.client().apply({"x": [1.0, 2.0, 3.0], "place": "new"})
    _, handle, offset, _ = answer.json()["y"]["data"]["buffer"].split(":")
    with on_gpu(0):
        address = api.ipc_open_mem_handle(base64.b64decode(handle))
        assert daemon.stop() == 0
        values = np.empty(3, "float32")
        api.memcpy_device_to_host(values.ctypes.data, address + int(offset), values.nbytes)
        api.ipc_close_mem_handle(address)
    np.testing.assert_array_equal(values, [1.0, 2.0, 3.0])


def test_an_idle_client_goes_on_after_its_lease_is_over(start_daemon):
    from tesseract_core import Tesseract

    daemon = start_daemon("places", "--exports-timeout", "1")
    view = Tesseract.from_url(daemon.url).with_encoding(gpu_transport="cuda_ipc")
    first = view.apply({"x": np.ones(3, "float32"), "place": "new"})["y"]
    wait_until(lambda: daemon.leases()["total"] == 0, "the lease is over")
    second = view.apply({"x": first, "place": "same"})["y"]
    np.testing.assert_array_equal(second.copy_to_host(), [1, 1, 1])
