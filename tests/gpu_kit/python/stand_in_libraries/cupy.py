"""As much of CuPy as the kit uses, on the stand-in driver."""

from types import SimpleNamespace

from device_memory import DeviceNumbers

__version__ = "stand-in"
float32 = float


class ndarray(DeviceNumbers):
    __hash__ = None

    @property
    def __cuda_array_interface__(self):
        return self.cuda_array_interface(version=3, stream=1)

    def __eq__(self, other):
        return SimpleNamespace(all=lambda: self.is_same(other))


class _Stream:
    def __init__(self, non_blocking=False):
        self.non_blocking = non_blocking

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None

    def synchronize(self):
        """Everything here is finished at once."""


cuda = SimpleNamespace(is_available=lambda: True, Stream=_Stream, get_current_stream=_Stream)


def arange(first, end, dtype):
    assert dtype == "float32"
    return ndarray.of(range(first, end))


from_dlpack = ndarray.from_dlpack
asarray = ndarray.from_interface
