"""The sets of a table: the files of a folder, or the sets of the paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from orthonmf.bench.data import real
from orthonmf.errors import InvalidInputError
from orthonmf.files.readers import format_by_name
from orthonmf.reproduction.paper import PUBLISHED

OF_THE_PAPER = tuple(name for name in PUBLISHED if name != "pems-train")  # nobody has that one


@dataclass(frozen=True, slots=True)
class NamedSet:
    """A matrix that is read when it is needed."""

    name: str
    load: Callable[[], Any]
    source: str  # the file, for messages


def sets_of_paper() -> list[NamedSet]:
    """The sets of the paper's table, but for one that cannot be had."""
    return [NamedSet(name, real(name).make, name) for name in OF_THE_PAPER]


def sets_of_folder(folder: Path, read: Callable[[Path], Any]) -> list[NamedSet]:
    """Every file of a folder whose ending names a format, or the one file that is named.

    A set is called like its file without the ending, or with it where two would be called alike.
    """
    if not folder.exists():
        raise InvalidInputError(f"{folder}: there is no such folder; name one that holds matrices")
    single = folder.is_file() or format_by_name(folder) is not None
    files = [folder] if single else sorted(
        path for path in folder.iterdir()
        if not path.name.startswith(".") and format_by_name(path) is not None
    )  # fmt: skip
    if not files:
        raise InvalidInputError(
            f"{folder}: no file in it has the ending of a matrix; orthonmf fit --help lists them"
        )
    count = Counter(map(_stem, files))
    names = [_stem(path) if count[_stem(path)] == 1 else path.name for path in files]
    return [
        NamedSet(name, partial(read, path), str(path))
        for name, path in zip(names, files, strict=True)
    ]


def _stem(path: Path) -> str:
    return Path(path.name.removesuffix(".gz")).stem


def select(sets: Sequence[NamedSet], wanted: Sequence[str]) -> list[NamedSet]:
    """The sets of these names, or of names that hold them, in the order of the sets."""
    kept: set[str] = set()
    for text in wanted:
        exact = [one.name for one in sets if one.name == text]
        found = exact or [one.name for one in sets if text in one.name]
        if not found:
            names = ", ".join(one.name for one in sets)
            raise InvalidInputError(f"--sets: no set is called like {text!r}; there are {names}")
        kept.update(found)
    return [one for one in sets if one.name in kept]
