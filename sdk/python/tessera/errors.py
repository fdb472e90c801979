"""What calls raise. Each is a built-in exception of Python, too, so that callers need none of these names.

Programs that were written for the public SDK catch exceptions of ``requests``: where that is imported, connection
errors and time-outs are those of ``requests`` as well.
"""

from __future__ import annotations

import functools
import sys
from typing import Any


class ValidationError(ValueError):
    """The Tesseract refused the inputs (status 422).

        >>> try:
        ...     tess.apply({"a": [1.0]})
        ... except ValueError as error:
        ...     print(error.errors()[0]["loc"])
        ('body', 'inputs', 'b')
    """

    def __init__(self, text: str, title: str, items: list[dict[str, Any]]) -> None:
        super().__init__(text)
        self.title = title
        self._items = items

    def errors(self) -> list[dict[str, Any]]:
        """What is wrong, item by item: ``type``, ``loc``, ``msg``, ``input``, and ``ctx`` where there is one."""
        return [dict(item) for item in self._items]

    def error_count(self) -> int:
        """The number of items."""
        return len(self._items)


class StatusError(RuntimeError):
    """The server answered with a status that is no success; ``status`` is its number."""

    status: int | None = None


class TransportError(RuntimeError):
    """An array in GPU memory could not be handed over."""


class ServerConnectionError(ConnectionError):
    """There is no connection to the server, or it broke off."""


class ServerTimeoutError(TimeoutError):
    """The server took longer than the ``timeout`` allows."""


_PLAIN = {
    "invalid_argument": ValueError,
    "bad_response": ValueError,
    "not_implemented": NotImplementedError,
    "test_failed": AssertionError,
    "gpu": TransportError,
    "cancelled": RuntimeError,
}


_OF_CONNECTIONS: dict[str, type[Exception]] = {"timeout": ServerTimeoutError, "connection": ServerConnectionError}


@functools.cache
def _also_of_requests(kind: str) -> type[Exception]:
    """Our class of that kind, which is that of ``requests``, too."""
    own = _OF_CONNECTIONS[kind]
    other = getattr(sys.modules["requests"].exceptions, "Timeout" if kind == "timeout" else "ConnectionError")
    return type(own.__name__, (own, other), {"__module__": own.__module__, "__doc__": own.__doc__})


def _exception_of(kind: str, text: str, status: int | None, title: str, items: list[dict[str, Any]]) -> Exception:
    """The exception for an error of the C++ SDK."""
    if kind == "refused":
        return ValidationError(text, title, items)
    if kind == "status":
        error = StatusError(text)
        error.status = status
        return error
    if kind in _PLAIN:
        return _PLAIN[kind](text)
    return (_also_of_requests(kind) if "requests" in sys.modules else _OF_CONNECTIONS[kind])(text)
