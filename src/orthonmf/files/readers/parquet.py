"""``.parquet``: one column per feature; an index or a column of text gives the row names."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from orthonmf.extras import import_extra
from orthonmf.files.readers.record import NamedMatrix, Request


def read_parquet(request: Request) -> NamedMatrix:
    """The columns of numbers as a matrix, read one after the other."""
    pyarrow = import_extra("pyarrow", "files")
    parquet = import_extra("pyarrow.parquet", "files")
    with request.decoding("this is no Parquet file, or a damaged one"):
        file = parquet.ParquetFile(request.path)
        schema = file.schema_arrow
        index, names = _columns(schema, pyarrow, request)
        n = file.metadata.num_rows
        request.check_shape((n, len(names)))
        request.check_size(8 * n * len(names), f"the table of {n:,} x {len(names):,} numbers")
        X = np.empty((n, len(names)), dtype=np.float64, order="F")
        for place, name in enumerate(names):
            X[:, place] = _numbers(file, name, request)
        texts = None if index is None else file.read(columns=[index]).column(index).to_pylist()
    rows = None if texts is None else tuple(map(str, texts))
    return request.matrix(np.ascontiguousarray(X), rows, tuple(names))


def _columns(schema: Any, pyarrow: Any, request: Request) -> tuple[str | None, list[str]]:
    """The column of row names, if there is one, and the columns of numbers."""
    if len(set(schema.names)) < len(schema.names):
        raise request.error("two columns have the same name")
    listed = _pandas_index(schema)
    index = listed[0] if len(listed) == 1 else None
    numbers = []
    for column in schema:
        if column.name in listed:
            continue
        if _is_number(column.type, pyarrow):
            numbers.append(column.name)
        elif index is None and _is_text(column.type, pyarrow):
            index = column.name
        else:
            raise request.error(f"the column {column.name!r} holds {column.type}, not numbers")
    return index, numbers


def _pandas_index(schema: Any) -> list[str]:
    """Names of the columns that pandas made from an index."""
    try:
        described = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
        listed = described.get("index_columns", [])
    except (ValueError, AttributeError):
        return []
    return [name for name in listed if isinstance(name, str) and name in schema.names]


def _is_number(kind: Any, pyarrow: Any) -> bool:
    types = pyarrow.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind))


def _is_text(kind: Any, pyarrow: Any) -> bool:
    types = pyarrow.types
    if types.is_dictionary(kind):
        return _is_text(kind.value_type, pyarrow)
    return bool(types.is_string(kind) or types.is_large_string(kind))


def _numbers(file: Any, name: str, request: Request) -> Any:
    column = file.read(columns=[name]).column(name)
    if column.null_count and not request.allow_missing:
        row = int(np.argmax(column.is_null().to_numpy()))
        remedy = "" if request.allow_missing is None else "--missing leaves such cells out"
        raise request.error(f"row {row}, column {name!r}: the value is missing", remedy=remedy)
    return column.cast("float64").to_numpy()
