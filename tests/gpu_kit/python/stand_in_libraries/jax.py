"""As much of JAX as the kit uses, on the stand-in driver."""

from contextlib import contextmanager
from types import SimpleNamespace

from device_memory import DeviceNumbers

__version__ = "stand-in"
_GPU = "cuda:0"


class Array(DeviceNumbers):
    __hash__ = None

    def devices(self):
        return {_GPU}

    @property
    def T(self):
        view = DeviceNumbers.T.fget(self)
        return Array.of(view.values(), view.shape)

    def __eq__(self, other):
        return SimpleNamespace(all=lambda: self.is_same(other))


def devices(kind):
    assert kind == "gpu"
    return [_GPU]


@contextmanager
def default_device(device):
    assert device == _GPU
    yield


def _arange(first, end, dtype):
    assert dtype == "float32"
    return Array.of(range(first, end))


numpy = SimpleNamespace(arange=_arange)
dlpack = SimpleNamespace(from_dlpack=Array.from_dlpack)
