"""Programs that run in a process of their own, as users' programs do."""

import subprocess
import sys
import textwrap

from gpu_harness import daemons

LIMIT_S = 60


def run(
    text: str,
    *arguments: str,
    python: str = sys.executable,
    prefix: tuple[str, ...] = (),
    without_gpu: bool = False,
    **settings: str,
) -> str:
    """Runs a program, which has to end well; gives what it printed. Settings are variables of its environment."""
    answer = subprocess.run(
        [*prefix, python, "-c", textwrap.dedent(text), *arguments],
        env=daemons.environment(settings, without_gpu),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    assert answer.returncode == 0, f"{answer.returncode}: {answer.stderr}"
    assert "nanobind" not in answer.stderr and "terminate" not in answer.stderr, answer.stderr
    return answer.stdout.strip()
