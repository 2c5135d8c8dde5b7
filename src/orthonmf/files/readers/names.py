"""Lists of names: one per line, and those that 10x Genomics puts next to a matrix."""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path

from orthonmf.files.readers.opening import DAMAGED_TEXT, open_text, readable
from orthonmf.files.readers.request import FileError

LONGEST_LIST = 2**28
TENX_MATRIX = re.compile(r"matrix\.mtx(\.gz)?$")


def read_names(
    path: str | os.PathLike[str], expected: int, what: str, *, may_be_empty: bool = False
) -> tuple[str, ...]:
    """One name per line; as many as there are rows or columns. The last ones may be empty."""
    names = tuple(read_lines(Path(path), expected if may_be_empty else 0))
    if len(names) != expected:
        raise FileError(f"{path}: it holds {len(names)} names for {expected} {what}")
    return names


def read_lines(path: Path, least: int = 0) -> list[str]:
    """The lines of a text file, packed or not, without empty ones at the end beyond ``least``."""
    try:
        with readable(path, LONGEST_LIST) as place, open_text(place) as file:
            text = file.read(LONGEST_LIST + 1)
    except DAMAGED_TEXT as error:
        raise FileError(f"{path}: this is no UTF-8 text: {error}") from error
    if len(text) > LONGEST_LIST:
        raise FileError(f"{path}: it holds more than {LONGEST_LIST:,} characters of names")
    lines = text.splitlines()
    while len(lines) > least and not lines[-1].strip():
        lines.pop()
    return lines


def tenx_matrix(folder: Path) -> Path | None:
    """The matrix of a folder as 10x Genomics writes it; None if there is none."""
    matrices = sorted(path for path in folder.iterdir() if TENX_MATRIX.search(path.name))
    if len(matrices) > 1:
        listed = ", ".join(path.name for path in matrices[:5])
        raise FileError(f"{folder}: it holds several matrices: {listed}; name one of them")
    return matrices[0] if matrices else None


def tenx_neighbors(path: Path) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Barcodes and features next to ``[PREFIX]matrix.mtx[.gz]``; None if they are not there."""
    name = path.name.removesuffix(".gz")
    if not name.endswith("matrix.mtx"):
        return None
    prefix = name.removesuffix("matrix.mtx")
    barcodes = _first_there(path.parent, prefix, ("barcodes.tsv",))
    features = _first_there(path.parent, prefix, ("features.tsv", "genes.tsv"))
    if barcodes is None or features is None:
        return None
    cells = tuple(line.split("\t")[0] for line in read_lines(barcodes))
    return cells, _gene_names([line.split("\t") for line in read_lines(features)])


def _first_there(folder: Path, prefix: str, names: tuple[str, ...]) -> Path | None:
    candidates = (folder / f"{prefix}{name}{packed}" for name in names for packed in ("", ".gz"))
    return next((path for path in candidates if path.is_file()), None)


def _gene_names(fields: list[list[str]]) -> tuple[str, ...]:
    """The symbol of every gene, with its identifier where the symbol alone is not unique."""
    symbols = [cells[1] if len(cells) > 1 else cells[0] for cells in fields]
    counts = Counter(symbols)
    return tuple(
        symbol if counts[symbol] == 1 or len(cells) < 2 else f"{symbol} ({cells[0]})"
        for symbol, cells in zip(symbols, fields, strict=True)
    )
