"""MaskedMatrix: passes over a matrix of which some entries are missing.

With components C (k, m) and loadings L (n, k) of which every row (over samples) or every column
of C (over features) has one entry in use, both halves of an update are closed form over the
observed entries alone:

    L[i, s] = sum_h x_ih C_sh / sum_h C_sh^2,        h observed in row i
    C[s, h] = sum_i L_is x_ih / sum_i L_is^2,        i observed in column h

Weights of columns enter the first line, weights of rows the second. One read of the rows does
both, and only k x m arrays are kept between reads, in either setting. The descent
is in `onmf/missing.py`; `inputs/data.py` notices that something is missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from orthonmf.engine.executors import Executor
from orthonmf.engine.first_look import Scan
from orthonmf.engine.kernels.interface import Kernel
from orthonmf.engine.kernels.sparse import with_values
from orthonmf.engine.matrix import Matrix
from orthonmf.engine.segments import slices
from orthonmf.engine.sources import Source
from orthonmf.typing import Array
from orthonmf.vectors import by_value, divide

# A difference below this share of what it was taken from has lost digits: it is summed instead.
CANCELLED = 1e-2
# Entries of an indicator that are made dense at once.
ENTRIES_AT_ONCE = 2**20


@dataclass(frozen=True, slots=True)
class MaskedSweep:
    """One pass that assigns every point and takes the best components for that.

    Points are the rows over samples, the columns over features.
    """

    components: Array  # (k, m) the next ones, of any length
    labels: Array  # (N,) the component of every point
    captured: Array  # (N,) energy captured of every point, weighted
    second: Array  # (N,) energy the next best component would capture


class MaskedMatrix(Matrix):
    """A checked matrix with missing entries.

    What the base class computes treats them as zeros; what is overridden or added here leaves
    them out. ``total`` is the squared norm of the observed entries either way.
    """

    complete = False

    def __init__(self, source: Source, executor: Executor, scan: Scan) -> None:
        super().__init__(source, executor, scan, prepare=fill)
        factors = self.column_factors
        self.column_weights = None if factors is None else np.square(factors)

    def masked_sweep(
        self, components: Array, orthogonal: str, fixed: Array | None = None
    ) -> MaskedSweep:
        """Assign every row (or column) to a component, and update all components, in one read.

        Neither the assignment nor the update can raise the weighted squared error over the
        observed entries. A component entry that nothing observed determines keeps its value.
        Labels (N,) that are given as ``fixed`` are kept instead of assigning.
        """
        k, m = components.shape
        over_samples = orthogonal == "samples"
        row_labels, captured = np.empty(self.shape[0], np.int32), np.empty((self.shape[0], 2))
        shared = {
            "components": components,
            "column_weights": self.column_weights,
            "over_samples": over_samples,
        }
        by_row = {"row_weights": self.row_weights, "fixed": fixed if over_samples else None}
        points, sums = [row_labels, captured], 2 * [(k, m)]
        products, lengths = self.fold(
            _sweep_block, shared, by_row, rows=points, sums=sums, gaps=True
        )
        if over_samples:
            updated = np.where(lengths > 0, divide(products, lengths), components)
            return MaskedSweep(self._weighted_only(updated), row_labels, *captured.T)
        return self._column_winners(products, lengths, fixed)

    def _column_winners(self, products: Array, lengths: Array, fixed: Array | None) -> MaskedSweep:
        labels, scores = _assign(divide(products, np.sqrt(lengths)), fixed)
        own = labels == np.arange(len(products))[:, None]
        updated = np.where(own, divide(products, lengths), 0.0)
        captured = np.square(scores)
        if self.column_weights is not None:
            captured *= self.column_weights
        return MaskedSweep(self._weighted_only(updated), labels.astype(np.int32), *captured)

    def _weighted_only(self, components: Array) -> Array:
        """Components (k, m) with 0 in columns that have no weight: no error tells their value."""
        weights = self.column_weights
        return components if weights is None else np.where(weights > 0, components, 0.0)

    def _fit_winners(self, components: Array) -> tuple[Array, Array]:
        """Winner (n,) of every row by its observed entries, and its scale."""
        winners, scales = np.empty(self.shape[0], np.int32), np.empty(self.shape[0])
        shared = self._fitted_by(components)
        self.fold(_winners_block, shared, rows=[winners, scales], gaps=True)
        return winners, scales

    def loadings(self, components: Array) -> Array:
        """Loadings of every row on components with disjoint supports, by its observed entries."""
        order = by_value(components)
        shared = self._fitted_by(components[order])
        return self.fill_loadings(order, _fit_block, shared, lambda fit: fit[1], gaps=True)

    def _fitted_by(self, components: Array) -> dict[str, Any]:
        wide = components.astype(np.float64)
        return {"components": wide, "column_weights": self.column_weights}


def _fit_block(
    kernel: Kernel[Any], rows: Any, components: Array, column_weights: Array | None
) -> tuple[Array, Array]:
    """The root of what every component captures of every row, (b, k), and its loading."""
    return _fit(ObservedBlock(rows), components, column_weights)


def _winners_block(
    kernel: Kernel[Any], rows: Any, components: Array, column_weights: Array | None
) -> tuple[Array, Array]:
    """The component that captures most of every row (b,), and its loading."""
    scores, loadings = _fit_block(kernel, rows, components, column_weights)
    winners = scores.argmax(axis=1)
    return winners, loadings[np.arange(len(winners)), winners]


def _fit(
    block: ObservedBlock, components: Array, column_weights: Array | None
) -> tuple[Array, Array]:
    weighted = components if column_weights is None else components * column_weights
    products = block.values @ np.ascontiguousarray(weighted.T)
    lengths = block.sum_observed(weighted * components)
    return divide(products, np.sqrt(lengths)), divide(products, lengths)


def _sweep_block(
    kernel: Kernel[Any],
    rows: Any,
    components: Array,
    column_weights: Array | None,
    over_samples: bool,
    row_weights: Array | None,
    fixed: Array | None,
) -> tuple[Array, Array, Array, Array]:
    """Labels, the two largest captured energies, and the sums that update the components."""
    block = ObservedBlock(rows)
    scores, loadings = _fit(block, components, column_weights)
    labels, best = _assign(scores.T, fixed)
    if over_samples:
        loadings = np.where(labels[:, None] == np.arange(loadings.shape[1]), loadings, 0.0)
    weighted = loadings if row_weights is None else loadings * row_weights[:, None]
    captured = np.square(best) if row_weights is None else np.square(best) * row_weights
    products = (block.values.T @ weighted).T
    return labels, captured.T, products, block.sum_observed_rows(weighted * loadings)


class ObservedBlock:
    """A block with missing entries: values with zeros in their place, and where they are.

    A dense block carries the observed positions as ones. In a sparse one, where an absent entry is
    an observed zero, it is what is missing: sums over the observed are differences.
    """

    def __init__(self, rows: Array | csr_array) -> None:
        self.values = fill(rows).astype(np.float64, copy=False)
        if isinstance(rows, np.ndarray):
            self._observed = (~np.isnan(rows)).astype(np.float64)
            return
        missing = np.isnan(rows.data)
        ends = np.concatenate(([0], np.cumsum(missing)))[rows.indptr]
        ones = np.ones(int(ends[-1]))
        self._missing = csr_array((ones, rows.indices[missing], ends), shape=rows.shape)

    def sum_observed(self, squares: Array) -> Array:
        """For every row the sums of ``squares`` (k, m) over its observed columns, (b, k)."""
        by_column = np.ascontiguousarray(squares.T)
        if isinstance(self.values, np.ndarray):
            return self._observed @ by_column
        return _sum_others(self._missing, by_column)

    def sum_observed_rows(self, squares: Array) -> Array:
        """For every column the sums of ``squares`` (b, k) over its observed rows, (k, m)."""
        if isinstance(self.values, np.ndarray):
            return squares.T @ self._observed
        return _sum_others(self._missing.T.tocsr(), squares).T


def fill(rows: Array | csr_array) -> Array | csr_array:
    """The same rows with zeros in place of missing entries."""
    if isinstance(rows, np.ndarray):
        return np.where(np.isnan(rows), rows.dtype.type(0), rows)
    return with_values(rows, fill(rows.data))


def _sum_others(missing: csr_array, values: Array) -> Array:
    """(b, k) for every row of an indicator (b, m) the sums of values (m, k) where it has no one.

    Differences, and where little is left of them, so that digits are lost, the sums themselves.
    """
    total = values.sum(axis=0)
    rest = total - missing @ values
    lost = np.flatnonzero((rest < CANCELLED * total).any(axis=1))
    for some in slices(len(lost), ENTRIES_AT_ONCE // max(1, missing.shape[1])):
        rest[lost[some]] = (1.0 - missing[lost[some]].toarray()) @ values
    return rest


def _assign(scores: Array, fixed: Array | None) -> tuple[Array, Array]:
    """The component with the largest score (k, N) of every point, unless that is fixed.

    Also its score, and the second largest of all, (2, N); 0 for a lack of two.
    """
    labels = scores.argmax(axis=0) if fixed is None else fixed
    own = scores[labels, np.arange(len(labels))]
    second = np.partition(scores, -2, axis=0)[-2] if len(scores) > 1 else np.zeros_like(own)
    return labels, np.stack((own, second))
