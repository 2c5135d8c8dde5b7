"""``docword.*.txt.gz``: three lines of sizes, then ``document word count``, numbered from 1."""

from __future__ import annotations

from array import array
from collections.abc import Iterator

import numpy as np
from scipy.sparse import coo_array

from orthonmf.datasets.uci.lines import number_lines, parse_integers
from orthonmf.datasets.uci.record import Content, Shape
from orthonmf.files.readers.record import Request

HEADER = 3


def read_docword(request: Request, shape: Shape) -> Content:
    """Counts of words (columns) in documents (rows) as a CSR array."""
    lines = number_lines(request)
    n_entries = _header(lines, request, shape)
    entries = array("q")
    line = HEADER
    for line, text in lines:
        if len(entries) >= 3 * n_entries:
            raise request.error(f"there are more than the {n_entries} entries of line 3", line)
        entry = parse_integers(text.split(), 3, request, line)
        _check_entry(entry, request, shape, line)
        entries.extend(entry)
    if len(entries) < 3 * n_entries:
        raise request.error(
            f"the file ends here, after {len(entries) // 3} of {n_entries} entries: it is cut off",
            line,
        )
    documents, words, counts = np.array(entries).reshape(-1, 3).T
    _check_unique(documents, words, request, shape)
    return Content(coo_array((counts, (documents - 1, words - 1)), shape=shape).tocsr())


def _header(lines: Iterator[tuple[int, str]], request: Request, shape: Shape) -> int:
    """The number of entries; the other two sizes must be the known ones."""
    sizes: list[int] = []
    for what in ("documents", "words", "entries"):
        line, text = next(lines, (len(sizes) + 1, ""))
        if not text.strip():
            raise request.error(f"the number of {what} is missing", line)
        sizes += parse_integers(text.split(), 1, request, line)
    for line, (size, known) in enumerate(zip(sizes, shape, strict=False), start=1):
        if size != known:
            what = "documents" if line == 1 else "words"
            raise request.error(f"it declares {size} {what} instead of {known}", line)
    return sizes[2]


def _check_entry(entry: list[int], request: Request, shape: Shape, line: int) -> None:
    for what, number, most in zip(("document", "word"), entry, shape, strict=False):
        if not 1 <= number <= most:
            raise request.error(f"{what} {number} is not among 1 to {most}", line)
    if not 1 <= entry[2] < 2**31:
        raise request.error(f"the count {entry[2]} is not positive, or absurd", line)


def _check_unique(documents: np.ndarray, words: np.ndarray, request: Request, shape: Shape) -> None:
    """Refuse a word that is counted twice in a document, and name the second line."""
    places = documents * (shape[1] + 1) + words
    order = np.argsort(places, kind="stable")
    again = order[1:][places[order[1:]] == places[order[:-1]]]
    if len(again):
        first = int(again.min())
        raise request.error(
            f"word {words[first]} of document {documents[first]} is there for the second time",
            first + HEADER + 1,
        )
