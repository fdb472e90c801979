"""Arrays in GPU memory."""

import json
import subprocess
import sys
import warnings

import numpy as np
import pytest

from tessera import DeviceArray


def gpu_problem() -> str | None:
    from tesseract_core.runtime.cuda import api

    try:
        return None if api.device_count() > 0 else "there is no GPU"
    except Exception as error:  # noqa: BLE001 - whatever the loader says
        return f"there is no usable GPU: {error}"


needs_gpu = pytest.mark.skipif(gpu_problem() is not None, reason=str(gpu_problem()))


def device_array(values):
    from tesseract_core.runtime.cuda import api
    from tesseract_core.runtime.cuda.ipc import IpcDeviceArray

    host = np.ascontiguousarray(values)
    device = api.get_device()
    api.set_device(device)
    pointer = api.malloc(host.nbytes)
    api.memcpy_host_to_device(pointer, host.ctypes.data, host.nbytes)
    api.device_synchronize()
    return IpcDeviceArray(pointer, device, host.shape, host.dtype)


def leases(served) -> int:
    command = ["curl", "-s", "--unix-socket", str(served.socket), "http://localhost/leases"]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["total"]


@needs_gpu
@pytest.mark.parametrize("borrow", [False, True])
def test_arrays_stay_on_the_gpu_both_ways(served_gpu, borrow):
    tess = served_gpu.client("identity", borrow_gpu_arrays=borrow)
    view = tess.with_encoding(gpu_transport=tess.resolve_gpu_transport())
    values = np.arange(1000, dtype="float32")
    result = view.apply({"x": device_array(values)})["x"]
    assert isinstance(result, DeviceArray) and result.shape == (1000,) and result.dtype == "float32"
    interface = result.__cuda_array_interface__
    assert interface["shape"] == (1000,) and interface["typestr"] == "<f4" and interface["version"] == 3
    assert result.__dlpack_device__()[0] == 2
    np.testing.assert_array_equal(result.copy_to_host(), values)
    again = view.apply({"x": result})["x"]
    del result
    np.testing.assert_array_equal(again.copy_to_host(), values)
    del again
    view.close()
    assert leases(served_gpu) == 0


@needs_gpu
def test_an_array_that_only_has_dlpack_is_taken(served_gpu):
    class OnlyDLPack:
        def __init__(self, array):
            self.__dlpack__ = array.__dlpack__
            self.__dlpack_device__ = array.__dlpack_device__

    view = served_gpu.client("identity").with_encoding(gpu_transport="cuda_ipc")
    first = view.apply({"x": device_array(np.arange(5, dtype="float32"))})["x"]
    second = view.apply({"x": OnlyDLPack(first)})["x"]
    np.testing.assert_array_equal(second.copy_to_host(), np.arange(5, dtype="float32"))


@needs_gpu
def test_a_program_that_just_ends_leaves_no_lease(served_gpu):
    script = f"""
import sys
sys.path.insert(0, {str(__file__.rsplit('/', 1)[0])!r})
import numpy as np
from test_gpu import device_array
from tessera import Tesseract
view = Tesseract.from_url({served_gpu.url("identity")!r}).with_encoding(gpu_transport="cuda_ipc")
kept = view.apply({{"x": device_array(np.arange(5, dtype="float32"))}})
"""
    subprocess.run([sys.executable, "-c", script], check=True)
    assert leases(served_gpu) == 0


@pytest.mark.skipif(gpu_problem() is None, reason="there is a GPU")
def test_without_a_gpu_the_fallback_is_told_once(served_gpu):
    tess = served_gpu.client("identity")
    with pytest.warns(UserWarning, match="offers gpu_transport='cuda_ipc', but it does not work"):
        assert tess.resolve_gpu_transport() == "none"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tess.resolve_gpu_transport() == "none"
