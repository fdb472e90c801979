"""The client of one served Tesseract, with the names and signatures of the public SDK's class."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from numbers import Real
from typing import Any, NoReturn

from ._native import Client


def _names(argument: str, names: Iterable[str]) -> list[str]:
    """Names of inputs or outputs. A str is no list of them, though Python would take it as one of letters."""
    found = [names] if isinstance(names, str) else list(names)
    if isinstance(names, str) or not all(isinstance(name, str) for name in found):
        raise ValueError(f"{argument} is a list of names, not {names!r}")
    return found


def _run_id(run_id: object) -> str | None:
    return None if run_id is None else str(run_id)


def _path(path: str | os.PathLike[str] | None) -> str | None:
    return None if path is None else os.fsdecode(path)


def _seconds(timeout: object) -> tuple[float | None, float | None]:
    """The limits of connecting and of reading."""
    connect_and_read = timeout if isinstance(timeout, tuple) else (timeout, timeout)
    if len(connect_and_read) != 2 or not all(
        limit is None or (isinstance(limit, Real) and not isinstance(limit, bool)) for limit in connect_and_read
    ):
        raise ValueError(f"timeout is a number of seconds, a tuple (connect, read) of two, or None, not {timeout!r}")
    connect, read = (None if limit is None else float(limit) for limit in connect_and_read)
    return connect, read


@dataclass(frozen=True)
class RequestedEncoding:
    """The encoding that calls ask for. A field that is None leaves it to the server."""

    output_format: str | None = None
    gpu_transport: str | None = None
    compression: str | None = None


@dataclass(frozen=True)
class ServerCapabilities:
    """What a server accepts. A field that is None is not stated: runtimes before 1.13 state none, 1.13 and 1.14 no
    GPU transports."""

    output_formats: tuple[str, ...] | None
    gpu_transports: tuple[str, ...] | None
    compressions: tuple[str, ...] | None


class Tesseract:
    """A served Tesseract, to be called.

    Results hold NumPy arrays, and :class:`DeviceArray` for arrays that stayed on a GPU. Inputs may hold NumPy arrays
    and scalars, anything with ``__cuda_array_interface__``, ``__dlpack__``, ``__array__`` or a buffer, and dicts,
    lists and plain values. Every method may be called from any thread; while it waits, others run.

    Without NumPy installed, arrays of results are memoryviews (``tolist()``, ``shape``), and inputs may be
    ``array.array`` and memoryviews in C order.

        >>> tess = Tesseract.from_url("unix:/run/tessera.sock:/vectoradd")
        >>> tess.apply({"a": [1.0], "b": [2.0]})["result"]
        array([3.])
    """

    __slots__ = ("__weakref__", "_client")
    _client: Client

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise TypeError("Tesseract cannot be instantiated directly. Use Tesseract.from_url().")

    @classmethod
    def _of(cls, client: Client) -> Tesseract:
        tesseract = cls.__new__(cls)
        tesseract._client = client
        return tesseract

    @classmethod
    def from_url(
        cls,
        url: str,
        server_output_path: str | os.PathLike[str] | None = None,
        timeout: float | tuple[float | None, float | None] | None = None,
        *,
        server_input_path: str | os.PathLike[str] | None = None,
        borrow_gpu_arrays: bool = False,
        progress: Callable[[int, int], object] | None = None,
        progress_from_bytes: int = 64 << 20,
    ) -> Tesseract:
        """A client of the Tesseract at an address.

            >>> tess = Tesseract.from_url("http://127.0.0.1:8000/vectoradd", timeout=30.0)
            >>> local = Tesseract.from_url("unix:/run/tessera.sock:/vectoradd")

        Args:
            url: ``http://host:port``, with a path if the Tesseract is served under one; ``host:port``; or
                ``unix:/path/of.sock``, with ``:/path`` behind it.
            server_output_path: The folder, as this process sees it, into which the server writes files. Needed to
                read ``json+binref``.
            timeout: Seconds to wait for a connection, and for the server between two arrivals of bytes; or a tuple
                of both. None waits for ever.
            server_input_path: The folder, as this process sees it, from which the server reads files. With it, arrays
                are sent as files while ``json+binref`` is asked for.
            borrow_gpu_arrays: Arrays that come by a GPU transport stay the server's memory until they are dropped,
                instead of being copied on the GPU. The server keeps them for five minutes at most.
            progress: Called with the bytes done and the bytes in all (0 if not known) of a large transfer, each way.
            progress_from_bytes: What is a large transfer.
        """
        if not isinstance(url, str):
            raise TypeError(f"url is a str, not {url!r}")
        url.encode()  # half of a surrogate pair is a UnicodeEncodeError, a ValueError
        if progress is not None and not callable(progress):
            raise TypeError(f"progress is called, and {progress!r} cannot be")
        connect, read = _seconds(timeout)
        return cls._of(
            Client.connect(
                url,
                _path(server_output_path),
                _path(server_input_path),
                connect,
                read,
                borrow_gpu_arrays,
                progress,
                max(0, progress_from_bytes),
            )
        )

    def apply(self, inputs: dict[str, Any], run_id: str | None = None) -> dict[str, Any]:
        """Runs the function.

            >>> tess.apply({"a": np.ones(3), "b": np.zeros(3), "s": 2})["result"]
            array([2., 2., 2.])

        Args:
            inputs: The inputs, by name.
            run_id: The server keeps the files of the run under this name.
        """
        return self._client.apply(inputs, _run_id(run_id))

    def jacobian(
        self, inputs: dict[str, Any], jac_inputs: list[str], jac_outputs: list[str], run_id: str | None = None
    ) -> dict[str, Any]:
        """The derivatives of outputs by inputs, all of them: ``result[output][input]``.

            >>> tess.jacobian({"a": np.ones(2), "b": np.ones(2)}, ["a"], ["result"])["result"]["a"]
            array([[1., 0.],
                   [0., 1.]])
        """
        return self._client.jacobian(
            inputs, _names("jac_inputs", jac_inputs), _names("jac_outputs", jac_outputs), _run_id(run_id)
        )

    def jacobian_vector_product(
        self,
        inputs: dict[str, Any],
        jvp_inputs: list[str],
        jvp_outputs: list[str],
        tangent_vector: dict[str, Any],
        run_id: str | None = None,
    ) -> dict[str, Any]:
        """The derivative of outputs in the direction of ``tangent_vector``, which has an array for each input.

            >>> x = {"a": np.ones(2), "b": np.ones(2)}
            >>> tess.jacobian_vector_product(x, ["b"], ["result"], {"b": np.array([1.0, 2.0])})["result"]
            array([1., 2.])
        """
        return self._client.jacobian_vector_product(
            inputs,
            _names("jvp_inputs", jvp_inputs),
            _names("jvp_outputs", jvp_outputs),
            tangent_vector,
            _run_id(run_id),
        )

    def vector_jacobian_product(
        self,
        inputs: dict[str, Any],
        vjp_inputs: list[str],
        vjp_outputs: list[str],
        cotangent_vector: dict[str, Any],
        run_id: str | None = None,
    ) -> dict[str, Any]:
        """The gradient by inputs of ``cotangent_vector``, which has an array for each output, times the outputs.

            >>> x = {"a": np.ones(2), "b": np.ones(2)}
            >>> tess.vector_jacobian_product(x, ["s"], ["result"], {"result": np.ones(2)})["s"]
            array(2.)
        """
        return self._client.vector_jacobian_product(
            inputs,
            _names("vjp_inputs", vjp_inputs),
            _names("vjp_outputs", vjp_outputs),
            cotangent_vector,
            _run_id(run_id),
        )

    def abstract_eval(self, abstract_inputs: dict[str, Any]) -> dict[str, Any]:
        """The shapes and dtypes of the outputs for those of the inputs.

            >>> shape = {"shape": (5,), "dtype": "float64"}
            >>> tess.abstract_eval({"a": shape, "b": shape})
            {'result': {'shape': [5], 'dtype': 'float64'}}
        """
        return self._client.abstract_eval(abstract_inputs)

    def test(self, test_spec: dict[str, Any]) -> None:
        """Has the server run a test, and raises AssertionError if it fails. The server must be in debug mode.

            >>> tess.test({"endpoint": "apply", "payload": {"inputs": x}, "expected_outputs": {"result": y}})
        """
        self._client.test(test_spec)

    def health(self) -> dict[str, Any]:
        """Whether the server answers.

            >>> tess.health()
            {'status': 'ok'}
        """
        return self._client.health()

    @property
    def available_endpoints(self) -> list[str]:
        """The names of what can be called.

            >>> "jacobian" in tess.available_endpoints
            True
        """
        return self._client.available_endpoints()

    @property
    def openapi_schema(self) -> dict[str, Any]:
        """The OpenAPI document of the Tesseract; fetched once.

            >>> tess.openapi_schema["info"]["title"]
            'vectoradd'
        """
        return self._client.openapi_schema()

    @property
    def input_schema(self) -> dict[str, Any]:
        """The JSON schema of the inputs of :meth:`apply`.

            >>> list(tess.input_schema["properties"])
            ['a', 'b', 's', 'normalize']
        """
        return self._client.input_schema()

    @property
    def output_schema(self) -> dict[str, Any]:
        """The JSON schema of the outputs of :meth:`apply`.

            >>> list(tess.output_schema["properties"])
            ['result']
        """
        return self._client.output_schema()

    @property
    def server_capabilities(self) -> ServerCapabilities:
        """The encodings that the server accepts.

            >>> tess.server_capabilities.compressions
            ('none', 'lz4')
        """
        return ServerCapabilities(*self._client.server_capabilities())

    def with_encoding(
        self,
        *,
        output_format: str | None = None,
        gpu_transport: str | None = None,
        compression: str | None = None,
    ) -> Tesseract:
        """A view whose calls ask for this encoding; what is None stays as it is here. Views share connections.

            >>> fast = tess.with_encoding(output_format="json+base64")
            >>> fast = tess.with_encoding(gpu_transport=tess.resolve_gpu_transport())

        Raises:
            ValueError: if the server does not accept a value.
        """
        return self._of(self._client.with_encoding(output_format, gpu_transport, compression))

    @property
    def current_encoding(self) -> RequestedEncoding:
        """The encoding that calls ask for.

            >>> tess.with_encoding(compression="lz4").current_encoding.compression
            'lz4'
        """
        return RequestedEncoding(*self._client.current_encoding())

    def resolve_gpu_transport(self) -> str:
        """The GPU transport to use, found by trying it once with a small array both ways; ``none``, with a warning
        that says why, where the one that the server offers does not work from here.

            >>> transport = tess.resolve_gpu_transport()

        Raises:
            RuntimeError: if :attr:`current_encoding` asks for a transport that does not work.
        """
        return self._client.resolve_gpu_transport()

    @property
    def url(self) -> str:
        """The address, without credentials.

            >>> tess.url
            'http://127.0.0.1:8000/vectoradd'
        """
        return self._client.url()

    def close(self) -> None:
        """Tells the server what is done with, and closes the connections that nobody uses; for all views. Happens by
        itself when the last view goes, and when the program ends.

            >>> tess.close()
        """
        self._client.close()

    def __enter__(self) -> Tesseract:
        return self

    def __exit__(self, *args: object) -> None:
        self.close()

    def __copy__(self) -> Tesseract:
        return self._of(self._client)

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"a Tesseract holds connections and cannot be pickled; call Tesseract.from_url({self.url!r}) where it is used"
        )

    def __repr__(self) -> str:
        return f"Tesseract.from_url({self.url!r})"
