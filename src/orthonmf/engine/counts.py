"""Counts: a weighted matrix as the Kullback-Leibler divergence sees it, and passes over such ones.

For groups of rows the best scale of a row is its sum and the best profile of a group that of its
pooled rows, so what a partition costs follows from pooled sums alone: with N the sum of all
entries it is ``N (I(X; Y) - I(C; Y))``, the information that rows hold about columns and groups do
not. A weight multiplies the divergences of its row or column, which is what multiplying the
entries by it does.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csr_array, vstack

from orthonmf.engine.executors import Executor
from orthonmf.engine.first_look import Scan
from orthonmf.engine.kernels.interface import Kernel
from orthonmf.engine.kernels.sparse import with_values
from orthonmf.engine.matrix import Matrix
from orthonmf.engine.placement import on_host
from orthonmf.engine.points import Samples
from orthonmf.engine.sampling import draw_sample
from orthonmf.engine.sources import in_memory
from orthonmf.errors import InvalidInputError
from orthonmf.typing import Array

ENTRIES_AT_ONCE = 2**16
SMALLEST = 1e-300
"""What profiles hold at least: their sums hardly change, and no logarithm is infinite."""


def times_log(values: Array) -> Array:
    """``x ln x`` of every entry, 0 at 0."""
    return values * np.log(np.maximum(values, SMALLEST))


def entropies(pooled: Array) -> Array:
    """(k,) ``sum_j S_j ln S_j - |S| ln |S|`` of pooled sums (k, m); never above 0."""
    return times_log(pooled).sum(axis=1) - times_log(pooled.sum(axis=1))


class Counts:
    """Non-negative entries by row, with their sums; rows and columns may be empty."""

    def __init__(self, rows: csr_array) -> None:
        self.rows = rows  # (n, m) float64, nothing that is stored is zero
        self.shape = rows.shape
        self.row_sums = np.asarray(rows.sum(axis=1)).ravel()
        self.column_sums = np.asarray(rows.sum(axis=0)).ravel()
        self.total = float(self.column_sums.sum())

    @cached_property
    def owners(self) -> Array:
        """The row of every entry that is stored."""
        return np.repeat(np.arange(self.shape[0]), np.diff(self.rows.indptr))

    def sum_entries(self, values: Array) -> Array:
        """(n,) sums over the entries of every row of values, one for each that is stored."""
        return np.asarray(with_values(self.rows, values).sum(axis=1)).ravel()

    @cached_property
    def row_entropies(self) -> Array:
        """(n,) ``sum_j x_j ln x_j - r ln r`` of every row, r its sum."""
        return self.sum_entries(times_log(self.rows.data)) - times_log(self.row_sums)

    @cached_property
    def entropy(self) -> float:
        """The sum of `row_entropies`."""
        return float(self.row_entropies.sum())

    @cached_property
    def information(self) -> float:
        """``N I(X; Y)``, what a single group costs: the most that can be lost."""
        return max(self.cost(self.column_sums[None, :]), 0.0)

    def pooled(self, labels: Array, k: int) -> Array:
        """Sums (k, m) of the rows of every label (n,); label -1 takes part in none."""
        m = self.shape[1]
        places = np.repeat(labels.astype(np.int64) * m, np.diff(self.rows.indptr))
        places += self.rows.indices
        values = self.rows.data
        if (labels < 0).any():
            values, places = np.where(places < 0, 0.0, values), np.maximum(places, 0)
        return np.bincount(places, values, minlength=k * m).reshape(k, m)

    def cost(self, pooled: Array) -> float:
        """The divergence of the best profiles and scales of a partition, from its pooled sums.

        A difference of large sums, so its digits end at the rounding of ``N ln N``.
        """
        return self.entropy - float(entropies(pooled).sum())

    @cached_property
    def pieces(self) -> list[tuple[slice, Counts]]:
        """All rows in order, few at a time: what is made of their entries stays in cache."""
        starts = self.rows.indptr
        n_pieces = max(1, int(starts[-1]) // ENTRIES_AT_ONCE)
        bounds = np.searchsorted(starts, np.linspace(0, int(starts[-1]), n_pieces + 1))
        bounds = np.unique([0, *bounds[1:-1].tolist(), self.shape[0]])
        return [(slice(i, j), self.part(slice(i, j))) for i, j in pairwise(bounds.tolist())]

    def profiles(self, rows: Array) -> Array:
        """Some rows (c,) over their sums, (c, m) dense."""
        return self.rows[rows].toarray() / self.row_sums[rows][:, None]

    def points(self, values: Array) -> Samples:
        """The rows with other values, one for each that is stored, as points."""
        scanned = Scan(self.sum_entries(np.square(values)))
        return Samples(Matrix(in_memory(with_values(self.rows, values)), Executor(), scanned))

    def part(self, rows: Array | slice) -> Counts:
        """Some rows by themselves."""
        return Counts(self.rows[rows])

    def transposed(self) -> Counts:
        """The columns as rows."""
        return Counts(self.rows.T.tocsr())


def read_counts(matrix: Matrix) -> Counts:
    """All of a matrix, rows and columns times their weights, in the units of `Matrix.amount`."""
    blocks: list[Counts] = []
    fold_counts(matrix, whole_block, absorb=lambda part, block: blocks.append(block))
    if len(blocks) == 1:
        return blocks[0]
    return Counts(vstack([block.rows for block in blocks], format="csr"))


def sample_counts(matrix: Matrix, size: int, rng: np.random.Generator) -> Counts:
    """About ``size`` rows drawn by their sums, each weighing what it stands for."""
    sums = entry_weights(matrix)[0] * sum_rows(matrix)
    drawn, times = draw_sample(sums, size, rng)
    given = 1.0 if matrix.row_weights is None else matrix.row_weights[drawn]
    return read_counts(matrix.part(drawn, given * times * (sums.sum() / size) / sums[drawn]))


def sum_rows(matrix: Matrix) -> Array:
    """(n,) sums of the rows of a matrix, columns weighted, in one read."""
    ones = np.ones((1, matrix.shape[1]))
    sums: Array = on_host(matrix.products(matrix.weigh_columns(ones)))[:, 0]
    sums[matrix.underflown] = 0.0
    return sums


def whole_block(counts: Counts) -> Counts:
    """A block as it is."""
    return counts


def reads_entries(matrix: Matrix) -> bool:
    """Whether passes may take single entries in turns: where rows lie on the host."""
    return not matrix.source.kernel.on_device


def ask_for_entries(matrix: Matrix) -> None:
    """Refuse rows on a device, where only passes over samples have what they need."""
    if not reads_entries(matrix):
        raise InvalidInputError(
            "on a device the Kullback-Leibler divergence is computed over samples only: the other "
            "settings read single entries of X in turns, on the host; pass X.cpu()"
        )


def entry_weights(matrix: Matrix) -> tuple[Array, Array]:
    """What the entries of every row (n,), and of every column (m,), are multiplied by.

    Rows that count as zero hold nothing.
    """
    n, m = matrix.shape
    of_rows = np.asarray(on_host(matrix.weigh_rows(np.ones(n))))
    of_rows[matrix.underflown] = 0.0
    return of_rows, np.square(matrix.weigh_columns(np.ones(m)))


def fold_counts(
    matrix: Matrix,
    operation: Callable[..., Any],
    shared: dict[str, Any] | None = None,
    by_row: dict[str, Any] | None = None,
    **results: Any,
) -> list[Array]:
    """A `Matrix.fold` of an operation on the weighted counts of every block."""
    row_weights, column_weights = entry_weights(matrix)
    shared = {"count": operation, "column_weights": column_weights, **(shared or {})}
    by_row = {"row_weights": row_weights, **(by_row or {})}
    return matrix.fold(count_block, shared, by_row, **results)


def count_block(
    kernel: Kernel[Any],
    rows: Any,
    count: Callable[..., Any],
    column_weights: Array,
    row_weights: Array,
    **given: Any,
) -> Any:
    """An operation on the counts of one block."""
    entries = csr_array(kernel.multiply(rows, row_weights, column_weights))
    if not entries.data.all():
        entries = entries.copy()  # the places may be those of X itself
        entries.eliminate_zeros()
    return count(Counts(entries), **given)
