"""The package and tesseract-core's SDK, side by side: the same `except` clauses catch what the same calls raise."""

import numpy as np
import pytest
import requests
import tesseract_core
from tessera import Tesseract

PUBLIC, OURS = tesseract_core.Tesseract, Tesseract
GOOD = {"a": [1.0, 2.0], "b": [3.0, 4.0]}
# What programs catch, by the documentation of the public SDK.
CAUGHT = (
    ValueError,
    TypeError,
    RuntimeError,
    NotImplementedError,
    AssertionError,
    requests.ConnectionError,
    requests.Timeout,
    requests.RequestException,
)


def vectoradd(call):
    return lambda sdk, served: call(sdk.from_url(served.url("vectoradd")))


def failing(call):
    return lambda sdk, served: call(sdk.from_url(served.url("failing")))


FAILURES = {
    "missing input": vectoradd(lambda t: t.apply({"a": [1.0]})),
    "wrong rank": vectoradd(lambda t: t.apply({"a": np.ones((2, 2)), "b": [1.0]})),
    "unknown input": vectoradd(lambda t: t.apply(GOOD | {"c": 1})),
    "shapes that differ": vectoradd(lambda t: t.apply({"a": [1.0], "b": [1.0, 2.0]})),
    "unknown name": vectoradd(lambda t: t.jacobian(GOOD, ["c"], ["result"])),
    "names in a str": vectoradd(lambda t: t.jacobian(GOOD, "a", ["result"])),
    "names that are none": vectoradd(lambda t: t.jacobian(GOOD, [1], ["result"])),
    "tangent that lacks": vectoradd(lambda t: t.jacobian_vector_product(GOOD, ["a"], ["result"], {})),
    "set": vectoradd(lambda t: t.apply(GOOD | {"a": {1}})),
    "bytes": vectoradd(lambda t: t.apply(GOOD | {"a": b"x"})),
    "int of 65 bits": vectoradd(lambda t: t.apply(GOOD | {"a": [2**64]})),
    "key that is no str": vectoradd(lambda t: t.apply({1: 2})),
    "half of a surrogate pair": vectoradd(lambda t: t.apply(GOOD | {"a": "\ud800"})),
    "exception": failing(lambda t: t.apply({"fail": "value_error"})),
    "no gradient": failing(lambda t: t.jacobian({}, ["x"], ["result"])),
    "no test": failing(lambda t: t.test({"endpoint": "apply", "payload": {}})),
    "wrong format": vectoradd(lambda t: t.with_encoding(output_format="xml")),
    "wrong transport": vectoradd(lambda t: t.with_encoding(gpu_transport="cuda_ipc")),
    "wrong compression": vectoradd(lambda t: t.with_encoding(compression="zstd")),
    "binref without a folder": vectoradd(lambda t: t.with_encoding(output_format="json+binref").apply(GOOD)),
    "nobody serves it": lambda sdk, served: sdk.from_url(served.url("nobody")).apply({}),
    "nobody listens": lambda sdk, served: sdk.from_url("http://127.0.0.1:1").apply({}),
    "too slow": lambda sdk, served: sdk.from_url(served.url("failing"), timeout=0.1).apply({"sleep_s": 0.5}),
    "timeout of nothing": lambda sdk, served: sdk.from_url(served.url("failing"), timeout=0).health(),
    "timeout that is no number": lambda sdk, served: sdk.from_url(served.url("failing"), timeout="x").health(),
    "timeouts of three": lambda sdk, served: sdk.from_url(served.url("failing"), timeout=(1, 2, 3)).health(),
    "the class": lambda sdk, served: sdk("http://127.0.0.1:1"),
}


def raised(call, sdk, served) -> Exception:
    with pytest.raises(Exception) as caught:
        call(sdk, served)
    return caught.value


@pytest.mark.parametrize("name", FAILURES)
def test_the_same_clauses_catch(served, name):
    """What catches the exception of the public SDK catches ours."""
    theirs, ours = (raised(FAILURES[name], sdk, served) for sdk in (PUBLIC, OURS))
    assert {kind for kind in CAUGHT if isinstance(theirs, kind)} <= {kind for kind in CAUGHT if isinstance(ours, kind)}


@pytest.mark.parametrize("name", ["missing input", "wrong rank", "unknown input", "shapes that differ", "unknown name"])
def test_validation_errors_say_the_same(served, name):
    """Title, items, and the text but for pydantic's own lines."""
    theirs, ours = (raised(FAILURES[name], sdk, served) for sdk in (PUBLIC, OURS))
    assert ours.title == theirs.title
    assert ours.error_count() == theirs.error_count()
    plain = [{key: item[key] for key in ("type", "loc", "msg")} for item in theirs.errors()]
    assert [{key: item[key] for key in ("type", "loc", "msg")} for item in ours.errors()] == plain
    assert str(ours).splitlines()[:2] == str(theirs).splitlines()[:2]


@pytest.mark.parametrize("name", ["exception", "no gradient", "no test", "nobody serves it", "wrong format"])
def test_other_errors_say_the_same(served, name):
    """Word by word."""
    theirs, ours = (raised(FAILURES[name], sdk, served) for sdk in (PUBLIC, OURS))
    assert str(ours) == str(theirs)


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.apply({"a": np.ones(3), "b": np.zeros(3), "s": 2}),
        lambda t: t.apply(GOOD, "run"),
        lambda t: t.apply(inputs=GOOD, run_id=None),
        lambda t: t.jacobian(GOOD, ["a", "s"], ["result"]),
        lambda t: t.jacobian_vector_product(GOOD, ["a"], ["result"], {"a": np.ones(2)}),
        lambda t: t.vector_jacobian_product(GOOD, ["a", "b"], ["result"], {"result": np.ones(2)}),
        lambda t: t.abstract_eval({"a": {"shape": (5,), "dtype": "float64"}, "b": {"shape": [5], "dtype": "float64"}}),
        lambda t: t.health(),
        lambda t: t.available_endpoints,
        lambda t: t.openapi_schema,
        lambda t: vars(t.server_capabilities),
        lambda t: vars(t.with_encoding(compression="lz4").current_encoding),
        lambda t: t.resolve_gpu_transport(),
        lambda t: t.with_encoding(output_format="json+base64", compression="lz4").apply(GOOD),
    ],
)
def test_the_same_calls_give_the_same(served, call):
    """Values, their types, and the order of keys."""
    theirs, ours = (call(sdk.from_url(served.url("vectoradd"))) for sdk in (PUBLIC, OURS))
    assert_alike(ours, theirs)


def assert_alike(ours, theirs) -> None:
    assert type(ours) is type(theirs)
    if isinstance(theirs, dict):
        assert list(ours) == list(theirs)
        for key in theirs:
            assert_alike(ours[key], theirs[key])
    elif isinstance(theirs, list):
        assert len(ours) == len(theirs)
        for our_item, their_item in zip(ours, theirs):
            assert_alike(our_item, their_item)
    elif isinstance(theirs, np.ndarray):
        assert (ours.dtype, ours.shape, ours.tolist()) == (theirs.dtype, theirs.shape, theirs.tolist())
    else:
        assert ours == theirs
