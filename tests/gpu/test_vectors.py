"""The recorded exchanges of GPU arrays hold here (tests/vectors/gpu and tests/vectors/http/sdk_gpu.json)."""

import json
from pathlib import Path

import pytest
from gpu_harness.daemons import DONE
from gpu_harness.replay import Replay

VECTORS = Path(__file__).resolve().parent.parent / "vectors"
GPUS = ["fb564b5a-c21d-cedd-2893-0cd098526413", "fefd704f-c99e-2b98-83fc-a6c13d006d9b"]

# Files that a daemon plays which was started otherwise.
STARTED = {
    "disabled": {"transport": None},
    "no_gpu": {"without_gpu": True},
    "forbidden_host_copy": {"TESSERACT_FORBID_DEVICE_HOST_COPY": "1"},
}

# Where we differ from what is recorded, and why. `status` and `says` are what holds here instead.
DIFFERENT = {
    "differ_long_handle": ("a handle has 64 bytes", 422, "handle"),
    "differ_offset_past_the_end": ("an array lies within its allocation", 422, "offset"),
    "descriptor_size_ignored": ("an array lies within what the client says of its allocation", 422, "allocation of 1"),
    "raw_strided": ("strided arrays are packed on the device", 200, "cuda_ipc"),
    "descriptor_not_base64": ("the recorded text is an error of Python", 422, "its handle is not base64"),
    "check_three_parts": ("the recorded text is an error of Python", 200, "descriptor"),
    "check_upper_case": ("the check asks for the form of a descriptor, as inputs do", 200, "descriptor"),
}
FREED_BEFORE = {"descriptor_freed"}


def files():
    return sorted(path.stem for path in (VECTORS / "gpu").glob("*.json"))


def pairs_of(headers: dict[str, str]) -> list[tuple[str, str]]:
    """A header that came on two lines is recorded as one."""
    pairs = []
    for name, value in headers.items():
        pairs += [(name, line) for line in value.split(" (and, on a second line) ")]
    return pairs


@pytest.fixture(scope="module")
def daemon_of(start_daemon, places):
    """The daemon that plays a file."""
    started = {}

    def get(name: str):
        if name not in STARTED:
            return places
        if name not in started:
            started[name] = start_daemon("places", **STARTED[name])
        return started[name]

    return get


@pytest.mark.parametrize("name", files())
def test_recorded_exchange_holds(daemon_of, name):
    """Each request gets the recorded answer: status, headers, and the body with all that it leads to."""
    daemon = daemon_of(name)
    file = json.loads((VECTORS / "gpu" / f"{name}.json").read_text())
    # What the size of an allocation is said to be is what these are about.
    replay = Replay(daemon.client(), GPUS, daemon.leases, 4096 if name == "descriptor_size_ignored" else None)
    is_fresh = file["exchanges"][0]["response"].get("json", {}).get("pending") == 0
    try:
        for exchange in file["exchanges"]:
            request, recorded = exchange["request"], exchange["response"]
            text = request.get("text") or ""
            replay.prepare(text)
            if name in FREED_BEFORE:
                replay.free()
            answer, kept = replay.send(request["method"], request["path"], pairs_of(request["headers"]), text, recorded)
            if name in DIFFERENT:
                _, status, says = DIFFERENT[name]
                assert answer.status == status and says in answer.body.decode()
            elif name == "raw_openapi":
                assert recorded["json"].items() <= answer.json().items()
            else:
                replay.compare(replay.ours(text), recorded, answer)
                if is_fresh and "pending" in recorded.get("json", {}):
                    assert kept == recorded["json"]["pending"]
    finally:
        replay.close()
    assert daemon.leases()["total"] == 0


def test_what_the_sdk_sends_gets_the_recorded_answers(start_daemon):
    """tests/vectors/http/sdk_gpu.json, request by request."""
    daemon = start_daemon("doubler")
    file = json.loads((VECTORS / "http" / "sdk_gpu.json").read_text())
    gpus = ["11112222-3333-4444-8555-666677778880", "11112222-3333-4444-8555-666677778881"]
    replay = Replay(daemon.client(), gpus, daemon.leases)
    for exchange in file["exchanges"]:
        request, recorded = exchange["request"], exchange["response"]
        headers = [pair for pair in request["headers"] if pair[0] not in ("Host", "Content-Length", "Connection")]
        replay.prepare(request["body"])
        answer, kept = replay.send(request["method"], request["target"], headers, request["body"], recorded)
        if request["target"] == "/openapi.json":
            assert answer.json()["x-supported-gpu-transports"] == ["none", "cuda_ipc"]
        else:
            replay.compare(replay.ours(request["body"]), recorded, answer)
        if any(name == DONE for name, _ in headers):
            assert kept == 0
    replay.close()
    assert daemon.leases()["total"] == 0
