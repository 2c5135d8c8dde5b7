"""Preparing a matrix before it is factorized: one function for each way, and a record of several.

All take a dense or sparse non-negative matrix (n, m), samples in rows, and return one of the same
kind; NaN stays NaN. What a step learns from the data it was fitted to, one number or (m,) factors,
is used again on new data: ``values``, where another matrix has set them.

Examples
--------
>>> import numpy as np
>>> from orthonmf.preparation import normalize_totals
>>> normalize_totals(np.array([[1.0, 3.0], [2.0, 2.0], [0.0, 8.0]])).tolist()
[[1.0, 3.0], [2.0, 2.0], [0.0, 4.0]]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from orthonmf.inputs.data import as_array, as_csr, as_matrix
from orthonmf.inputs.parameters import as_choice
from orthonmf.numerics.arrays import Array


def normalize_rows(X: Any, values: Any = None) -> Any:
    """Rows at Euclidean length 1, so that all samples count the same; zero rows stay zero."""
    X = _as_floats(X)
    return _scale(X, rows=_inverse(np.sqrt(_sums(_square(X), axis=1))))


def normalize_totals(X: Any, values: Any = None) -> Any:
    """Rows scaled to one total, the median of all, as is usual for counts of cells."""
    X = _as_floats(X)
    totals = _sums(X, axis=1)
    return _scale(X, rows=_inverse(totals) * (learn_total(X) if values is None else values))


def log1p(X: Any, values: Any = None) -> Any:
    """``log(1 + x)`` of every entry, which keeps a few large counts from deciding everything."""
    X = _as_floats(X)
    return _with_entries(X, np.log1p(_entries(X)))


def tfidf(X: Any, values: Any = None) -> Any:
    """Counts of terms times how rare each is: ``log((1 + n) / (1 + n_j)) + 1`` for term j.

    n_j of n documents hold the term, as scikit-learn's TfidfTransformer has it by default, without
    its normalization.
    """
    X = _as_floats(X)
    return _scale(X, columns=learn_rarity(X) if values is None else values)


def scale_features(X: Any, values: Any = None) -> Any:
    """Columns divided by the root of their mean square, so that units do not matter."""
    X = _as_floats(X)
    return _scale(X, columns=learn_scales(X) if values is None else values)


def learn_total(X: Any) -> Array:
    """The median total of the rows that are not zero."""
    totals = _sums(X, axis=1)
    return np.asarray([np.median(totals[totals > 0])] if totals.any() else [1.0])


def learn_rarity(X: Any) -> Array:
    """(m,) how rare each feature is."""
    holding = _sums(_with_entries(X, (_entries(X) > 0).astype(np.float64)), axis=0)
    return np.log((1.0 + X.shape[0]) / (1.0 + holding)) + 1.0


def learn_scales(X: Any) -> Array:
    """(m,) 1 over the root mean square of each feature, 0 for features that are zero."""
    return _inverse(np.sqrt(_sums(_square(X), axis=0) / X.shape[0]))


@dataclass(frozen=True, slots=True)
class Step:
    """One way to prepare a matrix: what it does, and what it learns first, if anything."""

    apply: Callable[[Any, Any], Any]
    learn: Callable[[Any], Array] | None = None


# In the order in which they are taken, whatever was asked for.
STEPS = {
    "totals": Step(normalize_totals, learn_total),
    "log1p": Step(log1p),
    "tfidf": Step(tfidf, learn_rarity),
    "scale-features": Step(scale_features, learn_scales),
    "rows": Step(normalize_rows),
}


@dataclass(frozen=True, slots=True, eq=False)
class Preparation:
    """Steps that were taken, with what each learned; the same can be done to new rows."""

    steps: tuple[tuple[str, Array | None], ...] = ()

    def apply(self, X: Any) -> Any:
        """X prepared as the data of the fit were."""
        for name, values in self.steps:
            X = STEPS[name].apply(X, values)
        return X

    @property
    def names(self) -> tuple[str, ...]:
        """The steps in order."""
        return tuple(name for name, _ in self.steps)


def prepare(X: Any, steps: Iterable[str], *, missing_values: Any = None) -> tuple[Any, Preparation]:
    """Take some steps of `STEPS`, in the order of that table, and record them."""
    wanted = {as_choice(name, tuple(STEPS), "step") for name in steps}
    if wanted:
        as_matrix(X, missing_values=missing_values)  # refuses what is no amount, with its place
    taken: list[tuple[str, Array | None]] = []
    for name, step in STEPS.items():
        if name in wanted:
            X = _as_floats(X)
            values = None if step.learn is None else step.learn(X)
            X = step.apply(X, values)
            taken.append((name, values))
    return X, Preparation(tuple(taken))


def _as_floats(X: Any) -> Any:
    held = as_csr(X) if issparse(X) else as_array(X)
    return held if held.dtype in (np.float32, np.float64) else held.astype(np.float64)


def _entries(X: Any) -> Array:
    """What is stored: all entries of an array, those of a sparse one that are not left out."""
    return X.data if issparse(X) else X


def _with_entries(X: Any, entries: Array) -> Any:
    """A matrix with other entries in the same places."""
    if not issparse(X):
        return entries
    return type(X)((entries, X.indices, X.indptr), shape=X.shape)


def _square(X: Any) -> Any:
    return _with_entries(X, np.square(_entries(X).astype(np.float64)))


def _sums(X: Any, axis: int) -> Array:
    """Sums over one axis in float64; NaN counts as nothing."""
    if issparse(X):
        return np.asarray(X.astype(np.float64).sum(axis=axis)).ravel()
    return np.asarray(np.nansum(X, axis=axis, dtype=np.float64))


def _inverse(values: Array) -> Array:
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)


def _scale(X: Any, *, rows: Any = None, columns: Any = None) -> Any:
    """Every row or column times a factor, in the dtype of X."""
    if not issparse(X):
        factors = np.asarray(rows)[:, None] if columns is None else np.asarray(columns)
        return (X * factors).astype(X.dtype)
    if columns is None:
        each = np.repeat(rows, np.diff(X.indptr))
    else:
        each = np.asarray(columns)[X.indices]
    return _with_entries(X, (X.data * each).astype(X.dtype))
