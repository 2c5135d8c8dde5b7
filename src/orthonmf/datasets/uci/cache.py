"""The cached file: small integers where the values allow it, CSR parts or an array called X."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from orthonmf.datasets.uci.catalog import Entry
from orthonmf.datasets.uci.record import Content
from orthonmf.files.archive import Members
from orthonmf.files.readers import FileError, read_matrix
from orthonmf.files.readers.record import NUMBERS
from orthonmf.files.whole_files import replacing
from orthonmf.numerics.arrays import Array

REMEDY = "delete the file and load the set again"


def read_cache(path: Path, entry: Entry) -> Content:
    """The content of a cached file, once it is known to be the set; nothing is written."""
    try:
        held = read_matrix(path, format="npz")
    except FileError as error:
        raise FileError(f"{error}; {REMEDY}") from error
    y = _read_labels(path)
    wrong = entry.find_differences(held.X)
    if y is not None and (y.shape != held.X.shape[:1] or y.dtype.kind not in "iu"):
        wrong.append(f"its labels are not {held.X.shape[0]} whole numbers")
    if wrong:
        raise FileError(f"{path}: this is not {entry.name}: {', '.join(wrong)}; {REMEDY}")
    return Content(held.X, y, held.column_names)


def write_cache(path: Path, content: Content) -> None:
    """Write a file that `read_cache` and ``scipy.sparse.load_npz`` understand, whole or not."""
    X = content.X
    arrays: dict[str, Any] = {"X": X}
    if isinstance(X, csr_array):
        arrays = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape}
        arrays["format"] = b"csr"
    if content.y is not None:
        arrays["y"] = content.y
    if content.feature_names is not None:
        arrays["column_names"] = np.array(content.feature_names, dtype=np.str_)
    with replacing(path, "xb") as file:
        np.savez_compressed(file, **arrays)


def compact(content: Content) -> Content:
    """The same content in the smallest integers that hold it; fractions stay as they are."""
    X = content.X
    if isinstance(X, csr_array):
        X = csr_array((smallest(X.data), X.indices, X.indptr), shape=X.shape)
    else:
        X = smallest(X)
    y = None if content.y is None else smallest(content.y)
    return Content(X, y, content.feature_names)


def smallest(values: Array) -> Array:
    """Values in the smallest integer type that holds them, or as they are."""
    if values.dtype.kind == "f" and not np.array_equal(values, np.floor(values)):
        return values
    low, high = int(values.min()), int(values.max())
    # A signed type that holds -1 - high holds high as well.
    return values.astype(np.min_scalar_type(high if low >= 0 else min(low, -1 - high)))


def _read_labels(path: Path) -> Array | None:
    def fail(why: str) -> FileError:
        return FileError(f"{path}: the labels are damaged: {why}; {REMEDY}")

    with open(path, "rb") as file:
        members = Members(file, fail, "this is no .npz archive")
        return members.read("y", NUMBERS) if "y" in members else None
