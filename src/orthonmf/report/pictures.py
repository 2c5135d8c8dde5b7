"""Small gray pictures as PNG, for features that are pixels."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np

from orthonmf.numerics.arrays import Array
from orthonmf.report.markup import Safe, tag

MOST_PIXELS = 64
PNG = b"\x89PNG\r\n\x1a\n"
GRAY_8_BIT = (8, 0, 0, 0, 0)


def tile(values: Array, shape: tuple[int, int], label: str, look: str = "tile") -> Safe:
    """Values as a picture, the largest one brightest; every other pixel is dropped if it is big."""
    picture = np.asarray(values, dtype=np.float64).reshape(shape)
    step = -(-max(shape) // MOST_PIXELS)
    picture = picture[::step, ::step]
    largest = float(picture.max())
    levels = np.rint(255 * picture / largest) if largest > 0 else np.zeros(picture.shape)
    source = base64.b64encode(png(levels.astype(np.uint8))).decode()
    address = f"data:image/png;base64,{source}"
    return tag("img", class_=look, alt=label, title=label, src=address)


def png(levels: Array) -> bytes:
    """A gray image of 8 bits as a PNG file."""
    height, width = levels.shape
    # Every line begins with the number of its filter; 0 is none.
    lines = np.hstack((np.zeros((height, 1), np.uint8), levels))
    header = struct.pack(">IIBBBBB", width, height, *GRAY_8_BIT)
    content = zlib.compress(lines.tobytes(), 9)
    return PNG + _chunk(b"IHDR", header) + _chunk(b"IDAT", content) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, content: bytes) -> bytes:
    body = kind + content
    return struct.pack(">I", len(content)) + body + struct.pack(">I", zlib.crc32(body))
