"""What every test asks again: an answer as it should be, and a line in the log."""

from gpu_harness.waiting import wait_until

INPUTS = {"x": [1.0, 2.0]}


def call(daemon, status: int = 200, query: str = "", headers=(), **values):
    """One apply on a connection of its own, which must have that status."""
    answer = daemon.client().request("POST", f"/apply{query}", {"inputs": INPUTS | values}, headers)
    assert answer.status == status, answer.body[:500]
    return answer


def serves(daemon) -> None:
    """A call and what operators ask are answered rightly."""
    assert call(daemon).json()["y"]["data"]["buffer"] == INPUTS["x"]
    assert daemon.client().get("/health").json() == {"status": "ok"}


def logged(daemon, *words: str, limit_s: float = 10) -> str:
    """The first line of the log that holds all the words, once it is there: it comes by a pipe."""

    def lines() -> list[str]:
        return [line for line in daemon.log_lines if all(word in line for word in words)]

    wait_until(lambda: lines() != [], f"{words} in\n{daemon.log()}", limit_s)
    return lines()[0]
