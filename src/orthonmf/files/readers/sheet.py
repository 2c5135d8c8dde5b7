"""``.xlsx``: a sheet is written out as text and read like any other table."""

from __future__ import annotations

import csv
import zipfile
from contextlib import closing
from io import StringIO
from typing import Any

from orthonmf.extras import import_extra
from orthonmf.files.readers.request import NamedMatrix, Request
from orthonmf.files.readers.text import read_table

BYTES_PER_CELL = 64


def read_sheet(request: Request) -> NamedMatrix:
    """The first sheet, or the one that the key names; formulas count by their last values.

    Rows come from openpyxl one by one, and no row is longer than its last cell: pandas takes
    memory for all cells up to the farthest one, wherever a small file puts it.
    """
    openpyxl = import_extra("openpyxl", "files")
    with request.decoding("this is no .xlsx file, or a damaged one"):
        # Unpacking stops at the declared sizes.
        with zipfile.ZipFile(request.path) as archive:
            declared = sum(entry.file_size for entry in archive.infolist())
        request.check_size(declared, "the unpacked file")
        # A sheet that is left before its end keeps the file open in some versions of openpyxl.
        with (
            open(request.path, "rb") as file,
            closing(openpyxl.load_workbook(file, read_only=True, data_only=True)) as book,
        ):
            titles = [sheet.title for sheet in book.worksheets]
            title = titles[0] if request.key is None else request.key
            if title not in titles:
                listed = ", ".join(titles)
                raise request.error(f"there is no sheet {title!r}; there are {listed}")
            rows = _rows(book[title], request)
    width = max(map(len, rows), default=0)
    request.check_size(BYTES_PER_CELL * width * len(rows), "the sheet")
    text = StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([*row, *[""] * (width - len(row))] for row in rows)
    text.seek(0)
    return read_table(iter(text), request, ",")


def _rows(sheet: Any, request: Request) -> list[list[str]]:
    """The cells of every row as texts, without the empty ones at the end."""
    sheet.reset_dimensions()  # what the file declares may be any size
    rows, n_cells = list[list[str]](), 0
    for values in sheet.iter_rows(values_only=True):
        cells = ["" if value is None else " ".join(str(value).split()) for value in values]
        while cells and not cells[-1]:
            cells.pop()
        rows.append(cells)
        n_cells += len(cells) + 1
        request.check_size(BYTES_PER_CELL * n_cells, "the sheet so far")
    return rows
