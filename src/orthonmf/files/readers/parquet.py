"""``.parquet``: one column per feature; an index or a column of text gives the row names."""

from __future__ import annotations

from typing import Any

import numpy as np

from orthonmf.extras import import_extra
from orthonmf.files.readers.request import NamedMatrix, Request


def read_parquet(request: Request) -> NamedMatrix:
    """The columns of numbers as a matrix, read one after the other."""
    parquet = import_extra("pyarrow.parquet", "files")
    with request.decoding("this is no Parquet file, or a damaged one"):
        file = parquet.ParquetFile(request.path)
        index, names = _columns(file.schema_arrow, request)
        n = file.metadata.num_rows
        request.check_shape((n, len(names)))
        request.check_size(8 * n * len(names), f"the table of {n:,} x {len(names):,} numbers")
        X = np.empty((n, len(names)), dtype=np.float64, order="F")
        for place, name in enumerate(names):
            column = file.read(columns=[name]).column(name)
            if column.null_count and not request.allow_missing:
                row = int(np.argmax(column.is_null().to_numpy()))
                remedy = "" if request.allow_missing is None else "--missing leaves such cells out"
                why = f"row {row}, column {name!r}: the value is missing"
                raise request.error(why, remedy=remedy)
            X[:, place] = column.cast("float64").to_numpy()
        texts = None if index is None else file.read(columns=[index]).column(index).to_pylist()
    rows = None if texts is None else tuple(map(str, texts))
    return request.matrix(np.ascontiguousarray(X), rows, tuple(names))


def _columns(schema: Any, request: Request) -> tuple[str | None, list[str]]:
    """The column of row names, if there is one, and the columns of numbers."""
    types = import_extra("pyarrow", "files").types
    if len(set(schema.names)) < len(schema.names):
        raise request.error("two columns have the same name")
    listed = (schema.pandas_metadata or {}).get("index_columns", [])  # those that pandas made
    listed = [name for name in listed if name in schema.names]
    index = listed[0] if len(listed) == 1 else None
    numbers = []
    for column in schema:
        kind = column.type
        if column.name in listed:
            continue
        if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind):
            numbers.append(column.name)
            continue
        kind = kind.value_type if types.is_dictionary(kind) else kind
        if index is not None or not (types.is_string(kind) or types.is_large_string(kind)):
            raise request.error(f"the column {column.name!r} holds {column.type}, not numbers")
        index = column.name
    return index, numbers
