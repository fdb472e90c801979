"""Calls Tesseracts: compute functions served over HTTP.

    >>> from tessera import Tesseract
    >>> tess = Tesseract.from_url("http://127.0.0.1:8000/vectoradd")
    >>> tess.apply({"a": [1.0], "b": [2.0]})["result"]
    array([3.])
"""

from ._native import DeviceArray
from .errors import ServerConnectionError, ServerTimeoutError, StatusError, TransportError, ValidationError
from .tesseract import RequestedEncoding, ServerCapabilities, Tesseract

__all__ = [
    "DeviceArray",
    "RequestedEncoding",
    "ServerCapabilities",
    "ServerConnectionError",
    "ServerTimeoutError",
    "StatusError",
    "Tesseract",
    "TransportError",
    "ValidationError",
]

__version__ = "0.1.0"
