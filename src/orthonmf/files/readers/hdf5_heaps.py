"""The heaps in which HDF5 keeps texts of any length, checked before the library reads them.

The library goes from object to object by the sizes that they declare. A damaged size can lead it
back to where it is, and it never returns.
"""

from __future__ import annotations

import mmap
from math import prod
from typing import Any

import numpy as np

from orthonmf.files.readers.record import Request

SIGNATURE = b"GCOL\x01\x00\x00\x00"
HEADER = 16  # bytes before the first object, and before the content of each
RECORD = 16  # bytes: length, address of the heap, number in it


def check_heaps(request: Request) -> None:
    """Refuse a file in which an object of a heap does not lead to the next one."""
    with open(request.path, "rb") as file:
        if file.seek(0, 2) < HEADER:
            return
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            start = content.find(SIGNATURE)
            while start >= 0:
                if not _leads_to_its_end(content, start):
                    raise request.error("this is a damaged HDF5 file: a heap of texts is corrupt")
                start = content.find(SIGNATURE, start + 1)


def _leads_to_its_end(content: mmap.mmap, start: int) -> bool:
    end = start + int.from_bytes(content[start + 8 : start + 16], "little")
    if end > len(content):
        return True  # the library refuses it, or it is no heap
    place = start + HEADER
    while place + HEADER <= end:
        number = int.from_bytes(content[place : place + 2], "little")
        size = int.from_bytes(content[place + 8 : place + 16], "little")
        # Number 0 is the room that is left, and its size counts the header.
        taken = HEADER + (size + 7) // 8 * 8 if number else size
        if taken < HEADER or place + taken > end:
            return False
        place += taken
    return True


def check_lengths(dataset: Any, request: Request) -> None:
    """Refuse texts that claim to be longer than the file: memory is taken for what they claim.

    A text is kept as its length and its place in a heap, 16 bytes. Packed datasets cannot be
    looked into.
    """
    start = dataset.id.get_offset()
    if dataset.dtype.kind != "O" or start is None:
        return
    with open(request.path, "rb") as file:
        held = file.seek(0, 2)
        file.seek(start)
        kept = file.read(RECORD * prod(dataset.shape))
    lengths = np.frombuffer(kept[: len(kept) // RECORD * RECORD], dtype="<u4")[::4]
    if lengths.size and lengths.max() > held:
        raise request.error(f"a text in {dataset.name!r} claims to be longer than the file")
