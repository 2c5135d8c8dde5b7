"""The files of a result folder, which appear together or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from orthonmf.cli.failures import about
from orthonmf.files.readers import FileError
from orthonmf.files.saving import save
from orthonmf.files.whole_files import flush_folder, remove_leftovers, temporary_name
from orthonmf.report.tables import write_rows


def check_own(folder: Path, names: Iterable[str], mark: str) -> None:
    """Refuse to replace files that somebody else wrote.

    A folder is ours when the JSON file ``mark`` in it says so.
    """
    there = [name for name in names if (folder / name).exists()]
    if not there:
        return
    beginning = b""
    if (folder / mark).is_file():
        with open(folder / mark, "rb") as file:
            beginning = file.read(4096)
    if b'"orthonmf"' not in beginning:
        raise FileError(
            f"{folder}: it holds a {there[0]} that orthonmf did not write; choose another folder"
        )


def write_files(folder: Path, contents: Mapping[str, Any]) -> None:
    """Write files that appear together, each by its content.

    It is a text, a table (its headings and its rows), or what `save` takes.
    """
    about(folder)
    with writing_together(folder) as place:
        for name, content in contents.items():
            if isinstance(content, str):
                place(name).write_text(content, encoding="utf-8")
            elif isinstance(content, tuple):
                with open(place(name), "w", encoding="utf-8", newline="") as file:
                    write_rows(file, *content)
            else:
                save(content, place(name))


@contextmanager
def writing_together(folder: Path) -> Iterator[Callable[[str], Path]]:
    """Some files of one folder, all of which appear together at the end.

    The block is given a function that says where to write the file of a name: under a temporary
    one in the same folder. When the block ends well they are renamed over the old ones, otherwise
    they are removed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    remove_leftovers(folder)
    waiting: dict[Path, Path] = {}

    def place(name: str) -> Path:
        temporary = folder / temporary_name(name)
        waiting[temporary] = folder / name
        return temporary

    try:
        yield place
        for temporary in waiting:
            with open(temporary, "rb") as file:
                os.fsync(file.fileno())
        for temporary, final in waiting.items():
            os.replace(temporary, final)
        flush_folder(folder)
    finally:
        for temporary in waiting:
            temporary.unlink(missing_ok=True)
