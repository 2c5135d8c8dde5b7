"""Charts and small pictures: where everything stands, for templates that draw it as SVG."""

from __future__ import annotations

import base64
import math
import struct
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from orthonmf.typing import Array

WIDTH, HEIGHT = 520, 240
LEFT, RIGHT, TOP, BOTTOM = 56, 20, 26, 40
TICKS = 5
MOST_PIXELS = 64
PNG = b"\x89PNG\r\n\x1a\n"
GRAY_8_BIT = (8, 0, 0, 0, 0)
Scale = Callable[[float], float]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a chart: its name, its heights (None where there is none) and its look."""

    name: str
    heights: Sequence[float | None]
    style: str


@dataclass(frozen=True, slots=True)
class Chart:
    """Lines or bars on a grid, in the units of the drawing, and the same numbers as a table."""

    title: str
    x_label: str
    y_label: str
    levels: list[tuple[float, str]]  # height and word of every line of the grid
    ticks: list[tuple[float, str]]  # place and word of everything below the axis
    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    lines: list[tuple[Line, list[tuple[float, float]]]]
    bars: list[tuple[float, float, float, float]]  # left, top, width, height
    marked: list[tuple[float, str]]  # place and word of every upright line

    frame = (WIDTH, HEIGHT, LEFT, WIDTH - RIGHT, TOP, HEIGHT - BOTTOM)


def line_chart(
    title: str,
    x: Sequence[float],
    lines: Sequence[Line],
    *,
    x_label: str,
    y_label: str,
    marked: Sequence[tuple[float, str]] = (),
    from_zero: bool = False,
) -> Chart:
    """A chart of some lines over x; ``marked`` are upright lines with a word each."""
    heights = [h for line in lines for h in line.heights if h is not None and math.isfinite(h)]
    levels = _nice_ticks(0.0 if from_zero else min(heights, default=0.0), max(heights, default=1.0))
    across = _scale(min(x), max(x), LEFT, WIDTH - RIGHT)
    down = _scale(levels[0], levels[-1], HEIGHT - BOTTOM, TOP)
    placed = [
        (line, [(across(place), down(height))
                for place, height in zip(x, line.heights, strict=True)
                if height is not None and math.isfinite(height)])
        for line in lines
    ]  # fmt: skip
    rows = [
        (f"{place:g}", *("" if height is None else f"{height:.6g}" for height in cells))
        for place, *cells in zip(x, *(line.heights for line in lines), strict=True)
    ]
    places = sorted(set(x))
    ticks = [(across(place), f"{place:g}") for place in places[:: max(1, -(-len(places) // 10))]]
    at_levels = [(down(level), f"{level:.4g}") for level in levels]
    upright = [(across(place), word) for place, word in marked if min(x) <= place <= max(x)]
    head = (x_label, *(line.name for line in lines))
    return Chart(title, x_label, y_label, at_levels, ticks, head, rows, placed, [], upright)


def histogram(title: str, counts: Array, edges: Array, *, x_label: str, y_label: str) -> Chart:
    """Bars of shares (counts of shares between two edges each, from 0 to 1)."""
    levels = _nice_ticks(0.0, float(counts.max()))
    down = _scale(levels[0], levels[-1], HEIGHT - BOTTOM, TOP)
    across = _scale(0.0, 1.0, LEFT, WIDTH - RIGHT)
    bars, rows = [], []
    for low, high, count in zip(edges[:-1], edges[1:], counts.tolist(), strict=True):
        left, right, top = across(low) + 1, across(high) - 1, down(count)
        bars.append((left, top, right - left, down(0) - top))
        rows.append((f"{100 * low:.0f} to {100 * high:.0f}%", f"{count:g}"))
    ticks = [(across(share), f"{share:.0%}") for share in (0, 0.25, 0.5, 0.75, 1)]
    at_levels = [(down(level), f"{level:.4g}") for level in levels]
    head = (x_label, y_label)
    return Chart(title, x_label, y_label, at_levels, ticks, head, rows, [], bars, [])


def _nice_ticks(low: float, high: float) -> list[float]:
    """A few round numbers that enclose a range."""
    if not high > low:
        high = low + (abs(low) or 1.0) * 0.1
    raw = (high - low) / TICKS
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(size * power for size in (1, 2, 2.5, 5, 10) if size * power >= raw * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(i * step, 12) for i in range(first, last + 1)]


def _scale(low: float, high: float, start: float, stop: float) -> Scale:
    if high == low:
        return lambda value: (start + stop) / 2
    return lambda value: start + (value - low) / (high - low) * (stop - start)


def picture(values: Array, shape: tuple[int, int]) -> str:
    """Values as a gray PNG in a data URI, the largest brightest; a big one loses pixels."""
    pixels = np.asarray(values, dtype=np.float64).reshape(shape)
    step = -(-max(shape) // MOST_PIXELS)
    pixels = pixels[::step, ::step]
    largest = float(pixels.max())
    levels = np.rint(255 * pixels / largest) if largest > 0 else np.zeros(pixels.shape)
    return "data:image/png;base64," + base64.b64encode(_png(levels.astype(np.uint8))).decode()


def _png(levels: Array) -> bytes:
    height, width = levels.shape
    # Every line begins with the number of its filter; 0 is none.
    lines = np.hstack((np.zeros((height, 1), np.uint8), levels))
    header = struct.pack(">IIBBBBB", width, height, *GRAY_8_BIT)
    content = zlib.compress(lines.tobytes(), 9)
    return PNG + _chunk(b"IHDR", header) + _chunk(b"IDAT", content) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, content: bytes) -> bytes:
    body = kind + content
    return struct.pack(">I", len(content)) + body + struct.pack(">I", zlib.crc32(body))
