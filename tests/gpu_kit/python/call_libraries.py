"""Arrays of PyTorch, CuPy and JAX go through the kit's tessera and come back, on the GPU.

Usage: call_libraries.py TESSERA WORK [PACKAGE]
TESSERA is the program that serves; WORK a folder for what this leaves; PACKAGE a folder with the Python package, without
which it is the wheel beside this file. Rows go to the file that the variable KIT_ROWS names, as from the other parts.
"""

from __future__ import annotations

import gc
import http.client
import json
import os
import platform
import socket
import subprocess
import sys
import time
import zipfile
from pathlib import Path

LIMIT_S = 35
# Elements of most arrays: 4 MiB, or less where the kit is held back (a library that only stands in for one is slow).
SIZE = min(1 << 20, int(os.environ.get("KIT_MAX_BYTES", "1073741824")) // 32)


class Rows:
    """Written at once: what hangs or dies here is what the kit is for."""

    def __init__(self):
        self.has_failed = False

    def write(self, state: str, name: str, text: str = "") -> None:
        self.has_failed |= state == "failed"
        print(f"{state}  {name}{': ' if text else ''}{text}", flush=True)
        if path := os.environ.get("KIT_ROWS"):
            with open(path, "a", encoding="utf-8") as file:
                file.write(json.dumps({"state": state, "name": name, "text": text}) + "\n")


class Served:
    """The kit's tessera, serving identity."""

    def __init__(self, program: str, work: Path):
        self.path = work / "libraries.sock"
        self.log = open(work / "served.log", "wb")
        command = [program, "serve", "identity", "--unix", str(self.path), "--no-tcp", "--gpu-transport", "cuda_ipc"]
        self.process = subprocess.Popen(
            [*command, "--output-path", str(work)], stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log
        )
        deadline = time.monotonic() + 20
        while self.process.poll() is None and time.monotonic() < deadline:
            try:
                self.get("/health")
                return
            except OSError:
                time.sleep(0.05)
        self.stop()
        raise RuntimeError("tessera serve does not answer: " + (work / "served.log").read_text(errors="replace")[-500:])

    def get(self, route: str) -> dict:
        connection = http.client.HTTPConnection("localhost", timeout=10)
        connection.sock = socket.socket(socket.AF_UNIX)
        try:
            connection.sock.connect(str(self.path))
            connection.request("GET", route)
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=15)
        self.log.close()


class Checks:
    """Of one library, in a process of its own."""

    def __init__(self, library, served: Served, rows: Rows):
        import tessera

        self._library = library
        self._served = served
        self._rows = rows
        self._device_array = tessera.DeviceArray
        client = tessera.Tesseract.from_url(f"unix:{served.path}")
        transport = client.resolve_gpu_transport()
        if transport != "cuda_ipc":
            raise RuntimeError(f"resolve_gpu_transport() is {transport!r}: `tessera gpu` says why")
        self._identity = client.with_encoding(gpu_transport=transport)

    def run(self) -> None:
        self._check("its array goes in, and comes out on the GPU", self.goes_both_ways)
        self._check("it takes the result by DLPack", self.takes_by_dlpack)
        if self._library.dlpack_alone:
            self._skip("it takes the result by __cuda_array_interface__", "it reads DLPack alone")
        else:
            self._check("it takes the result by __cuda_array_interface__", self.takes_by_interface)
        self._check("an array in another order goes in", self.takes_another_order)
        self._check("what it computes is waited for", self.is_waited_for)
        self._check("an array without elements goes in", self.takes_an_empty_array)
        self._check("what it took outlives the result", self.outlives_the_result)
        self._check("its array may be dropped after the call", self.may_be_dropped)
        self._check("nothing stays pinned", self.nothing_stays)

    def _check(self, name: str, test) -> None:
        try:
            test()
        except Exception as error:
            self._rows.write("failed", f"{self._library.name}: {name}", f"{type(error).__name__}: {error}"[:500])
        else:
            self._rows.write("passed", f"{self._library.name}: {name}")

    def _skip(self, name: str, reason: str) -> None:
        self._rows.write("skipped", f"{self._library.name}: {name}", reason)

    def _apply(self, array):
        result = self._identity.apply({"x": array})["x"]
        if type(result) is not self._device_array:
            raise AssertionError(f"the result is {type(result).__name__}, and not on the GPU")
        return result

    def _expect(self, array, wanted) -> None:
        if not self._library.same(array, wanted):
            raise AssertionError("the values are not those that were sent")

    def goes_both_ways(self) -> None:
        for first in (1, 2):
            values = memoryview(self._apply(self._library.make(1000, first)).copy_to_host()).tolist()
            if values != [float(first + i) for i in range(1000)]:
                raise AssertionError("the values are not those that were sent")

    def takes_by_dlpack(self) -> None:
        array = self._library.make(SIZE, 3)
        self._expect(self._library.from_dlpack(self._apply(array)), array)

    def takes_by_interface(self) -> None:
        array = self._library.make(SIZE, 4)
        self._expect(self._library.from_interface(self._apply(array)), array)

    def takes_another_order(self) -> None:
        array = self._library.transposed(self._library.make(SIZE, 5), 1 << 8)
        result = self._apply(array)
        if result.shape != (SIZE >> 8, 1 << 8):
            raise AssertionError(f"the shape is {result.shape}")
        self._expect(self._library.from_dlpack(result), array)

    def is_waited_for(self) -> None:
        for first in range(5):
            result = self._apply(self._library.made_slowly(8 * SIZE, first))
            self._expect(self._library.from_dlpack(result), self._library.make(8 * SIZE, first))  # at most 2^23 + 5

    def takes_an_empty_array(self) -> None:
        shape = tuple(self._identity.apply({"x": self._library.make(0, 0)})["x"].shape)
        if shape != (0,):
            raise AssertionError(f"the shape is {shape}")

    def outlives_the_result(self) -> None:
        result = self._apply(self._library.make(SIZE, 6))
        taken = self._library.from_dlpack(result)
        del result
        gc.collect()
        for first in range(10):
            self._apply(self._library.make(SIZE, 100 + first))
        self._expect(taken, self._library.make(SIZE, 6))

    def may_be_dropped(self) -> None:
        array = self._library.make(SIZE, 7)
        result = self._apply(array)
        del array
        gc.collect()
        others = [self._library.make(SIZE, 200 + first) for first in range(10)]
        self._expect(self._library.from_dlpack(result), self._library.make(SIZE, 7))
        del others

    def nothing_stays(self) -> None:
        gc.collect()
        deadline = time.monotonic() + 5
        while (left := self._served.get("/leases")["total"]) and time.monotonic() < deadline:
            time.sleep(0.05)
        if left:
            raise AssertionError(f"{left} responses are still held")


def call(name: str, program: str, work: Path) -> None:
    """The part of one library, in this process."""
    from libraries import LIBRARIES, Missing

    rows = Rows()
    kind = LIBRARIES[name]
    try:
        library = kind()
    except (ImportError, Missing) as error:
        rows.write("skipped", kind.name, str(error) or type(error).__name__)
        return
    try:
        served = Served(program, work)
    except RuntimeError as error:
        rows.write("failed", kind.name, str(error))
        return
    try:
        rows.write("answer", f"{kind.name}: its version", library.version)
        Checks(library, served, rows).run()
    except Exception as error:
        rows.write("failed", kind.name, f"{type(error).__name__}: {error}"[:500])
    finally:
        served.stop()


def call_all(program: str, work: Path, package: Path) -> int:
    rows = Rows()
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(package), *filter(None, [os.environ.get("PYTHONPATH")])])
    }
    here = Path(__file__).resolve()
    loaded = subprocess.run(
        [sys.executable, "-c", "import tessera; print(tessera.__version__)"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    python = f"Python {platform.python_version()}"
    if loaded.returncode:
        rows.write("failed", f"the package is imported by {python}", loaded.stderr.strip()[-500:])
        return 1
    rows.write("passed", f"the package is imported by {python}")
    for name in ("torch", "cupy", "jax"):
        folder = work / name
        folder.mkdir()
        command = [sys.executable, str(here), "--library", name, program, str(folder)]
        try:
            status = subprocess.run(command, env=environment, timeout=LIMIT_S, check=False).returncode
        except subprocess.TimeoutExpired:
            rows.write("failed", name, f"it was stopped after {LIMIT_S} s")
        else:
            if status:
                rows.write("failed", name, f"it ended with {status}")
    return 0


def main(arguments: list[str]) -> int:
    if arguments[0] == "--library":
        call(arguments[1], arguments[2], Path(arguments[3]))
        return 0
    program, work = arguments[0], Path(arguments[1])
    work.mkdir(parents=True, exist_ok=True)
    if len(arguments) > 2:
        package = Path(arguments[2])
    else:
        package = work / "package"
        with zipfile.ZipFile(next(Path(__file__).resolve().parent.glob("tessera-*.whl"))) as wheel:
            wheel.extractall(package)
    return call_all(program, work, package.resolve())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
