"""A daemon as a process of its own, and what it says of itself."""

import http.client
import json
import os
import queue
import re
import signal
import subprocess
import threading
from dataclasses import dataclass, field
from pathlib import Path

IPC = "application/json+base64; gpu_transport=cuda_ipc"
DONE = "Tesseract-Exports-Done"
EXPORTS = "tesseract-exports"
START_LIMIT_S = 60


@dataclass
class Answer:
    """Of one request."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self):
        return json.loads(self.body)

    @property
    def lease(self) -> str | None:
        return self.headers.get(EXPORTS)


class Client:
    """One connection, which is made anew when the daemon closes it."""

    def __init__(self, port: int):
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def request(self, method: str, path: str, body=None, headers=()) -> Answer:
        """Headers are pairs, or a dict; a body that is no bytes is sent as JSON."""
        pairs = list(headers.items()) if isinstance(headers, dict) else list(headers)
        if body is not None and not isinstance(body, bytes):
            body = (body if isinstance(body, str) else json.dumps(body)).encode()
        if body is not None and not any(name.lower() == "content-type" for name, _ in pairs):
            pairs.append(("Content-Type", "application/json"))
        self._connection.putrequest(method, path, skip_accept_encoding=True)
        for name, value in pairs:
            self._connection.putheader(name, value)
        if body is not None:
            self._connection.putheader("Content-Length", str(len(body)))
        self._connection.endheaders(body)
        response = self._connection.getresponse()
        headers = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, headers, response.read())

    def get(self, path: str, **options) -> Answer:
        return self.request("GET", path, **options)

    def apply(self, inputs: dict, accept: str | None = IPC, done: str | None = "") -> Answer:
        """Calls the endpoint; `done` is what the client names, None to send no such header."""
        headers = {}
        if accept is not None:
            headers["Accept"] = accept
        if done is not None:
            headers[DONE] = done
        return self.request("POST", "/apply", {"inputs": inputs}, headers)

    def close(self) -> None:
        self._connection.close()


@dataclass
class Daemon:
    """A running `tessera serve` of one Tesseract."""

    process: subprocess.Popen
    port: int
    log_lines: list[str]
    clients: list[Client] = field(default_factory=list)
    _operator: Client | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def client(self) -> Client:
        client = Client(self.port)
        self.clients.append(client)
        return client

    def look(self, path: str) -> Answer:
        """Asks what operators ask, on one connection for all."""
        with self._lock:
            if self._operator is None:
                self._operator = self.client()
            try:
                return self._operator.get(path)
            except http.client.RemoteDisconnected:  # idle for too long
                self._operator.close()
                return self._operator.get(path)

    def leases(self) -> dict:
        return self.look("/leases").json()

    def gpu(self) -> dict:
        return self.look("/gpu").json()

    def counter(self, name: str) -> int:
        return self.gpu()["counters"][name]

    def metric(self, name: str, **labels) -> float:
        """One sample of GET /metrics."""
        text = self.look("/metrics").body.decode()
        wanted = name + ("{" + ",".join(f'{k}="{v}"' for k, v in labels.items()) + "}" if labels else "")
        found = re.search(rf"^{re.escape(wanted)} (\S+)$", text, re.MULTILINE)
        assert found, f"no {wanted} in:\n{text}"
        return float(found[1])

    def log(self) -> str:
        return "".join(self.log_lines)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(30)

    def stop(self) -> int:
        """Ends it by a signal, as an operator does; gives its exit code."""
        for client in self.clients:
            client.close()
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                raise
        return self.process.returncode


def environment(settings: dict[str, str], without_gpu: bool = False) -> dict[str, str]:
    """The environment of a program of the tests: nothing of the user's configuration."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("TESSERACT_", "TESSERA_PATH"))}
    if without_gpu:
        env.pop("LD_LIBRARY_PATH", None)
    env.update(settings)
    return env


def read_port(process: subprocess.Popen, lines: list[str]) -> int:
    """Waits until the log says that the daemon listens; reads it until its end, on a thread."""
    found: queue.Queue = queue.Queue()

    def follow() -> None:
        for line in process.stderr:
            lines.append(line)
            if '"listening"' in line and '"port"' in line:
                found.put(json.loads(line)["port"])
        found.put(None)

    threading.Thread(target=follow, daemon=True).start()
    port = found.get(timeout=START_LIMIT_S)
    assert port, "the daemon did not start:\n" + "".join(lines)
    return int(port)


def start(program: list[str], module: str, folder: Path, *options: str, transport: str | None = "cuda_ipc",
          without_gpu: bool = False, port: int = 0, inputs: Path | None = None, **settings: str) -> Daemon:
    """Starts a daemon and waits until it listens. It reads files below `inputs`, where not below its folder of outputs.
    Settings are variables of its environment."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [*program, "serve", module, "--port", str(port), "--log-json", "-o", str(folder),
               "-i", str(inputs or folder)]
    if transport:
        command += ["--gpu-transport", transport]
    process = subprocess.Popen(
        [*command, *options],
        env=environment(settings, without_gpu),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    lines: list[str] = []
    return Daemon(process, read_port(process, lines), lines)
