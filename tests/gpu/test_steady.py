"""What a steady workload costs: counted, not timed."""

import subprocess

from gpu_harness import daemons, machine
from gpu_harness.waiting import LIMIT_S

CALLS = 10_000
COUNTED = ("cuIpcGetMemHandle", "cuIpcOpenMemHandle", "cuIpcOpenMemHandle_v2", "cuIpcCloseMemHandle", "cuMemAlloc_v2",
           "cuMemFree_v2", "cuDevicePrimaryCtxRetain")


def counted(pid: int) -> dict[str, int]:
    return {name: machine.calls(name, pid) for name in COUNTED}


def test_ten_thousand_calls_take_no_handle_open_none_and_allocate_nothing(start_daemon, build):
    daemon = start_daemon("places")
    client = subprocess.Popen([str(build / "bin" / "tessera_gpu_peer"), "steady", str(daemon.port), str(CALLS)],
                              env=daemons.environment({}), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert client.stdout.readline().startswith("before ")
    before = {pid: counted(pid) for pid in (daemon.pid, client.pid)}
    state = daemon.gpu()
    client.stdin.write("go on\n")
    client.stdin.flush()
    assert client.stdout.readline().startswith("after ")
    after = {pid: counted(pid) for pid in (daemon.pid, client.pid)}
    counters = daemon.gpu()["counters"]
    client.stdin.write("end\n")
    client.stdin.flush()
    assert client.wait(LIMIT_S) == 0
    assert after == before
    for name in ("handles_taken", "handles_opened", "handles_closed", "exports_staged", "stale_mappings"):
        assert counters[name] == state["counters"][name], name
    assert counters["exports_in_place"] == state["counters"]["exports_in_place"] + CALLS
    assert counters["mapping_hits"] == state["counters"]["mapping_hits"] + CALLS
    allocations = [gpu["pool"]["allocations"] for gpu in daemon.gpu()["gpus"]]
    assert allocations == [gpu["pool"]["allocations"] for gpu in state["gpus"]]
    assert daemon.leases()["total"] == 0
