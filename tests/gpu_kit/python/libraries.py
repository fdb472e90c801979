"""How each array library makes an array on a GPU, takes one of another library, and is asked for its values.

Each class is made in a process of its own; it raises Missing where the library or its GPU is not there.
"""

from __future__ import annotations

import os


class Missing(Exception):
    """Why a library cannot be tried."""


class PyTorch:
    name = "PyTorch"
    dlpack_alone = False

    def __init__(self):
        import torch

        if not torch.cuda.is_available():
            raise Missing("PyTorch sees no GPU")
        self._torch = torch
        self.version = torch.__version__

    def make(self, size: int, first: int):
        """first, first + 1, …; float32 holds them all up to 2^24."""
        return self._torch.arange(first, first + size, dtype=self._torch.float32, device="cuda")

    def transposed(self, array, rows: int):
        """A view in another order than C."""
        return array.reshape(rows, -1).T

    def made_slowly(self, size: int, first: int):
        """As make(), but by much work on a stream of its own, which nobody has waited for."""
        stream = self._torch.cuda.Stream()
        array = self.make(size, first)
        stream.wait_stream(self._torch.cuda.current_stream())
        with self._torch.cuda.stream(stream):
            for _ in range(200):
                array = array + 1.0
            array = array - 200.0
        # The stream that is current where the array is handed on waits for it, as PyTorch asks of its users.
        self._torch.cuda.current_stream().wait_stream(stream)
        return array

    def from_dlpack(self, other):
        return self._torch.from_dlpack(other)

    def from_interface(self, other):
        return self._torch.as_tensor(other, device="cuda")

    def same(self, array, wanted) -> bool:
        return array.device.type == "cuda" and self._torch.equal(array, wanted)


class CuPy:
    name = "CuPy"
    dlpack_alone = False

    def __init__(self):
        import cupy

        if not cupy.cuda.is_available():
            raise Missing("CuPy sees no GPU")
        self._cupy = cupy
        self.version = cupy.__version__

    def make(self, size: int, first: int):
        return self._cupy.arange(first, first + size, dtype="float32")

    def transposed(self, array, rows: int):
        return array.reshape(rows, -1).T

    def made_slowly(self, size: int, first: int):
        array = self.make(size, first)
        self._cupy.cuda.get_current_stream().synchronize()
        stream = self._cupy.cuda.Stream(non_blocking=True)
        with stream:
            for _ in range(200):
                array = array + self._cupy.float32(1.0)
            # The interface names the stream that is current when it is asked for.
            return Within(array - self._cupy.float32(200.0), stream)

    def from_dlpack(self, other):
        return self._cupy.from_dlpack(other)

    def from_interface(self, other):
        return self._cupy.asarray(other)

    def same(self, array, wanted) -> bool:
        return isinstance(array, self._cupy.ndarray) and bool((array == wanted).all())


class Within:
    """An array whose description was taken while its stream was current; keeps both."""

    def __init__(self, array, stream):
        self._kept = (array, stream)
        self.__cuda_array_interface__ = array.__cuda_array_interface__


class Jax:
    name = "JAX"
    dlpack_alone = True

    def __init__(self):
        # Otherwise it takes three quarters of the GPU at once.
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        import jax
        from jax import dlpack

        self._dlpack = dlpack
        try:
            self._device = jax.devices("gpu")[0]
        except RuntimeError as error:
            raise Missing(f"JAX sees no GPU: {error}") from error
        self._jax = jax
        self.version = jax.__version__

    def make(self, size: int, first: int):
        with self._jax.default_device(self._device):
            return self._jax.numpy.arange(first, first + size, dtype="float32")

    def transposed(self, array, rows: int):
        """Always in C order: a transposed array is another one."""
        return array.reshape(rows, -1).T

    def made_slowly(self, size: int, first: int):
        array = self.make(size, first)
        for _ in range(200):
            array = array + 1.0
        return array - 200.0

    def from_dlpack(self, other):
        return self._dlpack.from_dlpack(other)

    def from_interface(self, other):
        raise NotImplementedError

    def same(self, array, wanted) -> bool:
        return self._device in array.devices() and bool((array == wanted).all())


LIBRARIES = {"torch": PyTorch, "cupy": CuPy, "jax": Jax}
