"""Plays recorded exchanges of GPU arrays against a daemon, with real memory in the place of the recorded."""

import base64
import json
import re
from math import prod

import numpy as np

from gpu_harness import buffers
from gpu_harness.daemons import DONE, EXPORTS, Client

HANDLE = re.compile(r"[A-Za-z0-9+/]{86,}={0,2}")
PLACE = re.compile(r":(\d+):(\d+)")
DRIVER_TEXT = re.compile(r"cuda[A-Z]\w*(\(\d+\))? failed: .*")
KINDS = {"IpcDeviceArray": "device", "ndarray": "host"}


def arrays_of(value):
    """The GPU arrays in a message, wherever they are."""
    if isinstance(value, dict):
        data = value.get("data")
        if isinstance(data, dict) and data.get("encoding") == "cuda_ipc":
            yield value
        else:
            for member in value.values():
                yield from arrays_of(member)
    elif isinstance(value, list):
        for item in value:
            yield from arrays_of(item)


class Replay:
    """One file of recorded exchanges. What is recorded of the client's memory is allocated, in this process."""

    def __init__(self, client: Client, recorded_gpus: list[str], leases, sizes: dict[str, int] | None = None):
        self._client, self._leases = client, leases
        self._sizes = sizes
        self._gpus = dict(zip(recorded_gpus, buffers.uuids()))
        self._memory: dict[str, buffers.Buffer] = {}
        self._named: dict[str, str] = {}  # recorded id -> ours
        self._own: list[str] = []

    def close(self) -> None:
        """Gives back what the exchanges left, so that the next file finds an idle daemon."""
        if self._own:
            assert self._client.get("/health", headers={DONE: ",".join(self._own)}).status == 200
        self.free()

    def free(self) -> None:
        for memory in self._memory.values():
            memory.free()

    def prepare(self, text: str) -> None:
        """Allocates and fills what a recorded request names."""
        for token in HANDLE.finditer(text):
            handle = base64.b64encode(base64.b64decode(token[0])[:64]).decode()
            is_preceded = text[: token.start()].endswith(":")
            if handle in self._memory or not is_preceded or not handle.strip("A="):
                continue
            place = PLACE.match(text, token.end())
            size = int(place[2]) if place else 4096
            gpu = text[: token.start() - 1][-36:].lower()
            number = list(self._gpus).index(gpu) if gpu in self._gpus else 0
            self._memory[handle] = buffers.Buffer(size if self._sizes is None else self._sizes, number)
        if text.startswith("{") and text.endswith("}"):
            self._fill(json.loads(text))

    def _fill(self, request: dict) -> None:
        for array in arrays_of(request):
            parts = buffers.DESCRIPTOR.fullmatch(str(array["data"].get("buffer")))
            memory = self._memory.get(parts[2]) if parts else None
            if memory is None:
                continue
            content = self._content(request, array)
            if int(parts[3]) + content.nbytes <= memory.size_bytes:
                memory.write(content, int(parts[3]))

    @staticmethod
    def _content(request: dict, array: dict) -> np.ndarray:
        if "gpu_transport" in request or "expected" in request:
            try:
                expected = base64.b64decode(request["expected"])
            except (KeyError, ValueError):
                expected = b""
            given = expected if len(expected) == 256 and any(expected) else bytes(range(256))
            return np.frombuffer(given, "uint8")
        dtype = array["dtype"] if array["dtype"] in ("float32", "float64") else "float32"
        return np.arange(prod(array["shape"]), dtype=dtype)

    def ours(self, text: str) -> str:
        """A recorded text with our GPUs, handles and ids."""
        for recorded, real in self._gpus.items():
            text = text.replace(recorded, real).replace(recorded.upper(), real.upper())

        def replace(token: re.Match) -> str:
            try:
                recorded = base64.b64decode(token[0])
            except ValueError:
                return token[0]
            memory = self._memory.get(base64.b64encode(recorded[:64]).decode())
            return base64.b64encode(base64.b64decode(memory.handle) + recorded[64:]).decode() if memory else token[0]

        text = HANDLE.sub(replace, text)
        for recorded, own in self._named.items():
            text = text.replace(recorded, own).replace(recorded.upper(), own.upper())
        return text

    def theirs(self, text: str) -> str:
        """A text of ours with the recorded GPUs and handles of the client's memory."""
        for recorded, real in self._gpus.items():
            text = text.replace(real, recorded).replace(real.upper(), recorded.upper())
        for recorded, memory in self._memory.items():
            text = text.replace(memory.handle, recorded)
        return text

    def send(self, method: str, path: str, headers: list[tuple[str, str]], text: str, recorded: dict):
        """Sends a recorded request; gives the answer, and the number of leases kept for others."""
        pairs = [(name, self.ours(value)) for name, value in headers]
        answer = self._client.request(method, path, self.ours(text) if text else None, pairs)
        if answer.lease:
            self._own.append(answer.lease)
            if EXPORTS in recorded["headers"]:
                self._named[recorded["headers"][EXPORTS]] = answer.lease
        return answer, self._leases()["total"] - (1 if answer.lease else 0)

    def compare(self, request: str, recorded: dict, answer) -> None:
        """The status, headers that matter, and the body as a JSON value."""
        assert answer.status == recorded["status"], answer.body
        assert (EXPORTS in recorded["headers"]) == (answer.lease is not None), answer.headers
        assert answer.headers["content-type"] == recorded["headers"]["content-type"]
        text = recorded.get("text", recorded.get("body"))
        if not answer.headers["content-type"].startswith("application/json"):
            assert answer.body.decode() == text
            return
        body = answer.json()
        for array in self._exported(body):
            self._compare_content(request, array)
        assert plain(json.loads(self.theirs(answer.body.decode())), json.loads(text)) == plain(json.loads(text))

    @staticmethod
    def _exported(body):
        return [] if "detail" in body else list(arrays_of(body))

    def _compare_content(self, request: str, array: dict) -> None:
        given = buffers.read(array)
        sent = json.loads(self.theirs(request))
        if "expected" in sent:
            wanted = np.frombuffer(base64.b64decode(sent["expected"]), "uint8")[::-1]
        else:
            x = sent["inputs"].get("x", sent["inputs"].get("a"))
            values = x if isinstance(x, list) else range(prod(array["shape"]))
            factor = 2 if "a" in sent["inputs"] else 1
            wanted = np.array(values, array["dtype"]).reshape(array["shape"]) * factor
        np.testing.assert_array_equal(given, wanted)


def plain(value, beside=None):
    """A body without what varies. Text of the driver's own is taken from what is compared with."""
    if isinstance(value, dict):
        value = {key: item for key, item in value.items() if key != "pending"}
        if isinstance(value.get("kind"), str):
            value["kind"] = KINDS.get(value["kind"], value["kind"])
        buffer = value.get("buffer")
        if value.get("encoding") == "cuda_ipc" and isinstance(buffer, str):
            value["buffer"] = plain_reference(buffer)
        others = beside if isinstance(beside, dict) else {}
        # What a server quotes of a request is compared as it is.
        return {key: item if key == "input" else plain(item, others.get(key)) for key, item in value.items()}
    if isinstance(value, list):
        others = beside if isinstance(beside, list) and len(beside) == len(value) else [None] * len(value)
        return [plain(item, other) for item, other in zip(value, others)]
    if isinstance(value, str) and isinstance(beside, str) and (driver := DRIVER_TEXT.search(beside)):
        begin = beside[: driver.start()]
        return beside if value.startswith(begin) and len(value) > len(begin) else value
    return value


def plain_reference(buffer: str) -> str:
    """Handle, offset and size of memory that a server allocated are its own affair."""
    parts = buffers.DESCRIPTOR.fullmatch(buffer)
    return f"{parts[1]}:handle" if parts and parts[2] else buffer
