"""Several daemons and clients at once, processes of other containers, and the Python runtime and SDK as the other side."""

import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
import urllib.error
import urllib.request
import warnings
from pathlib import Path

import numpy as np
import pytest
from gpu_harness import daemons
from gpu_harness.calls import holds_nothing
from gpu_harness.waiting import wait_until

REFERENCE = Path(__file__).resolve().parent.parent / "conformance" / "reference"
GOOD, REFUSED = 0, 4  # exit codes of tessera_gpu_peer


@pytest.fixture(scope="module")
def peer(build):
    """peer(*arguments, prefix=(), **settings): the program of a client, started."""

    def start(*arguments, prefix=(), **settings):
        return subprocess.Popen([*prefix, str(build / "bin" / "tessera_gpu_peer"), *map(str, arguments)],
                                env=daemons.environment(settings), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    return start


def finish(process, limit_s: float = 60) -> tuple[int, str]:
    """Its exit code and all that it said."""
    out, err = process.communicate(timeout=limit_s)
    return process.returncode, out + err


def view_of(daemon):
    from tesseract_core import Tesseract

    client = Tesseract.from_url(daemon.url)
    transport = client.resolve_gpu_transport()
    assert transport == "cuda_ipc"
    return client.with_encoding(gpu_transport=transport)


def test_two_daemons_and_many_clients_at_once(start_daemon, peer):
    options = ("--num-workers", "2", "--cuda-ipc-pool-fraction", "0")
    both = [start_daemon("places", *options) for _ in range(2)]
    clients = [peer("calls", both[number % 2].port, 12, 20_000) for number in range(6)]
    for client in clients:
        code, said = finish(client)
        assert code == GOOD, said
    for daemon in both:
        assert daemon.leases()["total"] == 0
        wait_until(lambda daemon=daemon: holds_nothing(daemon), "all memory comes back")


def test_an_array_goes_from_daemon_to_daemon(start_daemon):
    """Through a client of both: what one daemon made, the other reads, and hands on."""
    first, second = view_of(start_daemon("places")), view_of(start_daemon("places"))
    values = np.arange(5000, dtype="float32")
    made = first.apply({"x": values, "place": "new"})["y"]
    for _ in range(3):
        made = second.apply({"x": made, "place": "offset"})["y"]
        made = first.apply({"x": made, "place": "same"})["y"]
    np.testing.assert_array_equal(made.copy_to_host(), values)


@pytest.mark.parametrize("workers", [1, 3, 16])
def test_any_number_of_workers(start_daemon, peer, workers):
    daemon = start_daemon("places", "--num-workers", str(workers))
    clients = [peer("calls", daemon.port, 24, 5000) for _ in range(5)]
    for client in clients:
        code, said = finish(client)
        assert code == GOOD, said
    assert daemon.leases()["total"] == 0


# --- PID namespaces -------------------------------------------------------------------------------------------------


def namespace_command() -> list[str]:
    """What runs a program as the first process of a PID namespace; skips where that is not allowed."""
    if shutil.which("unshare") is None:
        pytest.skip("there is no unshare")
    for prefix in (["unshare"], ["unshare", "--map-root-user"]):
        command = [*prefix, "--fork", "--pid", "--mount-proc", "--kill-child=TERM"]
        if subprocess.run([*command, "true"], capture_output=True).returncode == 0:
            return command
    pytest.skip("unshare may not make a PID namespace here")


@pytest.fixture(scope="module")
def isolated(build, tmp_path_factory):
    """A daemon with the number 1 in a PID namespace of its own, as in a container."""
    module = str(build / "lib" / "tessera_tests" / "places.so")
    daemon = daemons.start([*namespace_command(), str(build / "bin" / "tessera")], module, tmp_path_factory.mktemp("isolated"))
    yield daemon
    # unshare ignores signals, and ends as its child does.
    for child in Path(f"/proc/{daemon.pid}/task/{daemon.pid}/children").read_text().split():
        os.kill(int(child), signal.SIGTERM)
    assert daemon.process.wait(30) == 0


@pytest.mark.parametrize("command", ["check", "anonymous"])
def test_equal_pids_in_separate_namespaces_get_the_reason(isolated, peer, command):
    """Whether the client says who it is or not: then the driver's error tells."""
    begin = time.monotonic()
    code, said = finish(peer(command, isolated.port, prefix=namespace_command()))
    assert code == REFUSED and "(pid_collision)" in said and "--pid=host" in said, said
    assert time.monotonic() - begin < 20
    assert isolated.leases()["total"] == 0


def test_other_pids_in_separate_namespaces_work(isolated, peer):
    code, said = finish(peer("calls", isolated.port, 6, 100))
    assert code == GOOD, said


def test_the_sdk_with_an_equal_pid_falls_back_and_says_why(isolated):
    code, said = finish(start_python(resolving(isolated), prefix=namespace_command()))
    assert code == 0 and said.startswith("none") and "pid_collision" in said, said


# --- the Python SDK and runtime -------------------------------------------------------------------------------------


def start_python(program: str, prefix=(), without_gpu: bool = False) -> subprocess.Popen:
    return subprocess.Popen([*prefix, sys.executable, "-c", program], env=daemons.environment({}, without_gpu),
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def resolving(daemon) -> str:
    """A program that prints the transport which the SDK resolves, and its warnings; then makes a call."""
    return textwrap.dedent(f"""
        import warnings
        import numpy as np
        from tesseract_core import Tesseract
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            client = Tesseract.from_url("{daemon.url}")
            transport = client.resolve_gpu_transport()
        print(transport, *[warning.message for warning in said if "gpu" in str(warning.message).lower()])
        view = client.with_encoding(gpu_transport=transport)
        answer = view.apply({{"x": np.arange(3, dtype="float32"), "place": "host"}})
        assert (answer["y"] == np.arange(3)).all()
    """)


def test_a_client_without_a_gpu_falls_back_and_warns(places):
    code, said = finish(start_python(resolving(places), without_gpu=True))
    assert code == 0 and said.startswith("none ") and len(said) > 20, said


def test_a_daemon_without_a_gpu_is_found_out_and_says_why(start_daemon):
    from tesseract_core import Tesseract

    daemon = start_daemon("places", without_gpu=True)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert Tesseract.from_url(daemon.url).resolve_gpu_transport() == "none"
    assert any("libcuda.so.1 is not on this machine" in str(warning.message) for warning in said)
    state = daemon.gpu()
    assert (state["works"], state["reason"]) == (False, "no_driver")
    assert "is offered, but cannot work here" in daemon.log()


def test_a_daemon_without_a_transport_offers_none(start_daemon):
    from tesseract_core import Tesseract

    daemon = start_daemon("places", transport=None)
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        assert Tesseract.from_url(daemon.url).resolve_gpu_transport() == "none"
    assert daemon.gpu()["reason"] == "not_configured"
    assert machine_is_untouched(daemon)


def machine_is_untouched(daemon) -> bool:
    """Whether a daemon has loaded no driver at all."""
    return "libcuda" not in Path(f"/proc/{daemon.pid}/maps").read_text()


@pytest.fixture(scope="module")
def python_runtime(tmp_path_factory):
    """The port of the public Python runtime, serving its identity with cuda_ipc."""
    from harness.servers import free_port

    port, folder = free_port(), tmp_path_factory.mktemp("python")
    settings = {
        "TESSERACT_API_PATH": str(REFERENCE / "identity" / "tesseract_api.py"),
        "TESSERACT_NAME": "identity",
        "TESSERACT_GPU_TRANSPORT": "cuda_ipc",
        "TESSERACT_OUTPUT_PATH": str(folder),
    }
    log = open(folder / "log", "wb")
    server = subprocess.Popen(
        [sys.executable, "-m", "tesseract_core.runtime", "serve", "--host", "127.0.0.1", "--port", str(port)],
        env=daemons.environment(settings), stdout=log, stderr=log, cwd=folder)

    def is_up() -> bool:
        assert server.poll() is None, (folder / "log").read_text()
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as answer:
                return json.load(answer)["status"] == "ok"
        except (urllib.error.URLError, OSError):
            return False

    wait_until(is_up, "the Python runtime answers", 90)
    yield port
    server.terminate()
    server.wait(30)


@pytest.mark.parametrize("command", ["check", "anonymous"])
def test_the_python_runtime_passes_our_check(python_runtime, peer, command):
    code, said = finish(peer(command, python_runtime))
    assert code == GOOD, said


def test_our_client_exchanges_arrays_with_the_python_runtime(python_runtime, peer):
    code, said = finish(peer("identity", python_runtime, 20, 10_000))
    assert code == GOOD, said
    assert int(said.split()[0]) > 20 * 10_000


