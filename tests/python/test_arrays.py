"""Which arrays are taken as inputs, and what arrays of results are."""

import array
import ctypes
import gc
import importlib.util
import mmap
import weakref

import numpy as np
import pytest
from harness.wire import DTYPES, assert_same, sample

import python_program


def back(client, values):
    """What comes back of an array in a field that takes any."""
    return client.apply({"any_array": values})["any_array"]


class OnlyDlpack:
    """An array that shows no more of itself."""

    def __init__(self, values):
        self.values = values

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


class OldDlpack:
    """As the first version of the protocol had it."""

    def __init__(self, values):
        self.values = values

    def __dlpack__(self):
        return self.values.__dlpack__()


class OnlyArray:
    """An object that NumPy can make an array of."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return self.values


class OnlyCudaInterface:
    """Says of itself that it is in GPU memory."""

    def __init__(self, interface):
        self.__cuda_array_interface__ = interface


class RefusingTensor:
    """As a tensor of PyTorch that takes part in gradients."""

    requires_grad = True

    @property
    def __cuda_array_interface__(self):
        raise RuntimeError("cannot be called on a tensor that requires grad")

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("call detach() first")

    def detach(self):
        return OnlyArray(np.arange(3.0))


@pytest.mark.parametrize("dtype", DTYPES)
def test_each_dtype(everything, dtype):
    """An array of each dtype comes back the same."""
    assert_same(back(everything, sample(dtype)), sample(dtype))


GRID = np.arange(24.0).reshape(4, 6)
UNALIGNED = np.zeros(33, dtype="u1")[1:].view("f8")
UNALIGNED[:] = 3
READ_ONLY = np.arange(3.0)
READ_ONLY.flags.writeable = False

LAYOUTS = {
    "transposed": GRID.T,
    "fortran": np.asfortranarray(GRID),
    "strided": GRID[::2, 1::3],
    "window": GRID[1:3, 2:4],
    "reversed": GRID[::-1, ::-1],
    "diagonal": GRID.diagonal(),
    "broadcast": np.broadcast_to(np.float64(2.5), (3, 2)),
    "zero-d": np.array(1.5),
    "empty": np.empty((0, 3)),
    "empty in the middle": np.empty((2, 0, 3)),
    "one element": np.ones((1, 1, 1))[:, ::-1],
    "all axes": np.arange(4.0).reshape((1,) * 30 + (2, 2)),
    "big-endian": np.arange(3, dtype=">f8"),
    "big-endian complex, strided": np.arange(6).astype(">c16")[::2],
    "unaligned": UNALIGNED,
    "read-only": READ_ONLY,
    "record's field": np.array([(1, 2.0), (3, 4.0)], dtype=[("a", "i4"), ("b", "f8")])["b"],
    "imaginary part": np.array([1 + 2j, 3 + 4j]).imag,
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_any_layout(everything, name):
    """The layout in memory makes no difference."""
    values = LAYOUTS[name]
    found = back(everything, values)
    assert_same(found, np.asarray(values, dtype=values.dtype.newbyteorder("=")))


@pytest.mark.parametrize("code", "bBhHiIlLqQfd")
def test_arrays_of_the_standard_library(everything, code):
    """array.array is an array of one axis."""
    found = back(everything, array.array(code, [1, 2, 3]))
    assert (found.tolist(), found.dtype) == ([1, 2, 3], np.dtype(code))


@pytest.mark.parametrize(
    ("made", "wanted"),
    [
        (memoryview(GRID), GRID),
        (memoryview(GRID.ravel())[::-2], GRID.ravel()[::-2]),
        (memoryview(b"abc"), np.frombuffer(b"abc", dtype="u1")),
        (memoryview(b"abcdef").cast("H", (3,)), np.frombuffer(b"abcdef", dtype="u2")),
        ((ctypes.c_double * 3)(1, 2, 3), np.array([1.0, 2.0, 3.0])),
        (ctypes.c_int32(5), np.array(5, dtype="i4")),
        (OnlyDlpack(GRID), GRID),
        (OnlyDlpack(GRID.T[::-1]), GRID.T[::-1]),
        (OnlyDlpack(np.array([True, False])), np.array([True, False])),
        (OnlyDlpack(np.empty((0, 2))), np.empty((0, 2))),
        (OldDlpack(GRID), GRID),
        (OnlyArray(GRID.T), GRID.T),
        (RefusingTensor(), np.arange(3.0)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_arrays_of_other_kinds(everything, made, wanted):
    """A buffer, DLPack or __array__ is enough."""
    assert_same(back(everything, made), wanted)


def test_a_mapped_file_is_bytes(everything):
    """And is free to be closed afterwards."""
    with mmap.mmap(-1, 4096) as mapped:
        assert back(everything, mapped).shape == (4096,)


def test_a_buffer_is_given_back(everything):
    """An array that is being sent cannot be resized; afterwards it can."""
    lent = array.array("d", [1.0, 2.0])
    back(everything, lent)
    lent.append(3.0)
    assert back(everything, lent).tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    "interface",
    [
        5,
        {},
        {"typestr": "<f4"},
        {"typestr": 5, "data": (1, False), "shape": (1,), "stream": None},
        {"typestr": "<f4", "data": 1, "shape": (1,), "stream": None},
        {"typestr": "<f4", "data": (1, False), "shape": ("x",), "stream": None},
        {"typestr": "<f4", "data": (1, False), "shape": (2**70,), "stream": None},
        {"typestr": "<f4", "data": (1, False), "shape": (1,), "stream": "x"},
        {"typestr": "<U4", "data": (1, False), "shape": (1,), "stream": None},
        {"typestr": "<f4", "data": (1, False), "shape": (1,), "stream": None, "mask": GRID},
    ],
)
def test_a_malformed_cuda_interface_is_refused_by_its_place(everything, interface):
    """Nothing is read from an address that is not understood."""
    with pytest.raises(TypeError, match=r"^any_array: an object of type 'OnlyCudaInterface' cannot be sent"):
        back(everything, OnlyCudaInterface(interface))


@pytest.mark.parametrize("given", [None, 5, "text", b"bytes", {}], ids=repr)
def test_a_malformed_capsule_is_refused_by_its_place(everything, given):
    """__dlpack__ may give anything."""
    liar = OldDlpack(GRID)
    liar.values = type("Liar", (), {"__dlpack__": lambda self: given})()
    with pytest.raises(TypeError, match="^any_array: an object of type 'OldDlpack' cannot be sent"):
        back(everything, liar)


def test_a_used_capsule_is_refused(everything):
    """A capsule is taken once."""
    capsule = GRID.__dlpack__()
    liar = OldDlpack(GRID)
    liar.values = type("Liar", (), {"__dlpack__": lambda self: capsule})()
    assert_same(back(everything, liar), GRID)
    with pytest.raises(TypeError, match="any_array: .* cannot be sent"):
        back(everything, liar)


def test_a_tensor_of_another_library_is_dropped(everything):
    """What DLPack lent is given back once it was sent."""
    values = np.ones(1000)
    seen = weakref.ref(values)
    back(everything, OnlyDlpack(values))
    del values
    gc.collect()
    assert seen() is None


def test_tensors_of_pytorch(everything):
    """On the host, with gradients and without."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    for tensor in (torch.arange(6.0).reshape(2, 3).T, torch.ones(3, requires_grad=True)):
        assert_same(back(everything, tensor), tensor.detach().numpy())
    with pytest.raises(TypeError):
        back(everything, torch.ones(3, dtype=torch.bfloat16))


JAX = """
    import sys
    import jax.numpy
    from tessera import Tesseract
    client = Tesseract.from_url(sys.argv[1])
    print(client.apply({"any_array": jax.numpy.arange(6.0).reshape(2, 3).T})["any_array"].tolist())
    try:
        client.apply({"any_array": jax.numpy.ones(3, dtype="bfloat16")})
    except TypeError as error:
        print(error)
"""


def test_arrays_of_jax(served):
    """On the host, and of a dtype that the protocol does not have. JAX starts threads, so in a process of its own."""
    if importlib.util.find_spec("jax") is None:
        pytest.skip("JAX is not installed")
    said = python_program.run(JAX, served.url("everything"), JAX_PLATFORMS="cpu").splitlines()
    assert said[0] == "[[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]"
    assert said[1].startswith("any_array: ") and said[1].endswith("dtype bfloat16 are not part of the protocol")


@pytest.mark.parametrize("compression", ["none", "lz4"])
@pytest.mark.parametrize("output_format", ["json", "json+base64", "json+binref"])
def test_arrays_of_results_are_ordinary(served, output_format, compression):
    """Writable, aligned, in C order, and their own after everything else is gone."""
    client = served.client("identity", server_output_path=served.output_path / "identity")
    view = client.with_encoding(output_format=output_format, compression=compression)
    values = np.arange(60_000, dtype="float32").reshape(300, 200)
    results = [view.apply({"x": values})["x"] for _ in range(3)]
    view.close()
    del view, client
    gc.collect()
    results[0] += 1
    assert_same(results[1], values)
    assert_same(results[0], values + 1)
    for result in results:
        assert type(result) is np.ndarray
        assert result.flags.writeable and result.flags.aligned and result.flags.c_contiguous
        assert memoryview(result).tolist() == result.tolist()


def test_arrays_go_as_files_both_ways(served):
    """Of any size, where the folders are shared."""
    folder = served.output_path / "identity"
    client = served.client("identity", server_input_path=folder, server_output_path=folder)
    view = client.with_encoding(output_format="json+binref")
    for size in (3, 100_000, 0):
        values = np.arange(size, dtype="float32")
        assert_same(view.apply({"x": values})["x"], values)


def test_a_result_lives_on_in_its_views(identity):
    """The memory is freed with the last of them, not with the result."""
    view = identity.apply({"x": np.arange(100_000, dtype="float32")})["x"][::1000]
    gc.collect()
    identity.apply({"x": np.zeros(100_000, dtype="float32")})
    assert_same(view, np.arange(0, 100_000, 1000, dtype="float32"))


def test_a_result_is_an_input(identity):
    """Without a copy in between."""
    values = np.arange(5, dtype="float32")
    for _ in range(3):
        values = identity.apply({"x": values})["x"]
    assert values.tolist() == [0, 1, 2, 3, 4]
