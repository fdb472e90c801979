"""Mixed traffic for a soak: what clients do right and wrong, each with the answer that it must get."""

import base64
import contextlib
import http.client
import json
import random
import socket
import uuid
from pathlib import Path

import numpy as np
from gpu_harness import buffers
from gpu_harness.daemons import DONE, IPC, Answer, Daemon

from torture_harness.raw import base64_array, connect, inputs, request, reset

JSON = {"Accept": "application/json"}
BASE64 = {"Accept": "application/json+base64"}
MAX_BODY_BYTES = 4 << 20


class Client:
    """One client that calls one daemon, one action after the other; a wrong answer is an AssertionError."""

    def __init__(self, daemon: Daemon, folder: Path, seed: int, with_gpu: bool):
        self._daemon = daemon
        self._folder = folder
        self._random = random.Random(seed)
        self._numbers = np.random.default_rng(seed)
        self._client = daemon.client()
        self._done = ""
        self._actions = [
            self.json, self.base64, self.base64_lz4, self.binref, self.binref_lz4, self.binref_in, self.chunked,
            self.gradients, self.abstract_eval, self.pages, self.wrong_value, self.wrong_path, self.wrong_method,
            self.wrong_accept, self.wrong_json, self.wrong_run, self.too_large, self.author_error,
            self.half_head, self.half_body, self.vanish, self.pipeline,
        ] + ([self.gpu_array] * 3 if with_gpu else [])  # fmt: skip

    def act(self) -> str:
        """Does one thing by chance; gives its name."""
        action = self._random.choice(self._actions)
        action()
        return action.__name__

    def _request(self, method: str, path: str, body=None, headers=()) -> Answer:
        try:
            return self._client.request(method, path, body, headers)
        except (http.client.RemoteDisconnected, ConnectionError):  # closed after an error, or idle for too long
            self._client.close()
            self._client = self._daemon.client()
            return self._client.request(method, path, body, headers)

    def _post(self, path: str, body, headers, status: int = 200) -> Answer:
        answer = self._request("POST", path, body, headers)
        assert answer.status == status, f"{path}: {answer.status} {answer.body[:300]}"
        return answer

    def _array(self) -> np.ndarray:
        size = 2 ** self._random.randint(0, 16)
        return self._numbers.random(size, dtype="float32")

    def _same(self, sent: np.ndarray, got: np.ndarray) -> None:
        assert np.array_equal(sent, got), "an array came back with other values"

    # What is right.
    def json(self) -> None:
        sent = self._array()[:2000]
        answer = self._post("/identity/apply", {"inputs": {"x": sent.tolist()}}, JSON).json()
        self._same(sent, np.array(answer["x"]["data"]["buffer"], "float32"))

    def _apply_base64(self, accept: str) -> dict:
        self._sent = self._array()
        body = {"inputs": {"x": base64_array(self._sent)}}
        return self._post("/identity/apply", body, {"Accept": accept}).json()["x"]["data"]

    def base64(self) -> None:
        data = self._apply_base64("application/json+base64")
        self._same(self._sent, np.frombuffer(base64.b64decode(data["buffer"]), "float32"))

    def base64_lz4(self) -> None:
        assert self._apply_base64("application/json+base64; compression=lz4")["buffer"]

    def binref(self) -> None:
        data = self._apply_base64("application/json+binref")
        name, offset = data["buffer"].rsplit(":", 1)
        held = (self._folder / "identity" / name).read_bytes()[int(offset):]
        self._same(self._sent, np.frombuffer(held[: self._sent.nbytes], "float32"))

    def binref_lz4(self) -> None:
        data = self._apply_base64("application/json+binref; compression=lz4")
        assert (self._folder / "identity" / data["buffer"].split(":")[0]).is_file()

    def binref_in(self) -> None:
        sent = self._array()
        name = f"in_{uuid.uuid4()}.bin"
        path = self._folder / "identity" / name
        path.write_bytes(sent.tobytes())
        try:
            array = {"object_type": "array", "shape": [sent.size], "dtype": "float32",
                     "data": {"buffer": f"{name}:0", "encoding": "binref"}}  # fmt: skip
            answer = self._post("/identity/apply", {"inputs": {"x": array}}, BASE64).json()
            self._same(sent, np.frombuffer(base64.b64decode(answer["x"]["data"]["buffer"]), "float32"))
        finally:
            path.unlink()

    def chunked(self) -> None:
        body = inputs(x=base64_array(self._array()))
        with connect(self._daemon.port) as plain:
            plain.sendall(request("/identity/apply", method="POST", Content_Type="application/json",
                                  Transfer_Encoding="chunked", Connection="close"))  # fmt: skip
            for begin in range(0, len(body), 9999):
                piece = body[begin : begin + 9999]
                plain.sendall(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            plain.sendall(b"0\r\n\r\n")
            assert self._read_all(plain).startswith(b"HTTP/1.1 200 ")

    def _read_all(self, plain: socket.socket) -> bytes:
        pieces = []
        while piece := plain.recv(1 << 16):
            pieces.append(piece)
        return b"".join(pieces)

    def gradients(self) -> None:
        base = {"inputs": {"x": 0.5, "y": 2.0}}
        self._post("/univariate/jacobian", base | {"jac_inputs": ["x"], "jac_outputs": ["result"]}, BASE64)
        jvp = {"jvp_inputs": ["x"], "jvp_outputs": ["result"], "tangent_vector": {"x": 1.0}}
        self._post("/univariate/jacobian_vector_product", base | jvp, JSON)
        vjp = {"vjp_inputs": ["x", "y"], "vjp_outputs": ["result"], "cotangent_vector": {"result": 1.0}}
        self._post("/univariate/vector_jacobian_product", base | vjp, JSON)

    def abstract_eval(self) -> None:
        spec = {"shape": [self._random.randint(1, 1 << 30)], "dtype": "float32"}
        self._post("/identity/abstract_eval", {"inputs": {"x": spec}}, JSON)

    def pages(self) -> None:
        for path in ("/health", "/metrics", "/identity/openapi.json", "/everything/docs", "/"):
            assert self._request("GET", path).status == 200, path

    # What is wrong, and said so.
    def wrong_value(self) -> None:
        self._post("/identity/apply", {"inputs": {"x": "no array"}}, JSON, 422)
        self._post("/everything/apply", {"inputs": {"count": 1001, "colour": "mauve", "f64": [[[1]]]}}, JSON, 422)

    def wrong_path(self) -> None:
        assert self._request("GET", f"/{uuid.uuid4()}/apply").status == 404

    def wrong_method(self) -> None:
        assert self._request("GET", "/identity/apply").status == 405

    def wrong_accept(self) -> None:
        self._post("/identity/apply", {"inputs": {"x": [1]}}, {"Accept": f"text/{uuid.uuid4()}"}, 406)

    def wrong_json(self) -> None:
        self._post("/identity/apply", b'{"inputs": {"x": [1, 2', JSON, 422)

    def wrong_run(self) -> None:
        self._post("/identity/apply?run_id=a/../../away", {"inputs": {"x": [1]}}, JSON, 422)

    def too_large(self) -> None:
        with connect(self._daemon.port) as plain:
            plain.sendall(request("/identity/apply", method="POST", Content_Type="application/json",
                                  Content_Length=str(MAX_BODY_BYTES + 1)))  # fmt: skip
            assert plain.recv(1 << 16).startswith(b"HTTP/1.1 413 ")

    def author_error(self) -> None:
        self._post("/trouble/apply", {"inputs": {"x": [1], "how": "exception", "print": "before"}}, JSON, 500)
        self._post("/trouble/apply", {"inputs": {"x": [1], "how": "int"}}, JSON, 500)

    # Who goes away.
    def half_head(self) -> None:
        plain = connect(self._daemon.port)
        plain.sendall(b"POST /identity/apply HTTP/1.1\r\nHost: tor")
        plain.close()

    def half_body(self) -> None:
        body = inputs(x=base64_array(self._array()))
        plain = connect(self._daemon.port)
        plain.sendall(request("/identity/apply", body)[: -self._random.randint(1, len(body))])
        reset(plain)

    def vanish(self) -> None:
        body = inputs(x=base64_array(self._numbers.random(1 << 18, dtype="float32")))
        plain = connect(self._daemon.port, receive_buffer=4096)
        plain.sendall(request("/identity/apply", body, "application/json+base64"))
        with contextlib.suppress(ConnectionError):
            plain.recv(1000)
        reset(plain)

    def pipeline(self) -> None:
        with connect(self._daemon.port) as plain:
            plain.sendall(request("/health") * 49 + request("/health", Connection="close"))
            assert self._read_all(plain).count(b"HTTP/1.1 200 ") == 50

    # GPU arrays on the stand-in driver.
    def gpu_array(self) -> None:
        sent = self._array()
        with buffers.lent(sent) as message:
            headers = {"Accept": IPC, DONE: self._done}
            answer = self._post("/identity/apply", json.dumps({"inputs": {"x": message}}).encode(), headers)
            # Identity hands memory back that the test's own process made: it is copied on the GPU before it is lent.
            self._same(sent, buffers.read(answer.json()["x"]))
            self._done = answer.lease or ""
