"""The requests that servers are timed with: one float32 array to `identity`, which hands it back."""

import base64
import json
import random
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

KIB = 1 << 10
MIB = 1 << 20


def floats(count: int) -> bytes:
    """`count` float32 of no pattern that would help a codec."""
    return random.Random(1).randbytes(4 * count).replace(b"\x7f", b"\x3f").replace(b"\xff", b"\xbf")


def running_sums(count: int) -> bytes:
    total, sums = 0.0, []
    for step in random.Random(2).choices(range(16), k=count):
        total += step
        sums.append(total)
    return struct.pack(f"<{count}f", *sums)


def body_of(count: int, data: dict) -> bytes:
    array = {"object_type": "array", "shape": [count], "dtype": "float32", "data": data}
    return json.dumps({"inputs": {"x": array}}, separators=(",", ":")).encode()


def base64_body(raw: bytes) -> bytes:
    return body_of(len(raw) // 4, {"buffer": base64.b64encode(raw).decode(), "encoding": "base64"})


def binref_body(raw: bytes, folder: Path) -> bytes:
    """Names a file that is written to the server's folder."""
    name = f"input_{len(raw)}.bin"
    (folder / name).write_bytes(raw)
    return body_of(len(raw) // 4, {"buffer": f"{name}:0", "encoding": "binref"})


def json_body(count: int) -> bytes:
    chance = random.Random(3)
    return json.dumps({"inputs": {"x": [chance.gauss(0, 1) for _ in range(count)]}}).encode()


@dataclass
class Case:
    """What is sent, how often, and how many times faster than the Python runtime tessera must be."""

    make_body: Callable[[Path], bytes] | None
    """Of the folder of the server that it is for."""
    accept: str
    count: int
    warmup: int
    goal: float
    goal_unix: float | None = None
    status: int = 200
    leaves_files: bool = False
    server: str = "tessera"


BASE64, BINREF = "application/json+base64", "application/json+binref"
SMALL = b'{"inputs":{"x":[1.0,2.0,3.0]}}'
CASES = {
    "3 floats, json": Case(lambda _: SMALL, "application/json", 1000, 200, 8),
    "the same, `--busy-poll 100us`": Case(lambda _: SMALL, "application/json", 1000, 200, 18, server="busy"),
    "1 KiB, base64": Case(lambda _: base64_body(floats(256)), BASE64, 1000, 200, 8),
    "1 KiB, binref": Case(lambda at: binref_body(floats(256), at), BINREF, 500, 100, 9, leaves_files=True),
    "1 MiB, base64": Case(lambda _: base64_body(floats(MIB // 4)), BASE64, 100, 20, 2.7),
    "64 MiB, base64": Case(lambda _: base64_body(floats(16 * MIB)), BASE64, 5, 2, 5, 10),
    "10^6 floats, json": Case(lambda _: json_body(10**6), "application/json", 5, 1, 4.5),
    "8 MiB of sums, base64 in, lz4 out": Case(
        lambda _: base64_body(running_sums(2 * MIB)), BASE64 + "; compression=lz4", 10, 3, 3
    ),
    "64 MiB, binref, a fresh file each": Case(
        lambda at: binref_body(floats(16 * MIB), at), BINREF, 7, 2, 1.2, leaves_files=True, server="unprepared"
    ),
    "64 MiB, binref, files made ahead": Case(
        lambda at: binref_body(floats(16 * MIB), at), BINREF, 7, 2, 2, leaves_files=True
    ),
    "422, one wrong field": Case(lambda _: b'{"inputs":{"x":"no"}}', "application/json", 500, 100, 8, status=422),
    "406, a format that is not offered": Case(lambda _: SMALL, "text/*", 500, 100, 8, status=406),
}
