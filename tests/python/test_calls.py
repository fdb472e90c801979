"""How calls go along with threads, signals, forks and warnings."""

import copy
import multiprocessing
import os
import pickle
import signal
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from tessera import Tesseract

import python_program

GOOD = {"a": [1.0], "b": [2.0]}


def test_other_threads_run_while_a_call_waits(failing):
    """The GIL is released."""
    steps = 0
    done = threading.Event()

    def count() -> None:
        nonlocal steps
        while not done.is_set():
            steps += 1
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    failing.apply({"sleep_s": 0.4})
    done.set()
    counter.join()
    assert steps > 50


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGUSR1])
def test_a_signal_interrupts_a_call_that_waits(failing, number):
    """Ctrl-C at once; and whatever the handler of another signal raises."""

    def handle(*_) -> None:
        raise KeyboardInterrupt

    before = signal.signal(number, handle)
    timer = threading.Timer(0.2, lambda: signal.pthread_kill(threading.main_thread().ident, number))
    timer.start()
    begin = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            failing.apply({"sleep_s": 2.0})
    finally:
        timer.join()
        signal.signal(number, before)
    assert time.monotonic() - begin < 1.0
    assert failing.apply({"x": [1.0]})["result"].tolist() == [2.0]


def test_a_signal_whose_handler_returns_does_not(failing):
    """The call goes on."""
    seen = []
    before = signal.signal(signal.SIGUSR1, lambda *_: seen.append(1))
    timer = threading.Timer(0.1, lambda: signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1))
    timer.start()
    try:
        assert failing.apply({"x": [1.0], "sleep_s": 0.3})["result"].tolist() == [2.0]
    finally:
        timer.join()
        signal.signal(signal.SIGUSR1, before)
    assert seen == [1]


def test_ctrl_c_while_connecting():
    """To a server that accepts nobody."""
    program = """
        import os, signal, socket, threading, time
        from tessera import Tesseract
        signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored by what a shell starts in the background
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        waiting = [socket.socket() for _ in range(3)]
        for each in waiting:
            each.setblocking(False)
            each.connect_ex(listener.getsockname())
        time.sleep(0.1)
        threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        begin = time.monotonic()
        try:
            Tesseract.from_url("http://127.0.0.1:%d" % listener.getsockname()[1]).health()
        except KeyboardInterrupt:
            print(time.monotonic() - begin < 1)
    """
    assert python_program.run(program) == "True"


def test_many_threads_share_one_client(identity):
    """Each gets its own answer."""

    def call(number: int) -> bool:
        values = np.full(1000 + number, number, dtype="float32")
        return all(np.array_equal(identity.apply({"x": values})["x"], values) for _ in range(5))

    with ThreadPoolExecutor(32) as pool:
        assert all(pool.map(call, range(96)))


def test_threads_wait_side_by_side(failing):
    """Eight calls of 0.3 s take less than two."""
    begin = time.monotonic()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: failing.apply({"sleep_s": 0.3}), range(8)))
    assert time.monotonic() - begin < 1.5


def test_a_forked_child_has_connections_of_its_own(vectoradd):
    """The parent goes on with its own."""
    assert vectoradd.apply(GOOD)["result"].tolist() == [3.0]
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if vectoradd.apply({"a": [5.0], "b": [5.0]})["result"].tolist() == [10.0] else 2
            vectoradd.close()
        finally:
            os._exit(code)
    for _ in range(20):
        assert vectoradd.apply(GOOD)["result"].tolist() == [3.0]
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _put_result(client: Tesseract, results) -> None:
    results.put(client.apply(GOOD)["result"].tolist())


def test_children_of_multiprocessing(vectoradd):
    """Forked after the client was used; they end well."""
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    vectoradd.health()
    children = [context.Process(target=_put_result, args=(vectoradd, results)) for _ in range(3)]
    for child in children:
        child.start()
    assert [results.get(timeout=30) for _ in children] == [[3.0]] * 3
    for child in children:
        child.join(30)
        assert child.exitcode == 0


def test_a_fork_beside_threads_that_call(vectoradd):
    """The child is not left with a lock that a thread of its parent had."""
    ends = threading.Event()

    def call() -> None:
        while not ends.is_set():
            vectoradd.apply(GOOD)

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(10):
            child = os.fork()
            if child == 0:
                signal.alarm(10)
                code = 1
                try:
                    code = 0 if vectoradd.apply(GOOD)["result"].tolist() == [3.0] else 2
                finally:
                    os._exit(code)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        ends.set()
        for thread in threads:
            thread.join()


ENDING = """
    import sys, threading, time
    import numpy as np
    from tessera import Tesseract
    options = {"progress": lambda *numbers: None, "progress_from_bytes": 0} if "progress" in sys.argv else {}
    client = Tesseract.from_url(sys.argv[1], **options).with_encoding(output_format="json+base64")
    values = np.ones(10_000, dtype="float32")
    def call():
        while True:
            client.apply({"x": values})
    for _ in range(8):
        threading.Thread(target=call, daemon=True).start()
    class SlowToGo:
        def __del__(self, sleep=time.sleep):
            sleep(0.2)
    sys.held_until_the_interpreter_ends = SlowToGo()
    time.sleep(0.2)
    print("ends")
"""


@pytest.mark.parametrize("what", ["calls", "progress"])
def test_a_program_may_end_while_its_threads_call(served, what):
    """Threads that Python does not wait for are in the middle of something, and the program ends well."""
    for _ in range(3):
        assert python_program.run(ENDING, served.url("identity"), what) == "ends"


def test_a_client_is_not_pickled(vectoradd):
    """The error says what to do instead."""
    with pytest.raises(TypeError, match=r"cannot be pickled; call Tesseract\.from_url\('http://"):
        pickle.dumps(vectoradd)
    with pytest.raises(TypeError, match="cannot be pickled"):
        copy.deepcopy(vectoradd)


def test_a_copy_is_a_view(vectoradd):
    """It shares the connections."""
    view = copy.copy(vectoradd.with_encoding(compression="lz4"))
    assert view.current_encoding.compression == "lz4"
    assert view.apply(GOOD)["result"].tolist() == [3.0]


def test_a_block_closes(served):
    """And the client may be used again."""
    with served.client("vectoradd") as client:
        assert client.apply(GOOD)["result"].tolist() == [3.0]
    assert client.apply(GOOD)["result"].tolist() == [3.0]
    with pytest.raises(ZeroDivisionError), client:
        raise ZeroDivisionError
    client.close()
    client.close()


def test_a_client_has_a_text_and_weak_references(served):
    """The text is the call that makes it, without credentials."""
    client = Tesseract.from_url(served.address.replace("//", "//user:secret@") + "/vectoradd/")
    assert repr(client) == f"Tesseract.from_url('{served.url('vectoradd')}')"
    assert weakref.ref(client)() is client
    with pytest.raises(TypeError, match="from_url"):
        Tesseract(served.address)


MIB = 1 << 20


def test_progress_is_told_both_ways(served):
    """Of large transfers, with the bytes in all; up to the end."""
    told = []
    client = served.client(
        "identity", progress=lambda *numbers: told.append(numbers), progress_from_bytes=MIB
    ).with_encoding(output_format="json+base64")
    client.apply({"x": np.zeros(10, dtype="float32")})
    assert told == []
    client.apply({"x": np.zeros(3 * MIB, dtype="float32")})
    totals = list(dict.fromkeys(total for _, total in told))
    assert len(totals) == 2 and min(totals) > 16 * MIB
    for total in totals:
        done = [done for done, of in told if of == total]
        assert done == sorted(done) and done[-1] == total


@pytest.mark.parametrize("kind", [KeyError, KeyboardInterrupt, SystemExit])
def test_an_exception_of_progress_ends_the_call(served, kind):
    """As it was raised; the next call is another matter."""

    def stop(*_) -> None:
        raise kind("enough")

    client = served.client("identity", progress=stop, progress_from_bytes=MIB)
    with pytest.raises(kind, match="enough"):
        client.apply({"x": np.zeros(MIB, dtype="float32")})
    assert client.apply({"x": np.ones(1, dtype="float32")})["x"].tolist() == [1.0]


@pytest.mark.parametrize("progress", [5, "text", object()])
def test_progress_is_something_to_call(progress):
    """Said at once."""
    with pytest.raises(TypeError, match="progress is called"):
        Tesseract.from_url("http://host", progress=progress)


@pytest.mark.parametrize("timeout", [5, 5.0, np.float64(5), (5, 5.0), (None, 5), (5, None), (None, None), None])
def test_time_limits(served, timeout):
    """One number, two, or none."""
    assert served.client("vectoradd", timeout=timeout).apply(GOOD)["result"].tolist() == [3.0]


@pytest.mark.parametrize("timeout", [(5, 0.1), (None, 0.1), 0.1])
def test_the_limit_of_reading(served, timeout):
    """Is the second of two."""
    begin = time.monotonic()
    with pytest.raises(TimeoutError, match="longer than 100 ms"):
        served.client("failing", timeout=timeout).apply({"sleep_s": 1.0})
    assert time.monotonic() - begin < 0.9


@pytest.mark.parametrize(
    "timeout", [0, -1, float("nan"), float("inf"), 1e300, "5", True, b"", (1,), (1, 2, 3), (1, -2), (0, 1), [1, 2], {}]
)
def test_bad_time_limits_are_refused(timeout):
    """When the client is made."""
    with pytest.raises(ValueError, match="timeout"):
        Tesseract.from_url("http://host", timeout=timeout)


def test_a_run_id_is_passed_on(served, vectoradd):
    """As text, whatever it is."""
    vectoradd.apply(GOOD, run_id="by-name")
    vectoradd.apply(GOOD, 17)
    for name in ("run_by-name", "run_17"):
        assert (served.output_path / "vectoradd" / name).is_dir()
