"""Calls of the Tesseract `places`, and what its machine can be made to do."""

from gpu_harness import machine
from gpu_harness.buffers import lent, read
from gpu_harness.daemons import DONE

PAGE = 2 << 20
NEW = {"x": [1.0, 2.0, 3.0], "place": "new"}
PLACES = ("same", "new", "offset", "pages", "gpu1", "pool", "managed", "strided")


def stand_in(**knobs) -> dict[str, str]:
    """Variables of the stand-in driver."""
    return {f"TESSERA_STAND_IN_{name.upper()}": str(value) for name, value in knobs.items()}


def apply(daemon, values, place: str = "same", done: str = "", gpu: int = 0):
    """One call with a GPU array; gives the answer, and the values that came back."""
    with lent(values, gpu) as x:
        answer = daemon.client().apply({"x": x, "place": place}, done=done)
        assert answer.status == 200, answer.body
        return answer, read(answer.json()["y"])


def holds_nothing(daemon) -> bool:
    """Whether a daemon has no memory and no mapping; freeing and closing are done a moment after an answer."""
    left = machine.counts(daemon.pid)
    return (left.live_allocations, left.live_mappings) == (0, 0)


def name_done(daemon, *ids) -> None:
    assert daemon.client().get("/health", headers={DONE: ",".join(ids)}).status == 200
