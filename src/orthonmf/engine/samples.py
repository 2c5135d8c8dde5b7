"""Samples: the rows of a matrix as points, and its columns where they can be had as rows.

Also points by their products with each other, and about how long these take.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from orthonmf.engine.kernels.interface import Kernel
from orthonmf.engine.kernels.sparse import gram_of_rows
from orthonmf.engine.matrix import Matrix
from orthonmf.engine.placement import on_host
from orthonmf.engine.points import DirectionSweep, Distance, Points, SinglePoints, Sweep
from orthonmf.engine.sampling import draw_sample
from orthonmf.engine.streamed_columns import StreamedColumns
from orthonmf.numerics.arrays import Array
from orthonmf.numerics.vectors import divide, square_lengths, unit_lengths

# Products per second of one core, to the factor of two that a choice needs.
DENSE_PER_SECOND = 1.2e10
SPARSE_PER_SECOND = 2e8
# Entries that a sweep on a device reads per second, while reading is what takes the time.
DEVICE_ENTRIES_PER_SECOND = 4e11
MEMORY_BOUND = 100


class Samples(SinglePoints):
    """The rows of a matrix as points."""

    components_are_directions = True

    def __init__(self, matrix: Matrix) -> None:
        self.matrix = matrix
        self.dimension = matrix.shape[1]
        squares, multipliers = matrix.row_squares, matrix.row_weights
        self._lengths = np.sqrt(squares)
        self.weights = squares if multipliers is None else squares * multipliers
        # Column factors change the products, and labels of points on a cluster stay there.
        apart = matrix.column_factors is not None or matrix.source.elsewhere
        # On a device sweeps are rougher than what is published, and labels of points stay there.
        apart = apart or matrix.source.kernel.on_device
        self.sweeps_are_final = self.components_are_directions and not apart

    @property
    def draws(self) -> SinglePoints | None:
        return None if self.matrix.source.elsewhere else self

    @property
    def access(self) -> SinglePoints | None:
        return self if self.matrix.source.in_memory else None

    def at(self, indices: Array) -> Array:
        return divide(self.matrix.take_rows(indices), on_host(self._lengths[indices])[:, None])

    def cosines_with(self, centers: Array) -> tuple[Array, Array]:
        products = self.matrix.products(centers)
        return divide(products, self._lengths[:, None]), square_lengths(centers)

    def rough_cosines_with(self, unit: Array) -> Array:
        products = on_host(self.matrix.products(unit, exact=False))
        lengths = on_host(self._lengths)
        if (lengths == 1.0).all():
            return products
        # In float64, where a length may be far below what the data's own type can divide by.
        lengths = np.where(lengths > 0, lengths, 1.0)[:, None]
        np.divide(products, lengths, out=products, casting="same_kind")
        return np.minimum(products, 1.0, out=products)

    def sweep_centers(self, centers: Array) -> Sweep:
        """Nearest center of every normalized row: the largest ``<x, c>/|x| - |c|^2/2``."""
        squares = square_lengths(centers)
        swept = self.matrix.sweep(centers, squares / 2, self._lengths)
        return Sweep(swept.labels, swept.products, self._lengths, swept.sums, squares)

    def sweep_directions(
        self, directions: Array, *, by_point: bool = True, disjoint: bool = False
    ) -> DirectionSweep:
        """The direction that captures most of every row: the largest ``<x, u>``.

        With ``disjoint`` one sweep costs O(entries), however many directions there are.
        """
        squares = square_lengths(directions)
        unit = divide(directions, np.sqrt(squares)[:, None])
        swept = self.matrix.sweep(unit, disjoint=disjoint, by_row=by_point)
        # sum_i <x_i, u>^2 = <sum_i <x_i, u> x_i, u>: no further read of the products.
        captured = np.einsum("sh,sh->s", swept.sums, unit)
        return DirectionSweep(
            swept.labels, swept.products, self._lengths, swept.sums, squares, captured, unit
        )

    def update(self, labels: Array, directions: Array) -> DirectionSweep:
        squares = square_lengths(directions)
        unit = divide(directions, np.sqrt(squares)[:, None])
        swept = self.matrix.update(labels, unit)
        captured = np.einsum("sh,sh->s", swept.sums, unit)
        return DirectionSweep(labels, swept.products, self._lengths, swept.sums, squares, captured)

    def draw_missed(
        self, centers: Array, rate: float, distance: Distance, key: tuple[int, ...]
    ) -> tuple[Array, float]:
        drawn, missed = self.matrix.draw_rows(unit_lengths(centers), rate, distance, key)
        return unit_lengths(drawn), missed

    def gram(self, centers: Array) -> Array:
        return centers @ centers.T

    def sums(self, labels: Array, k: int) -> Array:
        """Sums of ``weight * normalized row`` over the rows of each label, (k, m)."""
        return self.matrix.row_sums(labels, divide(self.weights, self._lengths), k)

    def power_update(self, labels: Array, cosines: Array, k: int) -> Array:
        """Sums (k, m) of ``product * row`` over the rows of each label.

        The product is that with the unit direction of the label, known by its cosine (N,).
        """
        products = cosines * self._lengths
        given = self.matrix.row_weights
        return self.matrix.row_sums(labels, products if given is None else products * given, k)

    def raw_products(self, directions: Array) -> Array:
        return on_host(self.matrix.products(directions))

    def multipliers(self) -> Array:
        given = self.matrix.row_weights
        return np.ones(self.matrix.shape[0]) if given is None else on_host(given)

    def sums_of(self, indices: Array, labels: Array, coefficients: Array, k: int) -> Array:
        everyone = np.full(self.matrix.shape[0], -1, dtype=np.int32)
        everyone[indices] = labels
        spread = np.zeros(self.matrix.shape[0])
        spread[indices] = coefficients
        return self.matrix.row_sums(everyone, spread, k)

    def gram_of(self, indices: Array) -> Array:
        return self.matrix.part(indices).row_gram()

    def products_of(self, indices: Array, exact: bool = True) -> Products:
        part = self.matrix.part(indices)
        whole = part.whole() if exact else part.whole().astype(np.float32)
        kernel = part.source.kernel
        if rows_are_short(*part.shape, kernel):
            return Products(rows=whole)
        return Products(gram=gram_of_rows(whole))

    def products_seconds(self, n_points: int) -> tuple[float, float]:
        (n, m), kernel = self.matrix.shape, self.matrix.source.kernel
        n_points = min(n, n_points)
        if rows_are_short(n_points, m, kernel):
            return n_points * m / DENSE_PER_SECOND, 2 * n_points * m / DENSE_PER_SECOND
        multiplied = n_points**2 / DENSE_PER_SECOND
        if not kernel.sparse:
            return n_points**2 * m / 2 / DENSE_PER_SECOND, multiplied
        # A column with c entries takes c^2 sparse products, or all dense ones where that is less.
        counts = self.matrix.count_stored() * (n_points / n)
        columns = np.minimum(np.square(counts) / SPARSE_PER_SECOND, multiplied)
        return float(columns.sum()), multiplied

    def sweep_seconds(self, k: int) -> float:
        kernel = self.matrix.source.kernel
        if kernel.on_device:
            return self.matrix.n_entries * max(1.0, k / MEMORY_BOUND) / DEVICE_ENTRIES_PER_SECOND
        rate = SPARSE_PER_SECOND if kernel.sparse else DENSE_PER_SECOND
        return self.matrix.n_entries * k / rate

    def cut(self, slices: list[slice]) -> list[SinglePoints]:
        return [Samples(self.matrix.part(rows)) for rows in slices]

    def sample(
        self, size: int, rng: np.random.Generator, chances: Array | None = None
    ) -> SinglePoints:
        """About ``size`` normalized rows, each weighted by what it stands for."""
        drawn_by = self.weights if chances is None else chances
        indices, weights = draw_sample(drawn_by, size, rng)
        if chances is not None:
            weights = weights * (on_host(self.weights[indices]) / self.total)
            weights *= chances.sum() / on_host(chances[indices])
        return Samples(self.matrix.normalize(indices, weights.astype(np.float64)))

    def whole(self) -> Array:
        return self.matrix.dense()

    def directions_of(self, components: Array) -> Array:
        return self.matrix.from_components(components)

    def components(self, directions: Array) -> Array:
        """The directions with the column factors taken out again."""
        return self.matrix.to_components(directions)

    def components_of(self, labels: Array, directions: Array) -> Array:
        return self.components(directions)

    def coordinates(self) -> Any:
        lengths = on_host(self._lengths)
        return self.matrix.whole(row_scales=divide(np.ones(len(lengths)), lengths))


class TransposedColumns(Samples):
    """The columns of a matrix as points: the rows of its transpose, where that can be had."""

    components_are_directions = False

    def directions_of(self, components: Array) -> Array:
        """The combinations of columns that the components describe."""
        everyone = np.zeros(components.shape[1], dtype=np.int32)
        weights = self.matrix.row_weights
        shares = components if weights is None else components * weights
        return np.concatenate([self.matrix.row_sums(everyone, row, 1) for row in shares])

    def components(self, directions: Array) -> Array:
        return self._spread(self.sweep_directions(directions))

    def components_of(self, labels: Array, directions: Array) -> Array:
        return self._spread(self.update(labels, directions))

    def _spread(self, swept: DirectionSweep) -> Array:
        """Components (k, m) with the product of every column in the row of its label."""
        components = np.zeros((len(swept.squares), len(swept.labels)))
        used = np.flatnonzero((self.multipliers() > 0) & (swept.labels >= 0))
        components[swept.labels[used], used] = swept.products[used]
        return components


class Products:
    """The Gram matrix G (s, s) of points, by its columns and its products with other arrays.

    Where points have far fewer coordinates than there are points, G is never formed: a product
    with it is two with the coordinates (s, m), which takes less time.
    """

    def __init__(self, gram: Array | None = None, rows: Array | None = None) -> None:
        """Of one of the two: the Gram matrix, or the points as dense rows."""
        assert (gram is None) != (rows is None)
        self._gram, self._rows = gram, rows
        if gram is not None:
            self.dtype, energies = gram.dtype, np.diag(gram)
        else:
            assert rows is not None
            self.dtype, energies = rows.dtype, np.einsum("sh,sh->s", rows, rows)
        self.energies = energies.astype(np.float64)  # (s,) squared lengths of the points
        lengths = np.sqrt(energies)
        # (s,) what brings a point to length one; 0 for points of length 0
        self.inverse_lengths = divide(np.ones_like(lengths), lengths)

    def times(self, combinations: Array) -> Array:
        """``G @ combinations``, (s, c)."""
        if self._rows is None:
            return np.asarray(self._gram @ combinations)
        return np.asarray(self._rows @ (self._rows.T @ combinations))

    def columns(self, picks: Array) -> Array:
        """Columns (s, c) of G at the positions (c,)."""
        if self._rows is None:
            assert self._gram is not None
            return self._gram[:, picks]
        return np.asarray(self._rows @ self._rows[picks].T)

    def unit_columns(self, picks: Array) -> Array:
        """Products (s, c) of all points with the unit vectors of those at the positions (c,)."""
        columns: Array = self.columns(picks)
        return columns * self.inverse_lengths[picks]


def columns_of(matrix: Matrix) -> Points:
    """The columns as points: as rows of their own where that is not slow."""
    flipped = matrix.transpose()
    return StreamedColumns(matrix) if flipped is None else TransposedColumns(flipped)


def rows_are_short(n: int, m: int, kernel: Kernel[Any]) -> bool:
    """Whether products of n rows take less time by m coordinates than by a Gram matrix."""
    return 2 * m < n and not kernel.sparse
