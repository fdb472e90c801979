"""How long a daemon keeps what it exported: the three ends of a lease, and that nobody else can end one."""

import re
import socket
import struct
import threading
import time

import numpy as np
import pytest
from gpu_harness import machine
from gpu_harness.buffers import lent, read
from gpu_harness.calls import NEW, PAGE, holds_nothing, name_done
from gpu_harness.daemons import DONE, IPC
from gpu_harness.waiting import wait_until

HEAD_LIMIT = 64 << 10


@pytest.fixture
def daemon(places):
    """The shared daemon, with no lease when a test begins and none when it ends."""
    assert places.leases()["total"] == 0
    yield places
    wait_until(lambda: places.leases()["total"] == 0, "no lease is left")


@pytest.fixture(scope="module")
def mixed(start_daemon):
    return start_daemon("mixed")


def ends(daemon, cause: str) -> float:
    return daemon.metric("tessera_export_ends_total", cause=cause)


def test_a_lease_lasts_until_its_client_names_it(daemon):
    client, before = daemon.client(), ends(daemon, "named")
    first, second = client.apply(NEW), client.apply(NEW)
    assert daemon.leases()["total"] == 2
    np.testing.assert_array_equal(read(first.json()["y"]), NEW["x"])
    third = client.apply(NEW, done=first.lease)
    assert daemon.leases()["total"] == 2
    np.testing.assert_array_equal(read(second.json()["y"]), NEW["x"])
    name_done(daemon, second.lease, third.lease)
    assert daemon.leases() == {"leases": [], "total": 0, "bytes": 0}
    assert ends(daemon, "named") == before + 3


def test_operators_see_who_keeps_how_much_for_how_long(daemon):
    answer = daemon.client().apply(NEW)
    other = daemon.client().apply(NEW, done=None)
    listed = daemon.leases()
    assert (listed["total"], listed["bytes"]) == (2, 2 * PAGE)
    first, second = listed["leases"]
    assert first["id"] == answer.lease[:8] and second["id"] == other.lease[:8]
    assert (first["state"], second["state"]) == ("until named", "until the next call")
    assert first["bytes"] == PAGE and re.fullmatch(r"127\.0\.0\.1:\d+", first["peer"])
    assert 0 <= second["age_s"] <= first["age_s"] < 60
    assert (daemon.metric("tessera_export_leases"), daemon.metric("tessera_export_bytes")) == (2, 2 * PAGE)
    assert daemon.gpu()["gpus"][0]["pool"]["used_bytes"] >= 2 * PAGE
    used_bytes = daemon.metric("tessera_gpu_pool_used_bytes")
    assert used_bytes >= 2 * PAGE
    name_done(daemon, answer.lease, other.lease)
    wait_until(lambda: daemon.metric("tessera_gpu_pool_used_bytes") <= used_bytes - 2 * PAGE, "it comes back")
    assert daemon.metric("tessera_gpu_pool_idle_bytes") >= 2 * PAGE, "to the pool"


def test_memory_that_is_lent_in_place_counts_as_a_whole(daemon):
    """The client keeps all of its allocation alive, however little of it the array is."""
    answer = daemon.client().apply({"x": [0.0] * PAGE, "place": "pages"})
    assert daemon.leases()["bytes"] == 5 * PAGE  # of 2 Mi floats, behind 1 KiB
    name_done(daemon, answer.lease)


@pytest.mark.parametrize("fails", [False, True])
def test_leases_of_clients_that_name_none_go_before_the_next_call_computes(mixed, tmp_path, fails):
    gate = tmp_path / "gate"
    first = mixed.client().apply({"count": 2}, done=None)
    assert first.lease and mixed.leases()["total"] == 1
    kept = mixed.client().apply({"count": 1})
    answers = []
    call = threading.Thread(
        target=lambda: answers.append(mixed.client().apply({"count": 1, "gate": str(gate), "fails": fails}, done=None)))
    call.start()
    # While the endpoint waits: only what its client will name is left.
    wait_until(lambda: mixed.leases()["total"] == 1, "the first client's lease goes")
    assert mixed.leases()["leases"][0]["id"] == kept.lease[:8]
    gate.touch()
    call.join()
    assert answers[0].status == (500 if fails else 200)
    assert mixed.leases()["total"] == (1 if fails else 2)
    name_done(mixed, kept.lease, *([] if fails else [answers[0].lease]))
    assert mixed.leases()["total"] == 0


def test_an_endpoint_that_fails_keeps_no_memory(start_daemon):
    daemon = start_daemon("mixed", "--cuda-ipc-pool-fraction", "0")
    for _ in range(3):
        assert daemon.client().apply({"count": 10, "all_on_gpu": True, "fails": True}).status == 500
        wait_until(lambda: machine.counts(daemon.pid).live_allocations == 0, "the memory comes back")
    assert daemon.leases()["total"] == 0


def test_a_mixed_answer_of_many_arrays_is_one_lease(mixed):
    answer = mixed.client().apply({"count": 100, "size": 10, "first": 7})
    arrays = answer.json()["arrays"]
    assert [array["data"]["encoding"] for array in arrays] == ["cuda_ipc", "base64"] * 50
    for number, array in enumerate(arrays[::2]):
        np.testing.assert_array_equal(read(array), np.full(10, 7 + 2 * number, "float32"))
    listed = mixed.leases()
    assert (listed["total"], listed["bytes"]) == (1, 50 * PAGE)
    assert answer.headers["tessera-gpu-arrays"] == "in_place=50, staged=0, through_host=0"
    name_done(mixed, answer.lease)


def test_a_lease_that_nobody_names_ends_in_time(start_daemon):
    daemon = start_daemon("places", "--exports-timeout", "1", "--cuda-ipc-pool-fraction", "0")
    begin = time.monotonic()
    answer = daemon.client().apply(NEW)
    wait_until(lambda: machine.counts(daemon.pid).live_allocations == 0, "the memory is freed, with no request", 10)
    assert 1 <= time.monotonic() - begin < 3
    assert daemon.leases()["total"] == 0 and ends(daemon, "expired") == 1
    assert "not named done in time" in daemon.log()
    # Naming it now is late, and harmless.
    name_done(daemon, answer.lease)
    assert ends(daemon, "named") == 0


def test_clients_with_and_without_the_header_do_not_disturb_each_other(start_daemon):
    daemon = start_daemon("mixed", "--num-workers", "4")
    wrong = []

    def call(client, number, done):
        answer = client.apply({"count": 3, "size": 1000, "first": number}, done=done)
        return answer, number

    def check(answer, number):
        for step, array in enumerate(answer.json()["arrays"][::2]):
            if not (read(array) == number + 2 * step).all():
                wrong.append(number)

    def acknowledging(base):
        client, held = daemon.client(), []
        for step in range(40):
            held.append(call(client, base + step, held.pop(0)[0].lease if len(held) > 4 else ""))
            check(*held[0])  # the oldest, after all that the others have done meanwhile
        name_done(daemon, *[answer.lease for answer, _ in held])

    def silent(base):
        client = daemon.client()
        for step in range(40):
            check(*call(client, base + step, None))

    threads = [threading.Thread(target=acknowledging, args=(1000 * i,)) for i in range(1, 3)]
    threads.append(threading.Thread(target=silent, args=(9000,)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert daemon.leases()["total"] == 1  # the last of the silent one


def test_a_header_of_64_kib_names_leases(daemon):
    client = daemon.client()
    ids = [client.apply(NEW).lease for _ in range(20)]
    unknown = [f"{number:032x}" for number in range((HEAD_LIMIT - 400) // 33 - len(ids))]
    named = ",".join(unknown[:1000] + ids + unknown[1000:])
    assert HEAD_LIMIT - 500 < len(named) < HEAD_LIMIT
    assert client.get("/health", headers={DONE: named}).status == 200
    assert daemon.leases()["total"] == 0


def test_a_head_beyond_64_kib_is_refused_and_names_nothing(daemon):
    answer = daemon.client().apply(NEW)
    named = ",".join([answer.lease] * (HEAD_LIMIT // 33 + 1))
    assert daemon.client().get("/health", headers={DONE: named}).status == 431
    assert daemon.leases()["total"] == 1
    name_done(daemon, answer.lease)


@pytest.mark.parametrize(
    "forge",
    [
        str.upper,
        lambda lease: lease[:8],
        lambda lease: lease[:-1],
        lambda lease: lease + "0",
        lambda lease: f"{int(lease, 16) ^ 1:032x}",
        lambda lease: f'"{lease}"',
        lambda lease: lease.replace(lease[4], lease[4] + " ", 1),
        lambda lease: lease + ";" + lease,
        lambda lease: "0" * 32,
        lambda lease: "%" + lease,
        lambda lease: "",
        lambda lease: ",,,",
    ],
)
def test_a_forged_id_names_nothing_and_tells_nothing(daemon, forge):
    client = daemon.client()
    lease = client.apply(NEW).lease
    while lease == lease.upper():  # only digits
        name_done(daemon, lease)
        lease = client.apply(NEW).lease
    forged = client.get("/health", headers={DONE: forge(lease)})
    plain = client.get("/health")
    assert daemon.leases()["total"] == 1
    assert (forged.status, forged.body) == (plain.status, plain.body)
    assert forged.headers.keys() == plain.headers.keys()
    right = client.get("/health", headers={DONE: lease})
    assert (right.status, right.body, right.headers.keys()) == (plain.status, plain.body, plain.headers.keys())
    assert daemon.leases()["total"] == 0


@pytest.mark.parametrize(
    ("method", "path", "body", "headers", "status"),
    [
        ("GET", "/", None, {}, 200),
        ("GET", "/metrics", None, {}, 200),
        ("GET", "/openapi.json", None, {}, 200),
        ("GET", "/nothing", None, {}, 404),
        ("GET", "/apply", None, {}, 405),
        ("POST", "/apply", "{", {}, 422),
        ("POST", "/apply", '{"inputs": {}}', {}, 422),
        ("POST", "/apply", '{"inputs": {"x": [1]}}', {"Accept": "text/html"}, 406),
        ("POST", "/apply", '{"inputs": {"x": [1], "place": "raise"}}', {}, 500),
        ("POST", "/apply?run_id=../..", '{"inputs": {"x": [1]}}', {}, 400),
        ("POST", "/check_gpu_transport", "{}", {}, 200),
    ],
)
def test_leases_are_named_on_every_route(daemon, method, path, body, headers, status):
    lease = daemon.client().apply(NEW).lease
    answer = daemon.client().request(method, path, body, {DONE: lease, **headers})
    if status != 400:
        assert answer.status == status
    else:
        assert answer.status >= 400
    assert daemon.leases()["total"] == 0


def test_ids_have_no_pattern(daemon):
    client = daemon.client()
    ids = [client.apply(NEW).lease for _ in range(50)]
    assert len(set(ids)) == 50 and all(re.fullmatch("[0-9a-f]{32}", lease) for lease in ids)
    assert len({lease[:4] for lease in ids}) > 40 and len({lease[-4:] for lease in ids}) > 40
    name_done(daemon, *ids)


def test_the_lease_of_a_client_that_goes_before_it_has_its_answer_is_dropped(start_daemon, tmp_path):
    daemon = start_daemon("mixed", "--cuda-ipc-pool-fraction", "0")
    gate = tmp_path / "gate"
    body = b'{"inputs":{"count":4,"all_on_gpu":true,"gate":"%s"}}' % str(gate).encode()
    head = (f"POST /apply HTTP/1.1\r\nHost: x\r\nAccept: {IPC}\r\n{DONE}: \r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n")
    with socket.create_connection(("127.0.0.1", daemon.port)) as connection:
        connection.sendall(head.encode() + body)
        wait_until(lambda: machine.counts(daemon.pid).live_allocations == 4, "the endpoint has made its arrays")
        # A reset: nobody is there to read what comes.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    gate.touch()
    wait_until(lambda: machine.counts(daemon.pid).live_allocations == 0, "the memory comes back")
    assert daemon.leases()["total"] == 0


def test_all_memory_comes_back(start_daemon):
    daemon = start_daemon("places", "--cuda-ipc-pool-fraction", "0")
    client = daemon.client()

    def call_everything():
        ids = []
        for place in ("same", "new", "offset", "scalar", "empty", "gpu1", "pool", "managed", "strided", "host"):
            with lent(np.arange(1000.0)) as x:
                answer = client.apply({"x": x, "place": place})
                assert answer.status == 200
                if answer.lease:
                    ids.append(answer.lease)
                    read(answer.json()["y"])
        name_done(daemon, *ids)

    call_everything()  # what the client's SDK keeps for itself, it keeps from now on
    wait_until(lambda: holds_nothing(daemon), "the memory comes back")
    before = [machine.used_bytes(gpu) for gpu in (0, 1)]
    call_everything()
    wait_until(lambda: holds_nothing(daemon), "the memory comes back")
    assert [machine.used_bytes(gpu) for gpu in (0, 1)] == before


def test_a_daemon_that_stops_lets_clients_copy_what_they_hold(start_daemon):
    daemon = start_daemon("places")
    client = daemon.client()
    answer = client.apply(NEW)
    daemon.process.terminate()
    time.sleep(0.2)
    np.testing.assert_array_equal(read(answer.json()["y"]), NEW["x"])
    assert client.get("/health", headers={DONE: answer.lease}).status == 200
    begin = time.monotonic()
    assert daemon.process.wait(30) == 0
    assert time.monotonic() - begin < 0.6, "it went on waiting, with nothing left to wait for"
    assert "dropped exports" not in daemon.log()


def test_a_daemon_that_stops_waits_for_clients_that_name_their_leases_alone(start_daemon):
    daemon = start_daemon("places")
    assert daemon.client().apply(NEW, done=None).lease
    begin = time.monotonic()
    assert daemon.stop() == 0
    assert time.monotonic() - begin < 0.8


def test_leases_end_with_the_daemon(start_daemon):
    daemon = start_daemon("places")
    before = machine.used_bytes()
    assert daemon.client().apply(NEW).lease
    assert machine.used_bytes() > before
    assert daemon.stop() == 0
    assert machine.used_bytes() == before
    assert "dropped exports that no client had named done" in daemon.log()
