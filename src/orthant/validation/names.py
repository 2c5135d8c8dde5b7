"""Names of samples and features, where the input has any."""

from __future__ import annotations

from typing import Any

Names = tuple[str, ...] | None


def names_of(X: Any) -> tuple[Names, Names]:
    """Names of the samples and of the features of a frame; None where rows or columns have none.

    An index that only counts from 0 holds no names, and neither do columns that do.
    """
    columns = getattr(X, "column_names", None)  # of Arrow
    if columns is None:
        columns = getattr(X, "columns", None)
    if columns is None or not hasattr(columns, "__len__"):
        return None, None
    return _unless_counted(getattr(X, "index", None)), _unless_counted(columns)


def _unless_counted(names: Any) -> Names:
    if names is None or callable(names):
        return None
    if getattr(names, "dtype", None) is not None and names.dtype.kind in "iu":
        return None if (names == range(len(names))).all() else tuple(map(str, names))
    return tuple(map(str, names))
