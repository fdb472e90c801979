"""Nobody reads what is not there yet, and who waits for the device does not make others wait.

The stand-in driver is slow where its variables say so.
"""

import contextlib
import json
import os
import threading

import numpy as np
import pytest
from gpu_harness import machine
from gpu_harness.buffers import Buffer, lent, message, read
from gpu_harness.calls import PAGE, PLACES, apply, stand_in
from gpu_harness.waiting import wait_until


@pytest.mark.parametrize("place", PLACES)
def test_nothing_leaves_the_daemon_before_it_is_there(start_daemon, place):
    """Work on the device is late; whoever does not wait reads what was there before."""
    daemon = delayed(start_daemon)
    for seed in range(3):
        values = np.random.default_rng(seed).normal(size=20_000).astype("float32")
        _, received = apply(daemon, values, place, done=None)
        np.testing.assert_array_equal(received, values)


def test_an_input_is_copied_in_before_the_answer(start_daemon):
    """Its client may write over it as soon as it has the answer."""
    daemon = delayed(start_daemon)
    with Buffer(PAGE) as buffer:
        for number in range(5):
            values = np.full(100_000, number, "float32")
            buffer.write(values)
            answer = daemon.client().apply({"x": message(buffer.reference(), [100_000]), "place": "same"})
            buffer.write(np.zeros(100_000, "float32"))
            np.testing.assert_array_equal(read(answer.json()["y"]), values)


def test_a_stream_that_still_reads_the_inputs_keeps_them(start_daemon):
    """Else they go to the next request, whose bytes the answer then shows."""
    daemon = start_daemon("places", "--num-workers", "4", **stand_in(delay_us=3000))
    wrong = []

    def call(number: int) -> None:
        client, done = daemon.client(), ""
        with Buffer(PAGE) as buffer:
            for step in range(20):
                values = np.full(10_000, 100 * number + step, "float32")
                buffer.write(values)
                answer = client.apply({"x": message(buffer.reference(), [10_000]), "place": "stream"}, done=done)
                done = answer.lease
                if not (read(answer.json()["y"]) == values).all():
                    wrong.append((number, step))

    threads = [threading.Thread(target=call, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


_delayed = []


def delayed(start_daemon):
    """A daemon on whose GPU each piece of work takes 5 ms before it begins."""
    if not _delayed:
        _delayed.append(start_daemon("places", **stand_in(delay_us=5000)))
    return _delayed[0]


def test_slow_closes_hold_up_nobody_else(start_daemon):
    """Closing waits for the device; even the calls whose inputs are closed do not wait for it."""
    count = 4
    daemon = start_daemon("places", "--cuda-ipc-pool-fraction", "0", **stand_in(close_us_per_mib=1_000_000))
    with contextlib.ExitStack() as stack:
        inputs = [stack.enter_context(lent(np.zeros(4))) for _ in range(count)]
        calls = [threading.Thread(target=lambda x=x: daemon.client().apply({"x": x, "place": "host"})) for x in inputs]
        for call in calls:
            call.start()
        for call in calls:
            call.join()
        client = daemon.client()
        assert client.get("/health").status == 200
        assert client.apply({"x": [1.0], "place": "new"}).status == 200
        assert client.get("/leases").json()["total"] == 1
        assert machine.calls("cuIpcCloseMemHandle", daemon.pid) < count, "the calls waited for their mappings to be closed"
        wait_until(lambda: machine.counts(daemon.pid).live_mappings == 0, "all are closed in the end", 60)


@pytest.mark.parametrize("route", ["/apply", "/check_gpu_transport"])
def test_slow_opens_hold_up_nobody_else(start_daemon, route):
    """However many there are, and however small their requests."""
    count = os.cpu_count() + 4
    daemon = start_daemon("places", **stand_in(open_us_per_mib=1_000_000))
    with contextlib.ExitStack() as stack:
        for _ in range(count):
            x = message(stack.enter_context(Buffer(PAGE)).reference(), [256], "uint8")
            body = {"gpu_transport": "cuda_ipc", "array": x, "expected": ""}
            if route == "/apply":
                body = {"inputs": {"x": {**x, "dtype": "float32"}, "place": "host"}}
            # Also as other writers of JSON may have it.
            text = json.dumps(body).replace("cuda_ipc", "cuda\\u005fipc")
            call = threading.Thread(target=lambda text=text: daemon.client().request("POST", route, text))
            call.start()
            stack.callback(call.join)
        wait_until(lambda: machine.calls("cuIpcOpenMemHandle_v2", daemon.pid) > 0, "a handle is being opened")
        for _ in range(5):
            assert daemon.client().get("/health").status == 200
        assert machine.calls("cuIpcOpenMemHandle_v2", daemon.pid) < count, "they were answered after all was opened"
