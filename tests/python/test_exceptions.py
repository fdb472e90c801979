"""What calls raise: Python's own exceptions, with the server's text."""

import socket
import threading

import numpy as np
import pytest
import tessera
from gpu_harness import daemons
from tessera import Tesseract

import python_program

GOOD = {"a": [1.0], "b": [2.0]}


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("", "names no host"),
        ("http://", "names no host"),
        ("https://host", "TLS is not spoken"),
        ("ftp://host", "none of http and unix"),
        ("http://host:99999", "is not a port"),
        ("http://host:x", "is not a port"),
        ("http://[::1", "bracket"),
        ("http://a b", "space"),
        ("http://a\n", "control character"),
        ("unix:", "names no socket"),
        ("unix:/" + 200 * "x", "107 bytes at most"),
        ("http://\ud800", "surrogates not allowed"),
    ],
)
def test_a_wrong_url_is_a_value_error(url, why):
    """Found before anything is sent."""
    with pytest.raises(ValueError, match=why):
        Tesseract.from_url(url)


@pytest.mark.parametrize("url", [None, b"http://host", 5])
def test_a_url_is_a_str(url):
    """Nothing else."""
    with pytest.raises(TypeError, match="url is a str"):
        Tesseract.from_url(url)


@pytest.mark.parametrize("name", ["server_output_path", "server_input_path"])
def test_a_folder_that_is_not_there_is_a_value_error(name):
    """Named with its parameter."""
    with pytest.raises(ValueError, match=f"{name} cannot be used.*/nonexistent"):
        Tesseract.from_url("http://host", **{name: "/nonexistent"})


@pytest.mark.parametrize("wish", [{"output_format": "xml"}, {"compression": "zstd"}, {"gpu_transport": "cuda_ipc"}])
def test_an_encoding_that_the_server_lacks_is_a_value_error(vectoradd, wish):
    """With what it accepts."""
    with pytest.raises(ValueError, match=r"does not accept .*\(accepted: \('"):
        vectoradd.with_encoding(**wish)


def test_refused_inputs_are_a_validation_error(vectoradd):
    """With the members that pydantic's has, and its text."""
    with pytest.raises(tessera.ValidationError) as caught:
        vectoradd.apply({"a": np.zeros((2, 2)), "b": [1.0], "zz": 1})
    error = caught.value
    assert isinstance(error, ValueError)
    assert error.title == "endpoint apply"
    assert error.error_count() == 2
    items = error.errors()
    assert [(item["type"], item["loc"]) for item in items] == [
        ("array_non_numeric", ("body", "inputs", "a")),
        ("extra_forbidden", ("body", "inputs", "zz")),
    ]
    assert items[1]["input"] == 1 and items[1]["msg"] == "Extra inputs are not permitted"
    assert str(error).startswith("2 validation errors for endpoint apply\nbody.inputs.a\n")
    items.clear()
    assert error.error_count() == 2


def test_an_exception_of_the_function_is_a_runtime_error(failing):
    """With the status, and the text of the public SDK."""
    with pytest.raises(RuntimeError) as caught:
        failing.apply({"fail": "value_error"})
    assert str(caught.value) == "Error 500 from Tesseract: Internal Server Error"
    assert isinstance(caught.value, tessera.StatusError) and caught.value.status == 500


def test_another_status_is_a_runtime_error(served):
    """Of a path that nobody serves."""
    with pytest.raises(tessera.StatusError, match="Error 404 from Tesseract: .*Not Found") as caught:
        served.client("nobody").apply({})
    assert caught.value.status == 404


def test_what_a_tesseract_lacks_is_not_implemented(failing):
    """Found before anything is sent."""
    with pytest.raises(NotImplementedError, match="Jacobian not implemented"):
        failing.jacobian({}, ["x"], ["result"])
    with pytest.raises(NotImplementedError, match="Jacobian Vector Product"):
        failing.jacobian_vector_product({}, ["x"], ["result"], {})
    with pytest.raises(NotImplementedError, match="debug mode"):
        failing.test({})


def test_a_failed_test_is_an_assertion_error(debugged):
    """With the server's words."""
    client = debugged.client("vectoradd")
    spec = {"endpoint": "apply", "payload": {"inputs": GOOD}}
    assert client.test({**spec, "expected_outputs": {"result": np.array([3.0])}}) is None
    with pytest.raises(AssertionError, match="(?i)result"):
        client.test({**spec, "expected_outputs": {"result": np.array([4.0])}})
    with pytest.raises(AssertionError, match="nobody not found"):
        client.test({**spec, "endpoint": "nobody", "expected_outputs": {}})


def test_nobody_who_listens_is_a_connection_error():
    """On a port, and on a socket that is not there."""
    for url in ("http://127.0.0.1:1", "unix:/nonexistent.sock"):
        with pytest.raises(ConnectionError, match="cannot connect to") as caught:
            Tesseract.from_url(url).health()
        assert isinstance(caught.value, tessera.ServerConnectionError)


def test_a_server_that_ends_is_a_connection_error(tmp_path):
    """Also on a connection that was kept."""
    daemon = daemons.start(["tessera"], "vectoradd", tmp_path, transport=None)
    client = Tesseract.from_url(daemon.url)
    client.apply(GOOD)
    daemon.kill()
    with pytest.raises(ConnectionError):
        client.apply(GOOD)


def test_an_answer_that_is_none_is_a_value_error():
    """Of a server that speaks another protocol."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nnot JSON")

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(ValueError, match="JSON|json"):
            Tesseract.from_url(f"http://127.0.0.1:{listener.getsockname()[1]}").health()
        thread.join()


def test_a_slow_server_is_a_timeout_error(served):
    """Which is no ConnectionError."""
    with pytest.raises(TimeoutError, match="waiting for the server took longer than 100 ms") as caught:
        served.client("failing", timeout=0.1).apply({"sleep_s": 1.0})
    assert isinstance(caught.value, tessera.ServerTimeoutError)
    assert not isinstance(caught.value, ConnectionError)


KINDS = """
    import sys
    if "early" in sys.argv:
        import requests
    import tessera
    def raised(**options):
        try:
            tessera.Tesseract.from_url(sys.argv[1], **options).apply({"sleep_s": 1.0})
        except OSError as error:
            return error
    def connect():
        try:
            tessera.Tesseract.from_url("127.0.0.1:1").health()
        except OSError as error:
            return error
    first = connect()
    if "late" in sys.argv:
        import requests
    late, slow = connect(), raised(timeout=0.05)
    names = lambda error: [kind.__module__.split(".")[0] + "." + kind.__name__ for kind in type(error).__mro__]
    assert isinstance(late, tessera.ServerConnectionError) and isinstance(slow, tessera.ServerTimeoutError)
    assert isinstance(late, ConnectionError) and isinstance(slow, TimeoutError)
    print("requests" in sys.modules, *("requests.ConnectionError" in names(error) for error in (first, late)),
          "requests.Timeout" in names(slow))
    print(repr(late))
"""


@pytest.mark.parametrize(
    ("when", "wanted"),
    [("never", "False False False False"), ("early", "True True True True"), ("late", "True False True True")],
)
def test_connection_errors_are_also_those_of_requests_where_it_is_imported(served, when, wanted):
    """Programs that import it catch its exceptions; for others it is not imported."""
    said = python_program.run(KINDS, served.url("failing"), when).splitlines()
    assert said[0] == wanted
    assert said[1].startswith("ServerConnectionError(")
