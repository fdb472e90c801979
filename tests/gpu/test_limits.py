"""How much GPU memory clients may hold, and what they are told where there is none left."""

import pytest
from gpu_harness.buffers import lent
from gpu_harness.calls import NEW, PAGE, name_done, stand_in


def hits(daemon, limit: str) -> float:
    return daemon.metric("tessera_limit_hits_total", limit=limit)


def test_what_clients_may_hold_is_bounded(start_daemon):
    daemon = start_daemon("mixed", "--max-export-bytes", str(4 * PAGE))
    client = daemon.client()
    small = [client.apply({"count": 2, "all_on_gpu": True}) for _ in range(2)]
    assert [answer.status for answer in small] == [200, 200]
    refused = client.apply({"count": 1})
    assert refused.status == 503 and int(refused.headers["retry-after"]) > 0 and refused.lease is None
    # Who takes host arrays gets them.
    assert client.apply({"count": 1}, accept="application/json").status == 200
    name_done(daemon, small[0].lease)
    # More than is left: found out while the answer is made, and nothing of it is kept.
    refused = client.apply({"count": 3, "all_on_gpu": True})
    assert refused.status == 503 and int(refused.headers["retry-after"]) > 0
    assert daemon.leases()["total"] == 1
    assert client.apply({"count": 2, "all_on_gpu": True}).status == 200
    assert (hits(daemon, "export_bytes"), hits(daemon, "gpu_memory")) == (2, 0)


def test_clients_may_hold_three_quarters_of_the_gpus_memory(start_daemon, tmp_path):
    machine_of_16_mib = stand_in(root=tmp_path, memory_mib=16, devices=1)
    daemon = start_daemon("places", **machine_of_16_mib)
    answers = [daemon.client().apply(NEW) for _ in range(8)]
    assert [answer.status for answer in answers] == [200] * 6 + [503] * 2
    assert int(answers[-1].headers["retry-after"]) > 0


# For each step the place that makes the daemon allocate in it.
STEPS = {"input": "host", "endpoint": "new", "export": "managed"}


@pytest.fixture
def full(start_daemon):
    """A daemon whose GPU has memory for `count` arrays, then for none, then again."""
    def start(count: int):
        return start_daemon("places", "--cuda-ipc-pool-fraction", "0",
                            **stand_in(faults=",".join(f"cuMemAlloc_v2:{count + i}:2" for i in (1, 2))))
    return start


@pytest.mark.parametrize("done", ["", None])
@pytest.mark.parametrize("step", STEPS)
def test_a_gpu_that_is_full_of_leases_is_an_answer_to_come_back_at(full, step, done):
    daemon = full(1)
    client = daemon.client()
    kept = client.apply(NEW)
    with lent([1.0]) as x:
        call = {"x": x if step == "input" else [1.0], "place": STEPS[step]}
        refused = client.apply(call, done=done)
        assert refused.status == 503 and int(refused.headers["retry-after"]) > 0, refused.body
        assert "the GPU has no memory left" in refused.json()["detail"]
        assert client.apply(call, done=done).status == 200
    name_done(daemon, kept.lease)
    assert daemon.counter("exhaustions") == 1
    assert (hits(daemon, "export_bytes"), hits(daemon, "gpu_memory")) == (0, 1)


@pytest.mark.parametrize("step", STEPS)
def test_a_gpu_that_is_full_of_other_things_is_not(full, step):
    with lent([1.0]) as x:
        answer = full(0).client().apply({"x": x if step == "input" else [1.0], "place": STEPS[step]})
    assert answer.status == (422 if step == "input" else 500)


def test_a_client_that_names_none_is_not_kept_out_of_a_full_gpu_by_its_own_lease(full):
    daemon = full(1)
    assert daemon.client().apply(NEW, done=None).status == 200
    with lent([1.0]) as x:
        assert daemon.client().apply({"x": x, "place": "host"}, done=None).status == 503
        assert daemon.leases()["total"] == 0


def test_an_answer_that_can_never_fit_is_told_so(start_daemon):
    daemon = start_daemon("mixed", "--max-export-bytes", str(2 * PAGE))
    answer = daemon.client().apply({"count": 3, "all_on_gpu": True})
    assert answer.status == 503 and "retry-after" not in answer.headers
    assert f"needs {3 * PAGE} bytes" in answer.json()["detail"] and f"hold {2 * PAGE} " in answer.json()["detail"]
    assert daemon.leases()["total"] == 0
    assert daemon.client().apply({"count": 2, "all_on_gpu": True}).status == 200


def test_a_client_that_names_none_is_not_kept_out_by_its_own_lease(start_daemon):
    daemon = start_daemon("places", "--max-export-bytes", str(PAGE))
    client = daemon.client()
    assert [client.apply(NEW, done=None).status for _ in range(3)] == [200] * 3
    # Nor are those that name theirs; but what they hold counts.
    held = client.apply(NEW, done="")
    assert held.status == 503
    assert client.apply({**NEW, "place": "host"}, accept="application/json", done=None).status == 200
    held = client.apply(NEW, done="")
    assert held.status == 200
    assert client.apply(NEW, done=None).status == 503
    name_done(daemon, held.lease)
    assert client.apply(NEW, done=None).status == 200
