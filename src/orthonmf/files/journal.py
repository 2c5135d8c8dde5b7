"""Journal: lines that are on disk one after the other, whatever ends their writer.

A line is written in one go and flushed, so a file holds whole lines and at most one torn line at
its end. Reading ignores it, and the next line that is written takes its place.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from orthonmf.errors import InvalidInputError
from orthonmf.files.whole_files import is_special


class Journal:
    """The whole lines of a file, and how one is added; without a path nothing is kept."""

    def __init__(self, path: Path | None, beginning: str, foreign: str) -> None:
        """Read a file without changing it; one that is not there has no lines.

        A file whose only line is torn is ours when it begins like ``beginning``. Otherwise
        ``foreign`` says why it is refused.
        """
        self.path = path
        self.lines: list[str] = []
        self._torn_at: int | None = None
        if path is None or not path.exists():
            return
        if is_special(path):
            raise InvalidInputError(f"{path} is a device or a pipe; name a file for results")
        content = path.read_bytes()
        size = content.rfind(b"\n") + 1
        if not size and not content.startswith(beginning.encode()[: len(content)]):
            raise InvalidInputError(foreign)
        self.lines = content[:size].decode(errors="replace").split("\n")[:-1]
        self._torn_at = size if size < len(content) else None

    def append(self, line: str) -> None:
        """Add a line, on disk when this returns."""
        if self.path is None:
            return
        with open(self.path, "ab") as file:
            if self._torn_at is not None:
                file.truncate(self._torn_at)
                self._torn_at = None
            file.write(f"{line}\n".encode())
            file.flush()
            os.fsync(file.fileno())


def parse_object(text: str | bytes, place: str) -> dict[str, Any]:
    """The JSON object that a text is; what is none is refused with its place in a file."""
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"{place} is damaged: {error}") from error
    if not isinstance(values, dict):
        raise InvalidInputError(f"{place} is no JSON object")
    return values
