"""How figures are shown, and marked in bold where they miss their goal."""

import statistics


def time_text(microseconds: float) -> str:
    size = abs(microseconds)
    if size < 1e3:
        return f"{microseconds:.0f} µs"
    return f"{microseconds / 1e3:.1f} ms" if size < 1e5 else f"{microseconds / 1e3:.0f} ms"


def ratio_text(ratio: float, goal: float) -> str:
    """With as many decimals as it takes to tell whether a goal like this one is met."""
    return f"{ratio:.2f}x" if goal < 2 else f"{ratio:.1f}x"


def marked(text: str, is_met: bool) -> str:
    return text if is_met else f"**{text}**"


def verdict(ratio: float, goal: float) -> str:
    return marked(f"{ratio_text(ratio, goal)} (≥ {goal:g}x)", ratio >= goal)


def medians(rounds: list[list[dict]], key: str) -> list[float]:
    """Of each of those measured in turn, over all rounds."""
    return [statistics.median(entry[key] for entry in entries) for entries in zip(*rounds)]


def begin_goals() -> None:
    print("\n| besides | measured | goal |\n| --- | --- | --- |", flush=True)


def goal_line(name: str, value: str, is_met: bool, goal: str) -> None:
    """A line of the table that `begin_goals` began."""
    print(f"| {name} | {marked(value, is_met)} | {goal} |", flush=True)
