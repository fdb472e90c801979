"""Draws times by array size as SVG: both axes logarithmic, one line for each server and encoding."""

import math
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 760, 440
LEFT, RIGHT, TOP, BOTTOM = 70, 190, 40, 50
COLOURS = {"json": "#b8860b", "base64": "#1f77b4", "binref": "#2ca02c"}


def _size(number: float) -> str:
    return f"{number / 2**20:g} MiB" if number >= 2**20 else f"{number / 2**10:g} KiB"


def _time(microseconds: float) -> str:
    if microseconds >= 1e6:
        return f"{microseconds / 1e6:g} s"
    return f"{microseconds / 1e3:g} ms" if microseconds >= 1e3 else f"{microseconds:g} µs"


def draw(lines: dict[str, list[tuple[int, float]]]) -> str:
    """The text of the picture. `lines` are named `<server>, <encoding>` and hold (bytes, microseconds)."""
    sizes = [size for points in lines.values() for size, _ in points]
    times = [time for points in lines.values() for _, time in points]
    low, high = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))

    def x_of(size: float) -> float:
        share = math.log(size / min(sizes)) / math.log(max(sizes) / min(sizes))
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def y_of(time: float) -> float:
        return HEIGHT - BOTTOM - (math.log10(time) - low) / (high - low) * (HEIGHT - TOP - BOTTOM)

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="22" font-size="14">One call of identity: time by size of the array, one connection, TCP</text>',
    ]
    for power in range(low, high + 1):
        y = y_of(10**power)
        out.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        out.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{_time(10**power)}</text>')
    for size in sorted(set(sizes)):
        out.append(
            f'<text x="{x_of(size):.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle" font-size="10">{_size(size)}</text>'
        )
    labels = []
    for name, points in lines.items():
        server, encoding = name.split(", ")
        dash = "" if server == "tessera" else ' stroke-dasharray="5 4"'
        path = " ".join(f"{x_of(size):.1f},{y_of(time):.1f}" for size, time in points)
        out.append(f'<polyline points="{path}" fill="none" stroke="{COLOURS[encoding]}" stroke-width="2"{dash}/>')
        labels.append([y_of(points[-1][1]) + 4, x_of(points[-1][0]) + 8, COLOURS[encoding], name])
    labels.sort()
    for before, label in zip(labels, labels[1:]):
        label[0] = max(label[0], before[0] + 14)
    for y, _, colour, name in labels:
        out.append(f'<text x="{WIDTH - RIGHT + 8}" y="{y:.1f}" fill="{colour}">{escape(name)}</text>')
    out.append("</svg>")
    return "\n".join(out) + "\n"
