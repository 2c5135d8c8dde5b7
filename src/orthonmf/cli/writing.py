"""The files of a result folder, which appear together or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TextIO

from orthonmf.files.readers import FileError
from orthonmf.files.whole_files import flush_folder, remove_leftovers, temporary_name


def check_own(folder: Path, names: Iterable[str], mark: str) -> None:
    """Refuse to replace files that somebody else wrote.

    A folder is ours when the JSON file ``mark`` in it says so.
    """
    there = [name for name in names if (folder / name).exists()]
    if there and not _is_ours(folder / mark):
        raise FileError(
            f"{folder}: it holds a {there[0]} that orthonmf did not write; choose another folder"
        )


def _is_ours(path: Path) -> bool:
    if not path.is_file():
        return False
    try:
        with open(path, "rb") as file:
            return b'"orthonmf"' in file.read(4096)
    except OSError:
        return False


class Replacing:
    """Some files of one folder, all of which appear together at the end.

    Inside the block files are written under temporary names in the same folder; when the block
    ends well they are renamed over the old ones, otherwise they are removed.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._waiting: dict[Path, Path] = {}
        self._leaving: list[Path] = []

    def __enter__(self) -> Replacing:
        self.folder.mkdir(parents=True, exist_ok=True)
        remove_leftovers(self.folder)
        return self

    def text(self, name: str, write: Callable[[TextIO], Any]) -> None:
        """Write a text file through a function that is given the open file."""
        with open(self._temporary(name), "x", encoding="utf-8", newline="") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())

    def other(self, name: str, write: Callable[[Path], Any]) -> None:
        """Write a file through a function that is given its temporary path."""
        temporary = self._temporary(name)
        write(temporary)
        with open(temporary, "rb") as file:
            os.fsync(file.fileno())

    def without(self, name: str) -> None:
        """Remove a file that an earlier result left, when the new files appear."""
        self._leaving.append(self.folder / name)

    def _temporary(self, name: str) -> Path:
        temporary = self.folder / temporary_name(name)
        self._waiting[temporary] = self.folder / name
        return temporary

    def __exit__(self, kind: type[BaseException] | None, *about_it: object) -> None:
        try:
            if kind is None:
                for temporary, place in self._waiting.items():
                    os.replace(temporary, place)
                for place in self._leaving:
                    place.unlink(missing_ok=True)
                flush_folder(self.folder)
        finally:
            for temporary in self._waiting:
                temporary.unlink(missing_ok=True)
