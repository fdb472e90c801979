"""Waiting for what other processes do."""

import time

LIMIT_S = 30


def wait_until(is_there, what: str, limit_s: float = LIMIT_S) -> float:
    """Waits until something holds; gives the seconds that it took."""
    begin = time.monotonic()
    while not is_there():
        assert time.monotonic() - begin < limit_s, f"not within {limit_s} s: {what}"
        time.sleep(0.005)
    return time.monotonic() - begin
