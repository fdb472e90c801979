"""kill -9 of a client or a daemon at each step of the exchange."""

import pytest
from gpu_harness.schedules import DEADLINES_S, Runner


@pytest.fixture(scope="module")
def outcomes(request, build):
    """Those of all schedules, once."""
    runner = Runner(build)
    return runner.run_all(runner.plan(request.config.getoption("--schedules")))


@pytest.mark.parametrize("victim", ["client", "daemon"])
def test_all_memory_comes_back_and_nobody_reads_wrong_data(outcomes, victim):
    own = [outcome for outcome in outcomes if outcome.schedule.victim == victim]
    faults = [outcome for outcome in own if outcome.fault]
    assert not faults, f"{len(faults)} of {len(own)}: " + "\n".join(map(str, faults[:20]))
    killed = [outcome for outcome in own if outcome.was_killed]
    late = sum(outcome.deadline_s != DEADLINES_S[0] for outcome in own)
    print(f"{victim}: {len(own)} schedules, {len(killed)} killed; all memory back within the deadline of {DEADLINES_S[0]} s, "
          f"{late} times a longer one; at most {max(outcome.seconds for outcome in own):.2f} s after the last client's end")
    # Threads take calls from each other, so the last ones may not be reached.
    assert len(killed) > 0.9 * len(own)


def test_every_schedule_ran(outcomes, request):
    assert len(outcomes) >= request.config.getoption("--schedules") >= 200
    assert {outcome.schedule.victim for outcome in outcomes} == {"client", "daemon"}
    assert {outcome.schedule.when for outcome in outcomes} == {"before", "after"}
