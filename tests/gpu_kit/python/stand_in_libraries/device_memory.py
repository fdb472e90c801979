"""Arrays of float32 in the memory of the stand-in driver, with what PyTorch, CuPy and JAX show of theirs.

The modules beside this one have as much of those libraries as libraries.py uses, so that its code runs without a GPU.
"""

from __future__ import annotations

import ctypes
import itertools
import math
from array import array as HostArray

ITEM_BYTES = 4
_DLPACK_CUDA = 2
_LEGACY_STREAM = 1
_DLPACK_FLOAT = 2
_NAME = b"dltensor"
_USED_NAME = b"used_dltensor"

_driver = ctypes.CDLL("libcuda.so.1")
_capsule_new = ctypes.pythonapi.PyCapsule_New
_capsule_new.restype, _capsule_new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype, _capsule_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
_capsule_rename = ctypes.pythonapi.PyCapsule_SetName
_capsule_rename.argtypes = [ctypes.py_object, ctypes.c_char_p]


def _must(result: int) -> None:
    if result:
        raise RuntimeError(f"the driver answers {result}")


def _start() -> None:
    context = ctypes.c_void_p()
    _must(_driver.cuInit(0))
    _must(_driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    _must(_driver.cuCtxSetCurrent(context))


_start()


class Memory:
    """Owned; freed when it is dropped."""

    def __init__(self, size_bytes: int):
        address = ctypes.c_uint64()
        if size_bytes:
            _must(_driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size_bytes)))
        self.address = address.value

    def __del__(self):
        if self.address:
            _must(_driver.cuMemFree_v2(ctypes.c_uint64(self.address)))


class _Tensor(ctypes.Structure):
    """DLManagedTensor, with its DLTensor inside."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("type_code", ctypes.c_uint8),
        ("type_bits", ctypes.c_uint8),
        ("type_lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_lent: dict[int, tuple] = {}


@_Deleter
def _give_back(tensor: int) -> None:
    del _lent[tensor]


class _Taken:
    """Memory of another library, given back when it is dropped."""

    def __init__(self, capsule):
        self._address = _capsule_pointer(capsule, _NAME)
        _capsule_rename(capsule, _USED_NAME)
        self.tensor = _Tensor.from_address(self._address)

    def __del__(self):
        if self.tensor.deleter:
            _Deleter(self.tensor.deleter)(self._address)


class DeviceNumbers:
    """float32 of any shape; strides count elements."""

    def __init__(self, shape, owner, address: int, strides=None):
        self.shape = tuple(shape)
        self.strides = tuple(strides) if strides is not None else _strides_in_c_order(self.shape)
        self.owner = owner
        self.address = address

    @classmethod
    def of(cls, values, shape=None):
        host = HostArray("f", values)
        memory = Memory(len(host) * ITEM_BYTES)
        if host:
            data, size = host.buffer_info()
            source = ctypes.c_void_p(data)
            _must(_driver.cuMemcpyHtoD_v2(ctypes.c_uint64(memory.address), source, ctypes.c_size_t(size * ITEM_BYTES)))
        return cls(shape or (len(host),), memory, memory.address)

    @classmethod
    def from_dlpack(cls, other):
        if other.__dlpack_device__()[0] != _DLPACK_CUDA:
            raise ValueError("it is not on a GPU")
        taken = _Taken(other.__dlpack__(stream=_LEGACY_STREAM))
        tensor = taken.tensor
        assert (tensor.type_code, tensor.type_bits) == (_DLPACK_FLOAT, 8 * ITEM_BYTES)
        strides = [tensor.strides[i] for i in range(tensor.rank)] if tensor.strides else None
        return cls([tensor.shape[i] for i in range(tensor.rank)], taken, tensor.data + tensor.byte_offset, strides)

    @classmethod
    def from_interface(cls, other):
        found = other.__cuda_array_interface__
        assert found["typestr"] == "<f4" and found["strides"] is None
        return cls(found["shape"], other, found["data"][0])

    def values(self) -> list[float]:
        """In C order."""
        size = math.prod(self.shape)
        host = HostArray("f", bytes(size * ITEM_BYTES))
        if size:  # what views of an array span is the array
            target = ctypes.c_void_p(host.buffer_info()[0])
            source = ctypes.c_uint64(self.address)
            _must(_driver.cuMemcpyDtoH_v2(target, source, ctypes.c_size_t(size * ITEM_BYTES)))
        places = itertools.product(*map(range, self.shape))
        return [host[sum(map(int.__mul__, place, self.strides))] for place in places]

    def reshape(self, rows: int, _columns: int):
        columns = math.prod(self.shape) // rows
        return type(self)((rows, columns), self.owner, self.address)

    @property
    def T(self):
        return type(self)(self.shape[::-1], self.owner, self.address, self.strides[::-1])

    def __add__(self, number: float):
        return type(self).of((value + number for value in self.values()), self.shape)

    def __sub__(self, number: float):
        return self + -number

    def is_same(self, other) -> bool:
        return self.shape == other.shape and self.values() == other.values()

    def cuda_array_interface(self, **more) -> dict:
        strides = tuple(ITEM_BYTES * stride for stride in self.strides)
        return {"shape": self.shape, "typestr": "<f4", "data": (self.address, False), "strides": strides, **more}

    def __dlpack_device__(self):
        return (_DLPACK_CUDA, 0)

    def __dlpack__(self, *, stream=None):
        rank = len(self.shape)
        shape = (ctypes.c_int64 * rank)(*self.shape)
        strides = (ctypes.c_int64 * rank)(*self.strides)
        tensor = _Tensor(
            self.address,
            _DLPACK_CUDA,
            0,
            rank,
            _DLPACK_FLOAT,
            8 * ITEM_BYTES,
            1,
            shape,
            strides,
            0,
            None,
            ctypes.cast(_give_back, ctypes.c_void_p),
        )
        address = ctypes.addressof(tensor)
        _lent[address] = (tensor, shape, strides, self)
        return _capsule_new(address, _NAME, None)


def _strides_in_c_order(shape) -> tuple[int, ...]:
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))
