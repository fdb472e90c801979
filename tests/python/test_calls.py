"""Calls: what is taken, what comes back, what is raised."""

import array
import enum
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import tessera
from tessera import Tesseract

X = {"a": np.array([1.0, 2.0]), "b": np.array([3.0, 4.0])}


class Colour(enum.Enum):
    RED = "red"


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        (np.arange(6.0).reshape(2, 3).T, np.arange(6.0).reshape(2, 3).T),
        (np.arange(20.0)[::-3], np.arange(20.0)[::-3]),
        (np.arange(3, dtype=">f8"), np.arange(3.0)),
        (np.array(1.5), np.array(1.5)),
        (np.empty((2, 0, 3)), np.empty((2, 0, 3))),
        (array.array("d", [1, 2]), np.array([1.0, 2.0])),
        (memoryview(b"\x01\x02"), np.array([1, 2], dtype="uint8")),
        (np.frombuffer(b"\0" + np.arange(3.0).tobytes(), dtype="uint8")[1:].view("float64"), np.arange(3.0)),
    ],
    ids=["transposed", "backwards", "big-endian", "zero-d", "empty", "array", "bytes", "unaligned"],
)
def test_any_array_arrives_in_c_order(served, values, wanted):
    result = served.client("everything").with_encoding(output_format="json+base64").apply({"any_array": values})
    np.testing.assert_array_equal(result["any_array"], wanted)
    assert result["any_array"].shape == wanted.shape


def test_results_are_writable_and_outlive_the_client(served):
    result = served.client("identity").apply({"x": np.ones(1000, "float32")})["x"]
    result += 1
    assert result.sum() == 2000


def test_an_enumeration_stands_for_its_value(served):
    assert served.client("everything").apply({"colour": Colour.RED})["colour"] == "red"


@pytest.mark.parametrize(
    ("inputs", "kind", "text"),
    [
        ({"open": {"z": {1, 2}}}, TypeError, "open.z: a set"),
        ({"numbers": [1, b"x"]}, TypeError, "numbers.1: a bytes"),
        ({"open": {"z": 1 << 70}}, TypeError, "open.z: an int"),
        ({"open": {3: 1}}, TypeError, "open: a key"),
        ({"any_array": np.array(["x"])}, TypeError, "ndarray"),
        ({"any_array": np.array([object()])}, TypeError, "ndarray"),
    ],
)
def test_what_cannot_be_sent_is_named(served, inputs, kind, text):
    with pytest.raises(kind) as caught:
        served.client("everything").apply(inputs)
    assert text.split(":")[0] in str(caught.value)


def test_a_value_that_holds_itself_is_refused(served):
    ring = {}
    ring["ring"] = ring
    with pytest.raises((ValueError, RecursionError)):
        served.client("everything").apply({"open": ring})


def test_exceptions_are_pythons_own_kinds(served):
    tess = served.client("vectoradd")
    with pytest.raises(ValueError) as refused:
        tess.apply({"a": [1.0]})
    assert isinstance(refused.value, tessera.ValidationError) and refused.value.title == "endpoint apply"
    assert [(item["type"], item["loc"]) for item in refused.value.errors()] == [("missing", ("body", "inputs", "b"))]
    with pytest.raises(ValueError, match="does not accept output_format='x'"):
        tess.with_encoding(output_format="x")
    with pytest.raises(ValueError, match="is none of http and unix"):
        Tesseract.from_url("ftp://x")
    with pytest.raises(NotImplementedError):
        served.client("failing").jacobian({}, ["x"], ["result"])
    with pytest.raises(RuntimeError, match="Error 500 from Tesseract: "):
        served.client("failing").apply({"fail": "value_error"})
    with pytest.raises(AssertionError):
        tess.test({"endpoint": "apply", "payload": {"inputs": X}, "expected_outputs": {"result": np.zeros(2)}})
    with pytest.raises(ConnectionError):
        Tesseract.from_url("127.0.0.1:1").health()
    with pytest.raises(TimeoutError):
        served.client("failing", timeout=0.05).apply({"sleep_s": 0.5})


def test_errors_of_connections_are_those_of_requests_where_it_is_imported():
    script = """
import sys, tessera
try: tessera.Tesseract.from_url("127.0.0.1:1").health()
except ConnectionError as error: assert "requests" not in sys.modules
import requests
try: tessera.Tesseract.from_url("127.0.0.1:1").health()
except requests.ConnectionError as error: print(isinstance(error, tessera.ServerConnectionError))
"""
    assert subprocess.run([sys.executable, "-c", script], check=True, capture_output=True).stdout == b"True\n"


def test_other_threads_run_while_a_call_waits(served):
    steps = 0
    call = threading.Thread(target=lambda: served.client("failing").apply({"sleep_s": 0.3}))
    call.start()
    while call.is_alive():
        steps += 1
    assert steps > 1000


def test_a_signal_ends_a_call_that_waits(served):
    timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        served.client("failing").apply({"sleep_s": 5})
    assert time.monotonic() - begin < 2


def test_progress_is_told_both_ways(served):
    seen = []
    tess = served.client("identity", progress=lambda done, total: seen.append((done, total)), progress_from_bytes=1 << 20)
    tess.with_encoding(output_format="json+base64").apply({"x": np.zeros(1 << 20, "float32")})
    assert sum(done == total for done, total in seen) == 2


def test_inputs_are_given_back(served):
    values = np.ones(1000, "float32")
    count = sys.getrefcount(values)
    tess = served.client("identity")
    for inputs in ({"x": values}, {"x": values, "y": 1}):
        try:
            tess.apply(inputs)
        except ValueError:
            pass
    del inputs
    assert sys.getrefcount(values) == count


def test_memory_does_not_grow(served):
    def resident() -> int:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    tess = served.client("identity").with_encoding(output_format="json+base64")
    values = np.ones(1 << 18, "float32")
    for _ in range(50):
        tess.apply({"x": values})
    before = resident()
    for _ in range(500):
        tess.apply({"x": values})
    assert resident() - before < 16 << 20


def test_a_client_is_not_pickled(served):
    import pickle

    with pytest.raises(TypeError):
        pickle.dumps(served.client("identity"))


def test_files_go_both_ways(served):
    (served.folder / "in/identity").mkdir()
    tess = served.client("identity", server_input_path=served.folder / "in/identity",
                         server_output_path=served.folder / "out/identity")
    view = tess.with_encoding(output_format="json+binref")
    for size in (3, 100_000, 0):
        values = np.arange(size, dtype="float32")
        np.testing.assert_array_equal(view.apply({"x": values})["x"], values)
