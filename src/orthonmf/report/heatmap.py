"""The matrix as pictures: root mean squares of blocks, on a log scale, in 8 bits.

One read of the rows, block by block, gives the squared entries of every cell of a picture and
their products with the answer. What is left of an entry is its square, less twice this product,
plus the square of the answer, which is a product of sums over rows and over columns: in every
setting an entry of the answer is one loading times one weight. So sparse data stay sparse.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from orthonmf.engine.loadings import one_per_row
from orthonmf.engine.matrix import Matrix
from orthonmf.engine.sources import kernel_of, to_dense
from orthonmf.factorization import Factorization
from orthonmf.report.findings import Findings
from orthonmf.typing import Array
from orthonmf.views import order_by_label

MOST_CELLS = 400
DECADES = 3.0  # below a thousandth of the largest cell, cells look alike


@dataclass(frozen=True, slots=True, eq=False)
class Axis:
    """Rows or columns in some order, cut into cells of nearly equal size."""

    order: Array  # (size,) which row or column stands at each place

    @property
    def edges(self) -> Array:
        """(cells + 1,) cell c holds the places edges[c] up to edges[c + 1]."""
        size = len(self.order)
        n_cells = min(size, MOST_CELLS)
        return np.arange(n_cells + 1) * size // n_cells

    @property
    def positions(self) -> Array:
        """(size,) the place of every row or column."""
        return np.argsort(self.order)

    def members(self) -> csr_array:
        """(size, cells) which cell every row or column is in."""
        cells = np.searchsorted(self.edges, self.positions, side="right") - 1
        return one_per_row(cells, np.ones(len(cells)), len(self.edges) - 1)


@dataclass(frozen=True, slots=True, eq=False)
class HeatMaps:
    """The pictures, and the values that levels 1 and 255 stand for in all of them."""

    levels: dict[str, Array]  # by name (cells down, cells across) uint8, 0 for nothing
    came: tuple[Axis, Axis]  # rows and columns of "original"
    ordered: tuple[Axis, Axis]  # and of all others
    low: float
    high: float

    @property
    def is_clipped(self) -> bool:
        """Whether the palest color stands for all that is smaller, too."""
        return self.low > 0 and self.high / self.low > 10**DECADES * 0.999


def heat_maps(findings: Findings, result: Factorization) -> HeatMaps:
    """The matrix as it came and ordered, its answer, and what is left unless data are missing."""
    matrix, (n, m) = findings.matrix, findings.matrix.shape
    came = Axis(np.arange(n)), Axis(np.arange(m))
    ordered = (
        Axis(order_by_label(findings.row_labels, findings.row_scales)),
        Axis(order_by_label(findings.column_labels, findings.column_weights)),
    )
    energies = _sum_cells(matrix, result, came, ordered)
    if not matrix.complete:
        energies.pop()  # what is left of an entry that is not there
    # The cells of either order are of the same sizes.
    sizes = np.outer(*(np.diff(axis.edges) for axis in ordered))
    drawn = [np.sqrt(energy / sizes) for energy in energies]
    high = max(float(means.max()) for means in drawn[:2])
    smallest = min((means[means > 0].min() for means in drawn[:2] if means.any()), default=0.0)
    low = max(float(smallest), high * 10**-DECADES)
    names = ("original", "ordered", "approximated", "left")
    levels = {name: _levels(means, low, high) for name, means in zip(names, drawn, strict=False)}
    with np.errstate(over="ignore", under="ignore"):
        low, high = (float(np.ldexp(value, matrix.exponent)) for value in (low, high))
    return HeatMaps(levels, came, ordered, low, high)


def _sum_cells(
    matrix: Matrix, result: Factorization, came: tuple[Axis, Axis], ordered: tuple[Axis, Axis]
) -> list[Array]:
    """Energies of the cells of X as it came and ordered, of the answer, and of what is left.

    All are in units in which the squares of the entries neither overflow nor vanish.
    """
    (down, across), (down_ordered, across_ordered) = (
        (rows.members(), columns.members()) for rows, columns in (came, ordered)
    )
    # The cells of either order are as many.
    original, in_order, products = np.zeros((3, down.shape[1], across.shape[1]))
    loadings = _in_units(result.loadings, matrix.exponent)
    components = np.asarray(result.components, dtype=np.float64)
    for start, stop in pairwise(matrix.source.boundaries):
        span = slice(start, stop)
        rows = _in_units(matrix.stored_rows(np.arange(start, stop)), matrix.exponent)
        squares = rows**2
        original += to_dense(down[span].T @ squares @ across)
        in_order += to_dense(down_ordered[span].T @ squares @ across_ordered)
        times = _times_answer(rows, loadings[span], span, result, components)
        products += to_dense(down_ordered[span].T @ times @ across_ordered)
    answer = to_dense(down_ordered.T @ loadings**2) @ (components**2 @ across_ordered)
    left = in_order - 2 * products + answer
    # Where nearly everything is captured the difference is rounding of either sign.
    return [original, in_order, answer, np.where(left > 1e-12 * in_order, left, 0.0)]


def _in_units(values: Any, exponent: int) -> Any:
    """A dense or sparse array in float64, divided by a power of two."""
    return kernel_of(values).scale(values.astype(np.float64, copy=False), exponent)


def _times_answer(
    rows: Any, loadings: Any, span: slice, result: Factorization, components: Array
) -> Any:
    """Entries of some rows times those of the answer; the answer is asked only where they are."""
    if not len(components):
        return rows * 0.0
    if not issparse(rows):
        return rows * (loadings @ components)
    times = rows.copy()
    row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    if result.labels is not None:  # a row has one component, or none and no loading
        labels, own = np.maximum(result.labels[span], 0)[row], loadings.sum(axis=1)[row]
    else:
        assert result.feature_labels is not None  # a column has one component
        labels = np.maximum(result.feature_labels, 0)[rows.indices]
        own = loadings[row, labels]
    times.data *= own * components[labels, rows.indices]
    return times


def _levels(means: Array, low: float, high: float) -> Array:
    """0 for nothing, 1 to 255 for the logarithm between low and high."""
    if not high > low:
        return np.where(means > 0, 255, 0).astype(np.uint8)
    with np.errstate(divide="ignore"):
        heights = np.log(means / low) / np.log(high / low)
    levels = 1 + np.rint(254 * np.clip(heights, 0, 1))
    return np.where(means > 0, levels, 0).astype(np.uint8)
