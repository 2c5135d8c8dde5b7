"""Preparing a matrix before it is factorized, and the record by which new rows are prepared alike.

Every step takes a dense or sparse non-negative matrix (n, m), samples in rows, and returns one of
the same kind. What a step learns from the data of the fit, one number or (m,) factors, is used
again on new data. No step changes a zero, so missing entries are zeros while steps are taken.
Weights of samples and features are no preparation: they enter every pass of `engine/matrix.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from orthonmf.inputs.arrays import as_array
from orthonmf.inputs.data import as_matrix
from orthonmf.inputs.parameters import as_choice
from orthonmf.inputs.sparse import as_csr
from orthonmf.typing import Array


@dataclass(frozen=True, slots=True)
class Step:
    """One way to prepare a matrix: what it does, and what it learns first, if anything."""

    apply: Callable[[Any, Any], Any]
    learn: Callable[[Any], Array] | None = None


def _normalize(X: Any, norm: str) -> Any:
    """Rows at length or sum 1; zero rows stay zero."""
    from sklearn.preprocessing import normalize

    # scikit-learn takes rows shorter than 1e-15 for zero ones: first the largest entry of each is
    # brought near 1.
    largest = X.max(axis=1).toarray().ravel() if issparse(X) else X.max(axis=1)
    exponents = np.frexp(largest)[1]
    each = np.repeat(exponents, np.diff(X.indptr)) if issparse(X) else exponents[:, None]
    return normalize(_with_entries(X, np.ldexp(_entries(X), -each)), norm)


def _learn_total(X: Any) -> Array:
    """The median total of the rows that are not zero."""
    totals = np.asarray(X.sum(axis=1, dtype=np.float64)).ravel()
    return np.asarray([np.median(totals[totals > 0])] if totals.any() else [1.0])


def _learn_rarity(X: Any) -> Array:
    """(m,) ``log((1 + n) / (1 + n_j)) + 1`` of a term that n_j of n documents hold."""
    from sklearn.feature_extraction.text import TfidfTransformer

    return np.asarray(TfidfTransformer(norm=None).fit(X).idf_, dtype=np.float64)


def _learn_scales(X: Any) -> Array:
    """(m,) 1 over the root mean square of each feature, 0 for features that are zero."""
    exponent = int(np.frexp(_entries(X).max(initial=0.0))[1])  # so that squares are in range
    squares = np.square(np.ldexp(_entries(X), -exponent), dtype=np.float64)
    means = np.asarray(_with_entries(X, squares).sum(axis=0)).ravel() / X.shape[0]
    factors = np.divide(1.0, np.sqrt(means), out=np.zeros_like(means), where=means > 0)
    return np.ldexp(factors, -exponent)


def _scale_columns(X: Any, factors: Array) -> Any:
    each = factors[X.indices] if issparse(X) else factors
    return _with_entries(X, (_entries(X) * each).astype(X.dtype))


# In the order in which they are taken, whatever was asked for.
STEPS = {
    "totals": Step(
        lambda X, total: _scale_columns(_normalize(X, "l1"), np.full(X.shape[1], total)),
        _learn_total,
    ),
    "log1p": Step(lambda X, _: _with_entries(X, np.log1p(_entries(X)))),
    "tfidf": Step(_scale_columns, _learn_rarity),
    "scale-features": Step(_scale_columns, _learn_scales),
    "rows": Step(lambda X, _: _normalize(X, "l2")),
}


@dataclass(frozen=True, slots=True, eq=False)
class Preparation:
    """Steps that were taken, with what each learned; the same can be done to new rows."""

    steps: tuple[tuple[str, Array | None], ...] = ()

    def apply(self, X: Any) -> Any:
        """X prepared as the data of the fit were."""
        return _take(X, self.steps)[0]

    @property
    def names(self) -> tuple[str, ...]:
        """The steps in order."""
        return tuple(name for name, _ in self.steps)


def prepare(X: Any, steps: Iterable[str], *, missing_values: Any = None) -> tuple[Any, Preparation]:
    """Take some steps of `STEPS`, in the order of that table, and record them."""
    wanted = {as_choice(name, tuple(STEPS), "step") for name in steps}
    as_matrix(X, missing_values=missing_values)  # refuses what is no amount, with its place
    return _take(X, [(name, None) for name in STEPS if name in wanted])


def _take(X: Any, steps: Iterable[tuple[str, Array | None]]) -> tuple[Any, Preparation]:
    """X after some steps; what a step has not learned yet it learns from X."""
    X = as_csr(X) if issparse(X) else as_array(X)
    X = X.astype(np.float32 if X.dtype == np.float32 else np.float64)
    missing = np.isnan(_entries(X))
    _entries(X)[missing] = 0.0
    taken: list[tuple[str, Array | None]] = []
    for name, learned in steps:
        step = STEPS[name]
        if learned is None and step.learn is not None:
            learned = step.learn(X)
        X = step.apply(X, learned)
        taken.append((name, learned))
    _entries(X)[missing] = np.nan
    return X, Preparation(tuple(taken))


def _entries(X: Any) -> Array:
    """What is stored: all entries of an array, those of a sparse one that are not left out."""
    return X.data if issparse(X) else X


def _with_entries(X: Any, entries: Array) -> Any:
    """A matrix with other entries in the same places."""
    return type(X)((entries, X.indices, X.indptr), shape=X.shape) if issparse(X) else entries
