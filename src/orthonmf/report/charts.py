"""Charts and small pictures: where everything stands, for templates that draw it as SVG."""

from __future__ import annotations

import base64
import math
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from orthonmf.typing import Array

WIDTH, HEIGHT = 520, 240
LEFT, RIGHT, TOP, BOTTOM = 56, 20, 26, 40
LEVELS = 5
MOST_PIXELS = 64
PNG = b"\x89PNG\r\n\x1a\n"
GRAY_8_BIT = (8, 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a chart: its name, its heights (None where there is none) and its look."""

    name: str
    heights: Sequence[float | None]
    style: str = "first"


@dataclass(frozen=True, slots=True)
class Chart:
    """Lines or bars on a grid that begins at zero, and the same numbers as a table."""

    title: str
    x_label: str
    y_label: str
    places: Sequence[float]  # of the points; of bars their edges, one more than there are bars
    lines: Sequence[Line]  # of bars: their heights alone
    words: Sequence[str]  # what every point or bar is called in the table
    ticks: Sequence[tuple[float, str]]  # place and word of everything below the axis
    marked: Sequence[tuple[float, str]] = ()  # place and word of every upright line

    frame = (WIDTH, HEIGHT, LEFT, WIDTH - RIGHT, TOP, HEIGHT - BOTTOM)

    @property
    def levels(self) -> list[float]:
        """Heights of the lines of the grid."""
        heights = [height for line in self.lines for height in line.heights if height is not None]
        return _round_numbers(min([0.0, *heights]), max([0.0, *heights]))

    def across(self, place: float) -> float:
        """Where a place of the axis is in the drawing."""
        return _scale(place, min(self.places), max(self.places), LEFT, WIDTH - RIGHT)

    def down(self, height: float) -> float:
        """Where a height is in the drawing."""
        levels = self.levels
        return _scale(height, levels[0], levels[-1], HEIGHT - BOTTOM, TOP)

    def points(self, line: Line) -> list[tuple[float, float]]:
        """Where the points of a line are in the drawing."""
        return [
            (self.across(place), self.down(height))
            for place, height in zip(self.places, line.heights, strict=True)
            if height is not None
        ]


def _round_numbers(low: float, high: float) -> list[float]:
    """A few round numbers that enclose a range."""
    raw = (high - low or 1.0) / LEVELS
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(size * power for size in (1, 2, 2.5, 5, 10) if size * power >= raw * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(i * step, 12) for i in range(first, max(last, first + 1) + 1)]


def _scale(value: float, low: float, high: float, start: float, stop: float) -> float:
    share = (value - low) / (high - low) if high > low else 0.5
    return start + share * (stop - start)


def dots_path(across: Array, down: Array) -> str:
    """Dots at some places as one SVG path: thousands of elements would make a page slow."""
    return "".join(f"M{x:.1f} {y:.1f}h0" for x, y in zip(across, down, strict=True))


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
