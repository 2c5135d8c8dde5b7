"""Names of samples and features: those given, or those that the data bring."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np

from orthonmf.errors import InvalidInputError
from orthonmf.inputs.arrays import as_frame, column_names
from orthonmf.inputs.data import is_anndata

Names = tuple[str, ...] | None


def names_for(
    X: Any, shape: tuple[int, int], sample_names: Any, feature_names: Any
) -> tuple[Names, Names]:
    """One text per row and per column of X, as given or as X has them; None where there are none.

    ``shape`` is that of X. Names of a frame or an AnnData give way to those that are given.
    """
    rows, columns = names_of(X)
    if sample_names is not None:
        rows = as_names(sample_names, shape[0], "sample_names")
    if feature_names is not None:
        columns = as_names(feature_names, shape[1], "feature_names")
    return rows, columns


def names_of(X: Any) -> tuple[Names, Names]:
    """Names of the samples and features of a frame or an AnnData; None where it has none.

    An index that only counts from 0 holds no names, and neither do columns that do.
    """
    if is_anndata(X):
        return tuple(map(str, X.obs_names)), tuple(map(str, X.var_names))
    frame = as_frame(X)
    if frame is None:
        return None, None
    return _unless_counted(nw.maybe_get_index(frame)), _unless_counted(column_names(X, frame))


def _unless_counted(names: Any) -> Names:
    if names is None:
        return None
    labels = np.asarray(names)
    counted = labels.dtype.kind in "iu" and np.array_equal(labels, np.arange(len(labels)))
    return None if counted else tuple(map(str, names))


def as_names(names: Any, count: int, title: str) -> tuple[str, ...]:
    """As many texts as there are rows or columns; what is no text is written as one."""
    if isinstance(names, str | bytes) or not hasattr(names, "__iter__"):
        raise InvalidInputError(f"{title} must hold {count} names; got {names!r}")
    texts = tuple(map(str, names))
    if len(texts) != count:
        raise InvalidInputError(f"{title} must hold {count} names; got {len(texts)}")
    return texts
