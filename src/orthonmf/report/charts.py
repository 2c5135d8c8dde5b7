"""Charts as plain SVG: they print, they scale, and they need no script."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from orthonmf.report.markup import Safe, row, table, tag

WIDTH, HEIGHT = 520, 240
LEFT, RIGHT, TOP, BOTTOM = 56, 12, 14, 40
TICKS = 5
Scale = Callable[[float], float]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a chart: its name, its heights (None where there is none) and its look."""

    name: str
    heights: Sequence[float | None]
    style: str


def line_chart(
    title: str,
    x: Sequence[float],
    lines: Sequence[Line],
    *,
    x_label: str,
    y_label: str,
    marked: float | None = None,
    from_zero: bool = False,
) -> Safe:
    """A chart of some lines over x; ``marked`` draws an upright line with its value."""
    heights = [h for line in lines for h in line.heights if h is not None and math.isfinite(h)]
    levels = nice_ticks(0.0 if from_zero else min(heights), max(heights))
    across = _scale(min(x), max(x), LEFT, WIDTH - RIGHT)
    down = _scale(levels[0], levels[-1], HEIGHT - BOTTOM, TOP)
    drawn: list[Safe] = []
    if marked is not None:
        at = f"{across(marked):.1f}"
        drawn.append(tag("line", x1=at, x2=at, y1=TOP, y2=HEIGHT - BOTTOM, class_="marked"))
    for line in lines:
        drawn.extend(_line(x, line, across, down))
    ticks = [(across(value), f"{value:g}") for value in _x_ticks(x)]
    keys = [tag("span", tag("i", class_=f"key {line.style}"), line.name) for line in lines]
    legend = tag("p", keys, class_="legend") if len(lines) > 1 else ""
    picture = _picture(f"{title}: {y_label} over {x_label}", x_label, levels, ticks, drawn)
    heights_at = zip(*(line.heights for line in lines), strict=True)
    rows = [
        row(f"{value:g}", ["" if one is None else f"{one:.6g}" for one in cells])
        for value, cells in zip(x, heights_at, strict=True)
    ]
    numbers = _numbers((x_label, *(line.name for line in lines)), rows)
    return tag("figure", tag("figcaption", title), picture, legend, numbers)


def bar_chart(
    title: str,
    names: Sequence[str],
    heights: Sequence[float],
    *,
    x_label: str,
    y_label: str,
    ticks: Sequence[tuple[float, str]],
) -> Safe:
    """Bars of the same width next to each other; ``ticks`` are places, counted in bars, and words.

    The names are those of the bars in the table of the same numbers.
    """
    levels = nice_ticks(0.0, max(heights))
    down = _scale(levels[0], levels[-1], HEIGHT - BOTTOM, TOP)
    across = _scale(0, len(heights), LEFT, WIDTH - RIGHT)
    drawn = []
    for place, height in enumerate(heights):
        left, right, top = across(place) + 1, across(place + 1) - 1, down(height)
        size = {"width": f"{right - left:.1f}", "height": f"{down(0) - top:.1f}"}
        drawn.append(tag("rect", x=f"{left:.1f}", y=f"{top:.1f}", class_="bar", **size))
    placed = [(across(at), word) for at, word in ticks]
    picture = _picture(f"{title}: {y_label} over {x_label}", x_label, levels, placed, drawn)
    rows = [row(name, [f"{height:g}"]) for name, height in zip(names, heights, strict=True)]
    return tag("figure", tag("figcaption", title), picture, _numbers((x_label, y_label), rows))


def _picture(
    words: str,
    x_label: str,
    levels: Sequence[float],
    ticks: Sequence[tuple[float, str]],
    drawn: Sequence[Safe],
) -> Safe:
    """What is drawn, on a grid of levels, above ticks that stand at a place each."""
    down = _scale(levels[0], levels[-1], HEIGHT - BOTTOM, TOP)
    grid = []
    for value in levels:
        y = f"{down(value):.1f}"
        grid.append(tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y, class_="grid"))
        grid.append(_text(LEFT - 8, down(value) + 4, f"{value:.4g}", "end"))
    below = [_text(at, HEIGHT - BOTTOM + 18, word, "middle") for at, word in ticks]
    label = _text((LEFT + WIDTH) / 2, HEIGHT - 6, x_label, "middle")
    inside = (tag("title", words), grid, below, drawn, label)
    return tag("svg", inside, viewBox=f"0 0 {WIDTH} {HEIGHT}", role="img", class_="chart")


def _numbers(head: Sequence[str], rows: Sequence[Safe]) -> Safe:
    """The same numbers for those who do not see the picture."""
    return tag("details", tag("summary", "as a table"), table(head, rows), class_="numbers")


def nice_ticks(low: float, high: float) -> list[float]:
    """A few round numbers that enclose a range."""
    if not high > low:
        high = low + (abs(low) or 1.0) * 0.1
    raw = (high - low) / TICKS
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(one * power for one in (1, 2, 2.5, 5, 10) if one * power >= raw * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(i * step, 12) for i in range(first, last + 1)]


def _x_ticks(x: Sequence[float]) -> list[float]:
    values = sorted(set(x))
    step = max(1, math.ceil(len(values) / 10))
    return values[::step]


def _scale(low: float, high: float, start: float, stop: float) -> Scale:
    if high == low:
        return lambda value: (start + stop) / 2
    return lambda value: start + (value - low) / (high - low) * (stop - start)


def _text(x: float, y: float, text: str, anchor: str) -> Safe:
    return tag("text", text, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor)


def _line(x: Sequence[float], line: Line, across: Scale, down: Scale) -> Iterator[Safe]:
    points = [
        (across(one), down(height))
        for one, height in zip(x, line.heights, strict=True)
        if height is not None and math.isfinite(height)
    ]
    joined = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
    yield tag("polyline", points=joined, class_=f"line {line.style}")
    if len(points) <= 60:
        for a, b in points:
            yield tag("circle", cx=f"{a:.1f}", cy=f"{b:.1f}", r=2.6, class_=f"dot {line.style}")
