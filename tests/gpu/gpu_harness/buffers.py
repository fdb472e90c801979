"""GPU memory of a client, through the public SDK's own CUDA layer."""

import base64
import contextlib
import re

import numpy as np

DESCRIPTOR = re.compile(r"([0-9a-f-]{36}):([A-Za-z0-9+/=]*):(\d+):(\d+)")


def _api():
    from tesseract_core.runtime.cuda import api

    return api


def uuids() -> list[str]:
    """Those of the GPUs, by number."""
    return [_api().device_uuid(number) for number in range(_api().device_count())]


class Buffer:
    """An allocation of this process, which goes with free() or its block."""

    def __init__(self, size_bytes: int, gpu: int = 0):
        self.gpu, self.size_bytes = gpu, size_bytes
        with on_gpu(gpu):
            self.address = _api().malloc(size_bytes)
        self.handle = base64.b64encode(_api().ipc_get_mem_handle(self.address)).decode()

    def __enter__(self) -> "Buffer":
        return self

    def __exit__(self, *_) -> None:
        self.free()

    def free(self) -> None:
        if self.address:
            _api().free(self.address)
            self.address = 0

    def write(self, values: np.ndarray, offset: int = 0) -> None:
        values = np.ascontiguousarray(values)
        assert offset + values.nbytes <= self.size_bytes
        if values.nbytes:
            _api().memcpy_host_to_device(self.address + offset, values.ctypes.data, values.nbytes)
            _api().device_synchronize()

    def reference(self, offset: int = 0, size_bytes: int | None = None) -> str:
        size = self.size_bytes if size_bytes is None else size_bytes
        return f"{uuids()[self.gpu]}:{self.handle}:{offset}:{size}"


@contextlib.contextmanager
def on_gpu(number: int):
    """Makes a GPU the current one."""
    before = _api().get_device()
    _api().set_device(number)
    try:
        yield
    finally:
        _api().set_device(before)


@contextlib.contextmanager
def lent(values, gpu: int = 0):
    """The message of an array in an allocation of its own, valid within the block."""
    values = np.asarray(values, "float32")
    with Buffer(max(values.nbytes, 1), gpu) as buffer:
        buffer.write(values)
        yield message(buffer.reference(), values.shape)


def message(reference: str, shape=(), dtype: str = "float32") -> dict:
    """A GPU array as it goes over the wire."""
    return {
        "object_type": "array",
        "shape": list(shape),
        "dtype": dtype,
        "data": {"buffer": reference, "encoding": "cuda_ipc"},
    }


def read(message: dict) -> np.ndarray:
    """The elements of a GPU array of an answer, copied out through its handle."""
    from tesseract_core.runtime.device_transport import get_transport

    assert DESCRIPTOR.fullmatch(message["data"]["buffer"]), message
    return get_transport("cuda_ipc").receive(message).copy_to_host()
