"""Which values are taken as inputs, and what becomes of those that are not."""

import array
import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import pathlib
import sys
import types
import uuid

import numpy as np
import pydantic
import pytest


class Colour(enum.Enum):
    RED = "red"
    PAIR = (1, 2)


class Count(enum.IntEnum):
    THREE = 3


class Word(str, enum.Enum):
    HELLO = "hello"


class Text(str):
    pass


class Model(pydantic.BaseModel):
    number: int = 1
    numbers: list[float] = [1.0]
    path: pathlib.Path = pathlib.Path("/a")


class Dumped:
    """As a model of any other library."""

    def model_dump(self):
        return {"inner": (1, None)}


@dataclasses.dataclass
class Point:
    x: float
    label: object = None


Pair = collections.namedtuple("Pair", ["first", "second"])


class Itself:
    """Stands for itself, without end."""

    def model_dump(self):
        return self


class PathOfItself:
    def __fspath__(self):
        return self


class ListOfItself:
    def model_dump(self):
        return [self]


class Broken:
    def model_dump(self):
        raise ZeroDivisionError("broken")


class BrokenArray:
    def __array__(self, dtype=None, copy=None):
        raise ZeroDivisionError("broken")


def back(client, value):
    """What comes back of a value in a field that takes anything."""
    return client.apply({"open": {"more": value}})["open"]["more"]


def chain(depth: int):
    """Lists in lists."""
    value = []
    for _ in range(depth):
        value = [value]
    return value


def cycle():
    items = {}
    items["again"] = [items]
    return items


TAKEN = {
    "none": (None, None),
    "bool": (True, True),
    "int": (1, 1),
    "smallest int": (-(2**63), -(2**63)),
    "largest int": (2**64 - 1, 2**64 - 1),
    "float": (1.5, 1.5),
    "str": ("ü\0\U0001f600", "ü\0\U0001f600"),
    "subclass of str": (Text("sub"), "sub"),
    "np.str_": (np.str_("text"), "text"),
    "dict": ({"a": {"b": [None]}}, {"a": {"b": [None]}}),
    "empty": ({"a": {}, "b": []}, {"a": {}, "b": []}),
    "tuple": ((1, "a", [None]), [1, "a", [None]]),
    "named tuple": (Pair(1, 2), [1, 2]),
    "ordered dict": (collections.OrderedDict(a=1), {"a": 1}),
    "default dict": (collections.defaultdict(int, a=1), {"a": 1}),
    "mapping": (collections.UserDict(a=1), {"a": 1}),
    "mapping proxy": (types.MappingProxyType({"a": 1}), {"a": 1}),
    "key of a subclass": ({Text("a"): 1}, {"a": 1}),
    "enumeration": (Colour.RED, "red"),
    "enumeration of tuples": (Colour.PAIR, [1, 2]),
    "enumeration of ints": (Count.THREE, 3),
    "enumeration of strs": (Word.HELLO, "hello"),
    "pydantic": (Model(), {"number": 1, "numbers": [1.0], "path": "/a"}),
    "model_dump": ([Dumped()], [{"inner": [1, None]}]),
    "dataclass": (Point(1.0, Point(2.0)), {"x": 1.0, "label": {"x": 2.0, "label": None}}),
    "path": (pathlib.Path("/a/b"), "/a/b"),
    "uuid": (uuid.UUID(int=3), str(uuid.UUID(int=3))),
    "datetime": (datetime.datetime(2020, 1, 2, 3, 4), "2020-01-02T03:04:00"),
    "date": (datetime.date(2020, 1, 2), "2020-01-02"),
    "time": (datetime.time(3, 4), "03:04:00"),
    "deep": (chain(500), chain(500)),
}


@pytest.mark.parametrize("name", TAKEN)
def test_a_value_is_taken(everything, name):
    """It arrives as the JSON value that stands for it."""
    given, wanted = TAKEN[name]
    found = back(everything, given)
    assert found == wanted
    assert type(found) is type(wanted)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_json_does_not_have_becomes_null(everything, value):
    """As with the public SDK."""
    assert back(everything, value) is None


@pytest.mark.parametrize(
    "scalar",
    [
        np.float64(2.5),
        np.float64("inf"),
        np.float32(2.5),
        np.float16(0.5),
        np.int64(7),
        np.uint8(8),
        np.bool_(True),
        np.complex64(1 + 2j),
    ],
    ids=repr,
)
def test_scalars_of_numpy_are_arrays_of_rank_zero(everything, scalar):
    """Also float64, though it is a float: so it may hold what JSON has no number for."""
    found = back(everything, scalar)
    assert isinstance(found, np.ndarray)
    assert (found.shape, found.dtype, found[()]) == ((), scalar.dtype, scalar)


REFUSED = {
    "bytes": (b"a", "type 'bytes'"),
    "bytearray": (bytearray(b"a"), "type 'bytearray'"),
    "np.bytes_": (np.bytes_(b"a"), "type 'bytes_'"),
    "set": ({1}, "type 'set'"),
    "frozenset": (frozenset({1}), "type 'frozenset'"),
    "array of objects": (np.array([None, 1]), "dtype object"),
    "array of texts": (np.array(["ab"]), "dtype <U2"),
    "array of bytes": (np.array([b"ab"]), r"dtype \|S2"),
    "array of times": (np.array(["2020-01-01"], dtype="datetime64[D]"), r"dtype datetime64\[D\]"),
    "array of durations": (np.zeros(2, dtype="timedelta64[s]"), r"dtype timedelta64\[s\]"),
    "array of records": (np.zeros(2, dtype=[("a", "i4")]), "dtype .*i4"),
    "array of long doubles": (np.zeros(2, dtype=np.longdouble), "dtype float128"),
    "array of characters": (array.array("u", "ab"), "dtype <U1"),
    "datetime64": (np.datetime64("2020-01-01"), r"dtype datetime64\[D\]"),
    "timedelta64": (np.timedelta64(1, "s"), r"dtype timedelta64\[s\]"),
    "void": (np.void(b"abc"), r"dtype \|V3"),
    "long double": (np.longdouble(1), "dtype float128"),
    "int of 65 bits": (2**64, "64 bits"),
    "negative int of 65 bits": (-(2**63) - 1, "64 bits"),
    "complex": (1j, "type 'complex'"),
    "decimal": (decimal.Decimal(1), "type 'Decimal'"),
    "fraction": (fractions.Fraction(1, 2), "type 'Fraction'"),
    "range": (range(3), "type 'range'"),
    "generator": ((i for i in ()), "type 'generator'"),
    "deque": (collections.deque([1]), "type 'deque'"),
    "object": (object(), "type 'object'"),
    "class": (Model, "a class"),
    "function": (print, "type 'builtin_function_or_method'"),
    "key that is an int": ({1: 2}, "a key is of type 'int'"),
    "key that is None": ({None: 2}, "a key is of type 'NoneType'"),
    "half of a surrogate pair": ("\ud800", "surrogate"),
    "key with half of a surrogate pair": ({"\ud800": 1}, "surrogate"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_sent_is_refused_by_its_place(everything, name):
    """A TypeError, as with the public SDK, that names the place and the type."""
    value, why = REFUSED[name]
    with pytest.raises(TypeError, match=rf"^open\.list\.1\.more: .*{why}"):
        everything.apply({"open": {"list": [0, {"more": value}]}})


@pytest.mark.parametrize("make", [cycle, Itself, ListOfItself, PathOfItself, lambda: chain(600)])
def test_what_has_no_end_is_refused(everything, make):
    """Cycles and deep nesting are a ValueError; of the place, both ends are shown."""
    with pytest.raises(ValueError, match=r"^open\.more.*: values are nested more than 512 deep") as caught:
        back(everything, make())
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("value", [Broken(), BrokenArray()])
def test_what_an_object_raises_passes_through_with_the_place(everything, value):
    """The exception of a method is the user's own; a note says where."""
    with pytest.raises(ZeroDivisionError, match="broken") as caught:
        back(everything, [value])
    assert caught.value.__notes__ == ["while sending open.more.0"]


@pytest.mark.parametrize("inputs", [None, [1], "text", 5, np.ones(3)])
def test_inputs_are_a_dict(vectoradd, inputs):
    """Or what stands for one."""
    with pytest.raises(TypeError, match="inputs are a dict, not of type"):
        vectoradd.apply(inputs)


@pytest.mark.parametrize(
    "make", [lambda inputs: inputs, collections.UserDict, lambda inputs: pydantic.RootModel(inputs)]
)
def test_inputs_may_be_what_stands_for_a_dict(vectoradd, make):
    """A model of all inputs is as good as a dict of them."""
    assert vectoradd.apply(make({"a": [1.0], "b": [2.0]}))["result"].tolist() == [3.0]


@pytest.mark.parametrize("value", [name for name in REFUSED if name != "generator"])
def test_what_is_refused_leaves_nothing_behind(vectoradd, value):
    """Neither references to what was looked at, nor a call that began."""
    kept = np.ones(3)
    before = sys.getrefcount(kept)
    for _ in range(3):
        with pytest.raises(TypeError):
            vectoradd.apply({"a": kept, "b": [kept, REFUSED[value][0]]})
    assert sys.getrefcount(kept) == before
    assert vectoradd.apply({"a": [1.0], "b": [2.0]})["result"].tolist() == [3.0]


@pytest.mark.parametrize("names", ["a", ["a", 1], [None]])
def test_names_are_a_list(vectoradd, names):
    """A text is no list of names, though Python would read it as one."""
    inputs = {"a": [1.0], "b": [2.0]}
    with pytest.raises(ValueError, match="jac_inputs is a list of names"):
        vectoradd.jacobian(inputs, names, ["result"])
    with pytest.raises(ValueError, match="jvp_outputs is a list of names"):
        vectoradd.jacobian_vector_product(inputs, ["a"], names, {"a": [1.0]})
    with pytest.raises(ValueError, match="vjp_inputs is a list of names"):
        vectoradd.vector_jacobian_product(inputs, names, ["result"], {"result": [1.0]})


@pytest.mark.parametrize("form", [tuple, set, iter])
def test_names_may_come_in_any_collection(vectoradd, form):
    """As long as it holds names."""
    inputs = {"a": [1.0], "b": [2.0]}
    assert vectoradd.jacobian(inputs, form(["a"]), form(["result"]))["result"]["a"].tolist() == [[1.0]]
