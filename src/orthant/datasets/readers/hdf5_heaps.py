"""The heaps in which HDF5 keeps texts of any length, checked before the library reads them.

The library goes from object to object by the sizes that they declare. A damaged size can lead it
back to where it is, and it never returns.
"""

from __future__ import annotations

import mmap

from orthant.datasets.readers.record import Request

SIGNATURE = b"GCOL\x01\x00\x00\x00"
HEADER = 16  # bytes before the first object, and before the content of each


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
