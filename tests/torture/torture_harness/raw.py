"""Requests as bytes, and connections that are broken on purpose."""

import json
import socket
import struct

import numpy as np

BASE64 = "application/json+base64"


def request(path: str, body: bytes = b"", accept: str = "", method: str = "", **headers: str) -> bytes:
    """One request with a length; header names have `_` for `-`."""
    lines = [f"{method or ('POST' if body else 'GET')} {path} HTTP/1.1", "Host: torture"]
    if body:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    if accept:
        lines.append(f"Accept: {accept}")
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def inputs(**values) -> bytes:
    """The body of an apply."""
    return json.dumps({"inputs": values}).encode()


def base64_array(values: np.ndarray) -> dict:
    """An array as it goes in json+base64."""
    import base64

    data = {"buffer": base64.b64encode(values.tobytes()).decode(), "encoding": "base64"}
    return {"object_type": "array", "shape": list(values.shape), "dtype": str(values.dtype), "data": data}


def connect(port: int, receive_buffer: int = 0, timeout_s: float = 30) -> socket.socket:
    plain = socket.socket()
    if receive_buffer:
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    plain.settimeout(timeout_s)
    plain.connect(("127.0.0.1", port))
    return plain


def reset(connection: socket.socket) -> None:
    """Closes with RST: the other side's next write fails."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()
