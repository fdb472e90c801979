"""Arrays in GPU memory, both ways, on the stand-in driver."""

import ctypes
import gc
import os
import signal
import threading
import warnings

import numpy as np
import pytest
from harness.wire import assert_same, sample

import python_program


def _is_on_stand_in() -> bool:
    try:
        return hasattr(ctypes.CDLL("libcuda.so.1"), "tessera_stand_in_calls")
    except OSError:
        return False


pytestmark = pytest.mark.skipif(not _is_on_stand_in(), reason="needs the stand-in driver in LD_LIBRARY_PATH")

from gpu_harness import machine
from gpu_harness.waiting import wait_until
from harness.gpu import device_array
from tessera import DeviceArray, Tesseract, TransportError

IPC = {"gpu_transport": "cuda_ipc"}


class Strided:
    """A view of GPU memory in another order."""

    def __init__(self, array, shape, strides, offset_bytes=0):
        self._array = array
        found = array.__cuda_array_interface__
        self.__cuda_array_interface__ = found | {
            "shape": shape,
            "strides": strides,
            "data": (found["data"][0] + offset_bytes, False),
            "stream": None,
        }


class OnlyDlpack:
    """An array that shows no more of itself, and remembers how it was asked."""

    def __init__(self, array):
        self.array = array
        self.asked = []

    def __dlpack__(self, **options):
        self.asked.append(options)
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


@pytest.fixture(scope="module")
def gpu_served(serve):
    return serve(["identity", "everything"], transport="cuda_ipc")


@pytest.fixture
def identity(gpu_served):
    return gpu_served.client("identity").with_encoding(**IPC)


@pytest.fixture
def everything(gpu_served):
    return gpu_served.client("everything").with_encoding(**IPC)


@pytest.fixture
def nothing_left(gpu_served):
    """At the end the daemon has back what it lent."""
    yield
    gc.collect()
    wait_until(lambda: gpu_served.daemon.leases()["total"] == 0, "the daemon has its memory back", 5)


def vector(seed: int, size: int = 1000) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=size).astype("float32")


def test_an_array_goes_there_and_back_on_the_gpu(identity, nothing_left):
    """What comes back says what it is, and is copied on demand."""
    values = vector(1)
    result = identity.apply({"x": device_array(values)})["x"]
    assert type(result) is DeviceArray
    assert (result.shape, result.dtype, result.ndim, result.size, result.nbytes) == ((1000,), "float32", 1, 1000, 4000)
    assert repr(result) == f"DeviceArray(shape=(1000,), dtype=float32, gpu={result.gpu})"
    assert_same(result.copy_to_host(), values)
    result.copy_to_host()[:] = 0
    assert_same(result.copy_to_host(), values)


def test_the_array_interface(identity, nothing_left):
    """As CuPy, Numba and PyTorch read it: version 3, in C order, with nothing to wait for."""
    result = identity.apply({"x": device_array(vector(2, 6).reshape(2, 3))})["x"]
    interface = result.__cuda_array_interface__
    assert interface["data"][0] != 0 and interface["data"][1] is False
    assert {key: interface[key] for key in interface if key != "data"} == {
        "shape": (2, 3),
        "typestr": "<f4",
        "version": 3,
        "strides": None,
        "stream": None,
    }


def test_dlpack(identity, everything, nothing_left):
    """NumPy, which reads host memory alone, refuses it; who reads GPU memory takes it."""
    values = vector(3)
    result = identity.apply({"x": device_array(values)})["x"]
    assert result.__dlpack_device__() == (2, 0)
    with pytest.raises((BufferError, RuntimeError, ValueError)):
        np.from_dlpack(result)
    only = OnlyDlpack(result)
    again = everything.apply({"any_array": only})["any_array"]
    assert only.asked == [{"stream": 1}]
    assert_same(again.copy_to_host(), values)


@pytest.mark.parametrize("options", [{}, {"stream": None}, {"stream": 1}, {"max_version": (1, 0)}, {"copy": False}])
def test_a_capsule_that_nobody_takes_frees_itself(identity, options, nothing_left):
    """With the arguments that consumers pass."""
    result = identity.apply({"x": device_array(vector(4))})["x"]
    before = machine.counts().live_allocations
    capsules = [result.__dlpack__(**options) for _ in range(3)]
    del result, capsules
    gc.collect()
    assert machine.counts().live_allocations <= before


def test_a_copy_that_dlpack_cannot_make_is_refused(identity):
    """Rather than handing out the memory itself, or memory somewhere else."""
    result = identity.apply({"x": device_array(vector(5))})["x"]
    for options in ({"copy": True}, {"dl_device": (1, 0)}):
        with pytest.raises(BufferError):
            result.__dlpack__(**options)
    result.__dlpack__(dl_device=(2, 0))


def test_a_result_is_an_input(identity, nothing_left):
    """Again and again, without the host."""
    values = vector(6)
    array = device_array(values)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(5):
            array = identity.apply({"x": array})["x"]
    assert_same(array.copy_to_host(), values)


@pytest.mark.parametrize("dtype", ["float16", "float64", "int8", "uint16", "int32", "bool", "complex64", "complex128"])
def test_dtypes(everything, dtype):
    """By name, and in both interfaces."""
    values = sample(dtype)
    for given in (device_array(values), OnlyDlpack(device_array(values))):
        result = everything.apply({"any_array": given})["any_array"]
        assert (type(result), result.dtype) == (DeviceArray, dtype)
        assert np.dtype(result.__cuda_array_interface__["typestr"]) == values.dtype
        assert_same(result.copy_to_host(), values)


def test_arrays_without_elements_and_axes(everything, nothing_left):
    """Neither is an error."""
    for values in (np.empty((0, 3), "float32"), np.array(2.5, "float32")):
        result = everything.apply({"any_array": device_array(values)})["any_array"]
        assert result.shape == values.shape
        assert_same(result.copy_to_host() if isinstance(result, DeviceArray) else result, values)


def test_strided_memory(everything, nothing_left):
    """Is brought into C order on the GPU."""
    values = vector(7, 24).reshape(4, 6)
    array = device_array(values)
    for view, wanted in (
        (Strided(array, (6, 4), (4, 24)), values.T),
        (Strided(array, (2, 3), (48, 8)), values[::2, ::2]),
        (Strided(array, (4, 6), (-24, 4), 72), values[::-1]),
        (Strided(array, (3, 6), (0, 4)), np.broadcast_to(values[0], (3, 6))),
        (Strided(array, (4, 6), (24, 4)), values),
    ):
        result = everything.apply({"any_array": view})["any_array"]
        assert type(result) is DeviceArray
        assert_same(result.copy_to_host(), wanted)


@pytest.mark.parametrize(
    "wrong",
    [{"data": (0x1234, False)}, {"shape": (1 << 40,)}, {"shape": (-1,)}, {"strides": (4, 4)}, {"typestr": ">f4"}],
)
def test_memory_that_is_not_there_is_refused(everything, wrong):
    """Nothing is sent, and the client goes on."""
    array = device_array(vector(8, 6))
    view = Strided(array, (6,), None)
    view.__cuda_array_interface__ |= wrong
    with pytest.raises((ValueError, TypeError), match="^any_array: "):
        everything.apply({"any_array": view})
    assert everything.apply({"any_array": array})["any_array"].shape == (6,)


def test_without_the_transport_arrays_come_to_the_host(gpu_served, monkeypatch):
    """Which can be forbidden."""
    values = vector(9)
    client = gpu_served.client("identity")
    assert_same(client.apply({"x": device_array(values)})["x"], values)
    monkeypatch.setenv("TESSERACT_FORBID_DEVICE_HOST_COPY", "1")
    with pytest.raises(ValueError, match="TESSERACT_FORBID_DEVICE_HOST_COPY"):
        client.apply({"x": device_array(values)})


def test_host_and_gpu_arrays_go_together(everything):
    """Each as it lies."""
    on_gpu, on_host = vector(10), np.arange(3.0)
    result = everything.apply({"f32": device_array(on_gpu), "f64": on_host})
    assert_same(result["f32"].copy_to_host(), on_gpu)
    assert_same(result["f64"], on_host)


def test_a_dropped_array_is_freed(gpu_served):
    """A thousand calls take no more memory than ten; what goes is used again."""
    client = gpu_served.client("identity").with_encoding(**IPC)
    array = device_array(np.zeros(1 << 18, dtype="float32"))

    def calls(count: int) -> int:
        for _ in range(count):
            client.apply({"x": array})["x"].copy_to_host()
        return machine.counts().allocated_bytes

    few = calls(10)
    assert calls(500) <= few
    kept = [client.apply({"x": array})["x"] for _ in range(8)]
    assert machine.counts().allocated_bytes > few
    assert len({result.__cuda_array_interface__["data"][0] for result in kept}) == 8


def test_borrowed_arrays_are_the_servers_until_they_are_dropped(gpu_served):
    """The lease ends with the last reference, in whatever form."""
    daemon = gpu_served.daemon
    client = gpu_served.client("identity", borrow_gpu_arrays=True).with_encoding(**IPC)
    values = vector(11)
    result = client.apply({"x": device_array(values)})["x"]
    assert daemon.leases()["total"] == 1
    capsule = result.__dlpack__()
    assert_same(result.copy_to_host(), values)
    del result
    gc.collect()
    client.health()
    assert daemon.leases()["total"] == 1
    del capsule
    gc.collect()
    wait_until(lambda: daemon.leases()["total"] == 0, "the lease of a dropped array ends", 5)


def test_borrowed_arrays_outlive_their_client(gpu_served):
    """And are still given back."""
    client = gpu_served.client("identity", borrow_gpu_arrays=True).with_encoding(**IPC)
    values = vector(12)
    result = client.apply({"x": device_array(values)})["x"]
    client.close()
    del client
    gc.collect()
    assert_same(result.copy_to_host(), values)
    del result
    gc.collect()
    wait_until(lambda: gpu_served.daemon.leases()["total"] == 0, "the lease of a dropped array ends", 5)


@pytest.mark.parametrize("borrow", [False, True])
@pytest.mark.parametrize("end", ["", "sys.exit(0)", "raise KeyboardInterrupt", "client.close()", "del result"])
def test_a_program_that_just_ends_leaves_no_lease(gpu_served, borrow, end):
    """However it ends by itself."""
    program = f"""
        import sys
        sys.path[:0] = {[str(path) for path in os.sys.path if path]!r}
        import numpy as np
        from harness.gpu import device_array
        from tessera import Tesseract
        client = Tesseract.from_url(sys.argv[1], borrow_gpu_arrays={borrow}).with_encoding(gpu_transport="cuda_ipc")
        result = client.apply({{"x": device_array(np.arange(5, dtype="float32"))}})["x"]
        print(result.copy_to_host().tolist(), flush=True)
        try:
            {end or "pass"}
        except KeyboardInterrupt:
            pass
    """
    assert python_program.run(program, gpu_served.url("identity")) == "[0.0, 1.0, 2.0, 3.0, 4.0]"
    wait_until(lambda: gpu_served.daemon.leases()["total"] == 0, "the lease of a program that ended", 2)


def test_the_transport_is_found(gpu_served):
    """Where it works, without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        client = gpu_served.client("identity")
        assert client.resolve_gpu_transport() == "cuda_ipc"
        assert client.with_encoding(**IPC).resolve_gpu_transport() == "cuda_ipc"


FALLBACK = """
    import sys, warnings
    from tessera import Tesseract
    client = Tesseract.from_url(sys.argv[1])
    warnings.simplefilter("error")
    try:
        client.resolve_gpu_transport()
    except UserWarning as warning:
        print("raised:", warning)
    warnings.simplefilter("always")
    with warnings.catch_warnings(record=True) as caught:
        other = Tesseract.from_url(sys.argv[1])
        print(other.resolve_gpu_transport(), other.resolve_gpu_transport(), len(caught))
        print(caught[0].filename, caught[0].category.__name__)
    try:
        other.with_encoding(gpu_transport="cuda_ipc").resolve_gpu_transport()
    except RuntimeError as error:
        print(type(error).__name__, error)
"""


def test_where_it_does_not_work_there_is_a_warning(gpu_served):
    """Once, at the caller's line, with the reason; or as an exception, if warnings are errors."""
    raised, resolved, place, refused = python_program.run(
        FALLBACK, gpu_served.url("identity"), without_gpu=True
    ).splitlines()
    assert raised.startswith("raised: The Tesseract at ") and "libcuda.so.1" in raised
    assert resolved == "none none 1"
    assert place == "<string> UserWarning"
    assert refused.startswith("TransportError gpu_transport='cuda_ipc' was requested, but it does not work")


def test_threads_share_a_client(gpu_served):
    """Each gets its own array."""
    client = gpu_served.client("identity").with_encoding(**IPC)
    wrong = []

    def work(seed: int) -> None:
        for step in range(10):
            values = vector(100 * seed + step)
            if not np.array_equal(client.apply({"x": device_array(values)})["x"].copy_to_host(), values):
                wrong.append((seed, step))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_the_readme(gpu_served):
    """The lines that choose the transport, on the Unix socket."""
    local = Tesseract.from_url(f"unix:{gpu_served.unix_path}:/identity")
    fast = local.with_encoding(gpu_transport=local.resolve_gpu_transport())
    assert_same(fast.apply({"x": device_array(vector(13))})["x"].copy_to_host(), vector(13))


def test_a_forked_child_is_told_that_it_has_no_gpu(identity, nothing_left):
    """CUDA does not work in it; what its parent holds stays as it is."""
    values = vector(20)
    result = identity.apply({"x": device_array(values)})["x"]
    child = os.fork()
    if child == 0:
        signal.alarm(10)
        code = 1
        try:
            identity.apply({"x": result})
            code = 2
        except TransportError as error:
            code = 0 if "forked" in str(error) else 3
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert_same(identity.apply({"x": result})["x"].copy_to_host(), values)
