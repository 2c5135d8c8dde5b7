"""The matrix as a picture: root mean squares of blocks, on a log scale, in 8 bits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from orthonmf.engine.matrix import Matrix
from orthonmf.factorization import Factorization
from orthonmf.numerics.arrays import Array
from orthonmf.report.findings import Findings
from orthonmf.report.remainder import (
    Cells,
    approximate_cells,
    in_one_unit,
    indicator,
    subtract_cells,
)

MOST_CELLS = 400
DECADES = 3.0  # below a thousandth of the largest cell, cells look alike


@dataclass(frozen=True, slots=True, eq=False)
class Axis:
    """Rows or columns in some order, cut into cells."""

    order: Array  # (size,) which row or column stands at each place
    edges: Array  # (cells + 1,) cell c holds the places edges[c] up to edges[c + 1]

    @property
    def positions(self) -> Array:
        """(size,) the place of every row or column."""
        positions = np.empty(len(self.order), dtype=np.int64)
        positions[self.order] = np.arange(len(self.order))
        return positions

    def cells(self) -> Array:
        """(size,) the cell of every row or column."""
        return np.searchsorted(self.edges, self.positions, side="right") - 1

    def members(self) -> csr_array:
        """(size, cells) indicator of which cell every row or column is in."""
        return indicator(self.cells(), len(self.edges) - 1)


@dataclass(frozen=True, slots=True, eq=False)
class HeatMap:
    """Cells of 0 (nothing there) to 255, and the values that 1 and 255 stand for."""

    rows: Axis
    columns: Axis
    levels: Array  # (cells down, cells across) uint8


@dataclass(frozen=True, slots=True, eq=False)
class HeatMaps:
    """The matrix as it came and ordered by component; its answer, what is left: on one scale."""

    original: HeatMap
    ordered: HeatMap
    low: float
    high: float
    approximated: HeatMap | None = None
    left: HeatMap | None = None

    def list_pictures(self) -> list[tuple[str, str, HeatMap]]:
        """Identity, caption and picture of each that there is, in the order of the page."""
        pictures = [
            ("original", "As it came", self.original),
            ("ordered", "Ordered by {}", self.ordered),
            ("approximated", "As the {}s have it", self.approximated),
            ("left", "What is left", self.left),
        ]
        return [(name, caption, one) for name, caption, one in pictures if one is not None]


def axis(order: Array) -> Axis:
    """Cut an order into cells of nearly equal size."""
    n_cells = min(len(order), MOST_CELLS)
    return Axis(order, np.arange(n_cells + 1) * len(order) // n_cells)


def order_by_component(labels: Array, strengths: Array, n_components: int) -> Array:
    """Members of component 0 first, the strongest of each first; those of none at the end."""
    groups = np.where(labels < 0, n_components, labels)
    return np.lexsort((-strengths, groups))


def heat_maps(findings: Findings, result: Factorization | None = None) -> HeatMaps:
    """The pictures, in one pass over the data that keeps sparse data sparse.

    With the result also its answer and, unless entries are missing, what that leaves, in a few
    passes more.
    """
    matrix, k = findings.matrix, len(findings.energies)
    n, m = matrix.shape
    plain = axis(np.arange(n)), axis(np.arange(m))
    ordered = (
        axis(order_by_component(findings.row_labels, findings.row_scales, k)),
        axis(order_by_component(findings.column_labels, findings.column_weights, k)),
    )
    layouts = [plain, ordered]
    energies = matrix.cell_energies([(a.members(), b.members()) for a, b in layouts])
    if result is not None and k > 0:
        found = _of_result(matrix, result, ordered, energies[1])
        energies, layouts = energies + found, layouts + [ordered] * len(found)
    means = [
        np.sqrt(energy / np.outer(np.diff(rows.edges), np.diff(columns.edges)))
        for energy, (rows, columns) in zip(energies, layouts, strict=True)
    ]
    high = max(float(one.max()) for one in means[:2])
    low = _lowest(means[:2], high)
    pictures = [
        HeatMap(rows, columns, _levels(one, low, high))
        for (rows, columns), one in zip(layouts, means, strict=True)
    ]
    with np.errstate(over="ignore", under="ignore"):
        low, high = (float(np.ldexp(one, matrix.exponent)) for one in (low, high))
    return HeatMaps(pictures[0], pictures[1], low, high, *pictures[2:])


def _of_result(
    matrix: Matrix, result: Factorization, layout: tuple[Axis, Axis], energies: Array
) -> list[Array]:
    """Energies of the cells of the answer and, where they can be had, of what it leaves."""
    rows, columns = layout
    cells = Cells(rows.cells(), columns.cells(), energies.shape)
    if not in_one_unit(matrix):
        return []
    approximated = approximate_cells(matrix, result, cells)
    if not matrix.complete:
        return [approximated]
    return [approximated, subtract_cells(matrix, result, cells, energies, approximated)]


def _lowest(means: list[Array], high: float) -> float:
    """The value that looks palest: the smallest there is, within a few decades of the largest."""
    positive = [one[one > 0] for one in means]
    smallest = min((float(one.min()) for one in positive if one.size), default=0.0)
    return max(smallest, high * 10**-DECADES)


def _levels(means: Array, low: float, high: float) -> Array:
    """0 for nothing, 1 to 255 for the logarithm between low and high."""
    if not high > 0:
        return np.zeros(means.shape, dtype=np.uint8)
    with np.errstate(divide="ignore"):
        heights = np.log(means / low)
    span = np.log(high / low) if high > low else 1.0
    levels = 1 + np.rint(254 * np.clip(heights / span, 0, 1)) if high > low else 255.0
    return np.where(means > 0, levels, 0).astype(np.uint8)
