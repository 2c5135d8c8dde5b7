"""Points: the rows, or the columns, of a matrix as weighted points, told apart by their directions.

Everything above the engine is written against this class, so every algorithm runs over samples
and over features, dense or sparse, without knowing which. `Samples` are the rows, and
`TransposedColumns` columns where they can be had as rows; `StreamedColumns` are read with the rows.

A set of k centers (of k-means) or directions (of components) is always a k x m array:

* over rows it holds the vectors themselves;
* over columns that are streamed the vectors have n entries, and the array holds the coefficients
  by which they combine the columns: vector s is ``Y @ centers[s]``. One read of the rows then gives
  the vectors, their lengths and the products of all columns with them, without a transposed copy.

Either way they may be scaled and added like the vectors they stand for.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from orthonmf.engine.first_look import Scan
from orthonmf.engine.kernels.interface import Kernel
from orthonmf.engine.kernels.sparse import gram_of_rows
from orthonmf.engine.matrix import Matrix
from orthonmf.engine.placement import find_largest, on_host
from orthonmf.engine.point_gram import DENSE_PER_SECOND, SPARSE_PER_SECOND, Products, rows_are_short
from orthonmf.engine.sampling import draw_sample
from orthonmf.engine.sources import in_memory, to_dense
from orthonmf.typing import Array
from orthonmf.vectors import divide, square_lengths, unit_lengths

# Entries that a sweep on a device reads per second, while reading is what takes the time.
DEVICE_ENTRIES_PER_SECOND = 4e11
MEMORY_BOUND = 100
# What is missed falls by up to so much from one read to the next while candidates are drawn.
FALLS_TO = 256.0
# Below this a rate would be infinite, and infinite times a point that misses nothing is no chance.
LEAST_MISSED = 2.0**-900

# Squared distances (N, c) from cosines of unit points with centers (N, c) and squares (c,).
Distance = Callable[[Array, Array], Array]
Key = tuple[int, ...]  # what random numbers follow from


@dataclass(frozen=True, slots=True)
class Sweep:
    """Every point given to one of k centers, and what the next centers need.

    The sums over the points of each label, as the points hold vectors, are those of ``weight *
    normalized point`` for centers (divide by the cluster weight to get means), of ``product *
    point`` for directions (one power update towards the top singular vector of the cluster).
    """

    labels: Any  # (N,) int32
    products: Any  # (N,) of the point, its weight left out, with its center or unit direction
    sums: Array  # (k, m)


@dataclass(frozen=True, slots=True)
class CenterSweep(Sweep):
    """A sweep by centers."""

    squares: Array  # (k,) squared lengths of the centers


@dataclass(frozen=True, slots=True)
class DirectionSweep(Sweep):
    """A sweep by directions; labels and products are left out where only sums were asked for."""

    captured: Array  # (k,) weighted sum of squared products over the points of each label
    unit: Array | None = None  # (k, m) over rows: the unit vectors of what was swept

    @property
    def captured_next(self) -> Array:
        """(k,) what the directions after the sweep capture at the least: ``|S|^2 / w`` of each.

        A Rayleigh quotient: at most the top squared singular value of the points of the component.
        """
        return divide(square_lengths(self.sums), self.captured)


class Points(ABC):
    """Weighted points; centers and directions are (k, m) arrays as told above."""

    weights: Array  # (N,) squared length of each point in Y; zero points take part in no sum
    lengths: Array  # (N,) of the points, their weights left out
    matrix: Matrix
    dimension: int  # how many coordinates a point has
    components_are_directions = False  # so a sweep by them finds what is published
    sweeps_are_final = False  # whether labels and products of a sweep are those of the loadings

    @cached_property
    def total(self) -> float:
        """The energy of all points."""
        return float(self.weights.sum())

    @cached_property
    def equal_count(self) -> float:
        """How many points of equal weight these are worth: ``(sum w)^2 / sum w^2``."""
        squares = float(self.weights @ self.weights)
        return self.total**2 / squares if squares > 0 else 0.0

    def find_missed(self, sweep: Any) -> Array:
        """(N,) energy of every point that its direction in a sweep does not capture."""
        cosines = np.minimum(divide(sweep.products, self.lengths), 1.0)
        return self.weights * (1.0 - np.square(cosines))

    # What can be done with points besides passes over all of them: each the same points, or None.

    @property
    def fetchable(self) -> Samples | None:
        """Where fetching some and meeting them with all costs less than a read: on no cluster."""
        return self._rows_where(not self.matrix.source.elsewhere)

    @property
    def on_the_host(self) -> Samples | None:
        """Where a sweep leaves all labels on the host: on no cluster and no device."""
        source = self.matrix.source
        return self._rows_where(not (source.elsewhere or source.kernel.on_device))

    @property
    def at_hand(self) -> Samples | None:
        """Where single ones cost next to nothing: in memory."""
        return self._rows_where(self.matrix.source.in_memory)

    def _rows_where(self, condition: bool) -> Samples | None:
        """These points, if they are rows and a condition holds."""
        return self if condition and isinstance(self, Samples) else None

    @abstractmethod
    def at(self, indices: Array) -> Array:
        """The normalized points at c positions as centers, (c, m)."""

    @abstractmethod
    def cosines_with(self, centers: Array) -> tuple[Array, Array]:
        """Products (N, c) of all normalized points with centers, and their squared lengths (c,).

        Computed in float64 whatever the data: these decide probabilities and comparisons that
        carry a proof.
        """

    @abstractmethod
    def nearest(
        self, centers: Array, choose: Callable[[Array], list[int]]
    ) -> tuple[list[int], Array, Array]:
        """The nearest of some unit centers (c, m) to every normalized point.

        ``choose`` says which take part, by the products of all with each other (c, c). Returns
        these, which of them is nearest (N,), and the products with it (N,), in float64 as those of
        `cosines_with`.
        """

    @abstractmethod
    def sweep_centers(self, centers: Array) -> CenterSweep:
        """Nearest center of every normalized point."""

    @abstractmethod
    def sweep_directions(self, directions: Array, *, by_point: bool = True) -> DirectionSweep:
        """The direction that captures most of every point; lengths of directions are ignored.

        Without ``by_point`` only the sums and what every direction captures are sure to be there.
        """

    @abstractmethod
    def update(self, labels: Array, directions: Array) -> DirectionSweep:
        """One power update of every direction on the points of its label; labels (N,) stay."""

    @abstractmethod
    def draw_missed(
        self, centers: Array, count: float, before: float, distance: Distance, key: Key
    ) -> tuple[Array, float]:
        """Draw about ``count`` points by what the normalized points of centers miss, in one read.

        Every point is drawn independently, with a chance proportional to ``weight * distance`` to
        the nearest center; random numbers follow from the key and the block. ``before`` is the sum
        of all ``weight * distance`` a read ago: where it has fallen since to less than a share of
        1 / FALLS_TO, fewer points are drawn. Returns them as centers, and the sum as it is now.
        """

    @abstractmethod
    def gram(self, centers: Array) -> Array:
        """Inner products of centers with each other, (c, c)."""

    @abstractmethod
    def sums(self, labels: Array, k: int) -> Array:
        """Sums of ``weight * normalized point`` over the points of each label, (k, m).

        Label -1 takes part in no sum.
        """

    def directions_of(self, components: Array) -> Array:
        """The directions that components (k, m) of X stand for."""
        return self.matrix.weigh_columns(components.astype(np.float64))

    @abstractmethod
    def components(self, directions: Array, labels: Array | None = None) -> Array:
        """The components (k, m) that directions stand for, in the geometry of X, of any length.

        Over rows they are the directions. Over columns the directions are those of the columns,
        and the components hold the scale of every column along its best direction, or along that
        of its label (N,), where labels are given.
        """

    def swept(self, directions: Array, labels: Array | None) -> DirectionSweep:
        """A sweep by directions, or an update with labels (N,) held fixed, where they are given."""
        return (
            self.sweep_directions(directions) if labels is None else self.update(labels, directions)
        )

    @abstractmethod
    def coordinates(self) -> Any:
        """All normalized points as a dense or CSR array: only for code of the user."""


class Samples(Points):
    """The rows of a matrix as points."""

    components_are_directions = True

    def __init__(self, matrix: Matrix) -> None:
        self.matrix = matrix
        self.dimension = matrix.shape[1]
        self.lengths = np.sqrt(matrix.row_squares)
        self.weights = matrix.weigh_rows(matrix.row_squares)
        # Column factors change the products. Labels on a cluster or a device stay there, and a
        # device sweeps more roughly than it publishes.
        apart = matrix.column_factors is not None or self.on_the_host is None
        self.sweeps_are_final = self.components_are_directions and not apart

    def at(self, indices: Array) -> Array:
        rows = self.matrix.weigh_columns(self.matrix.rows_in_units(indices))
        return divide(rows, on_host(self.lengths[indices])[:, None])

    def cosines_with(self, centers: Array) -> tuple[Array, Array]:
        products = self.matrix.products(centers)
        return divide(products, self.lengths[:, None]), square_lengths(centers)

    def nearest(
        self, centers: Array, choose: Callable[[Array], list[int]]
    ) -> tuple[list[int], Array, Array]:
        chosen = choose(centers @ centers.T)
        labels, products = self.matrix.nearest(centers[chosen])
        return chosen, labels, divide(products, self.lengths)

    def rough_cosines_with(self, unit: Array) -> Array:
        """Products (N, c) of all normalized points with unit vectors, as exact as the data."""
        products = on_host(self.matrix.products(unit, exact=False))
        lengths = on_host(self.lengths)
        # In float64, where a length may be far below what the data's own type can divide by.
        lengths = np.where(lengths > 0, lengths, 1.0)[:, None]
        np.divide(products, lengths, out=products, casting="same_kind")
        return np.minimum(products, 1.0, out=products)

    def sweep_centers(self, centers: Array) -> CenterSweep:
        """Nearest center of every normalized row: the largest ``<x, c>/|x| - |c|^2/2``."""
        squares = square_lengths(centers)
        swept = self.matrix.sweep(centers, squares / 2, self.lengths)
        return CenterSweep(swept.labels, swept.products, swept.sums, squares)

    def sweep_directions(self, directions: Array, *, by_point: bool = True) -> DirectionSweep:
        """The direction that captures most of every row: the largest ``<x, u>``."""
        unit = unit_lengths(directions)
        swept = self.matrix.sweep(unit, by_row=by_point)
        # sum_i <x_i, u>^2 = <sum_i <x_i, u> x_i, u>: no further read of the products.
        captured = np.einsum("sh,sh->s", swept.sums, unit)
        return DirectionSweep(swept.labels, swept.products, swept.sums, captured, unit)

    def update(self, labels: Array, directions: Array) -> DirectionSweep:
        unit = unit_lengths(directions)
        products, sums = self.matrix.update(labels, unit)
        captured = np.einsum("sh,sh->s", sums, unit)
        return DirectionSweep(labels, products, sums, captured)

    def draw_missed(
        self, centers: Array, count: float, before: float, distance: Distance, key: Key
    ) -> tuple[Array, float]:
        matrix = self.matrix
        blocks: list[tuple[Array, Array, float]] = []
        shared = {
            "directions": matrix.weigh_columns(unit_lengths(centers)),
            "column_factors": matrix.weigh_columns(np.ones(matrix.shape[1])),
            # The sum is known when all rows are read: more are drawn than wanted, and thinned out.
            "rate": FALLS_TO * count / max(before, LEAST_MISSED),
            "distance": distance,
            "key": key,
            "most": 2 * math.ceil(count),
        }
        by_row = {"numbers": range(matrix.shape[0]), "row_weights": matrix.row_weights}
        matrix.fold(draw_block, shared, by_row, absorb=lambda part, block: blocks.append(block))
        drawn, rates, sums = zip(*blocks, strict=True)
        missed = sum(sums)
        return unit_lengths(np.concatenate(drawn)[np.concatenate(rates) * missed < count]), missed

    def gram(self, centers: Array) -> Array:
        return centers @ centers.T

    def sums(self, labels: Array, k: int) -> Array:
        """Sums of ``weight * normalized row`` over the rows of each label, (k, m)."""
        return self.matrix.row_sums(labels, divide(self.weights, self.lengths), k)

    def captured_along(self, labels: Array, directions: Array) -> Array:
        """(N,) what the direction of its label captures of every point."""
        products = self.matrix.own_products(labels, unit_lengths(directions))
        cosines = np.minimum(divide(products, self.lengths), 1.0)
        return np.asarray(self.weights * np.square(cosines))

    def power_update(self, labels: Array, cosines: Array, k: int) -> Array:
        """Sums (k, m) of ``product * row`` over the rows of each label.

        The product is that with the unit direction of the label, known by its cosine (N,).
        """
        return self.matrix.row_sums(labels, self.matrix.weigh_rows(cosines * self.lengths), k)

    def raw_products(self, directions: Array) -> Array:
        """Products (N, c) of all points, their weights left out, with directions, in float64."""
        return on_host(self.matrix.products(directions))

    def multipliers(self) -> Array:
        """(N,) the weights that were given to the points; ones where none were."""
        return np.asarray(on_host(self.matrix.weigh_rows(np.ones(self.matrix.shape[0]))))

    def gram_of(self, indices: Array) -> Array:
        """Gram matrix (c, c) of the weighted points at these positions."""
        return self.matrix.part(indices).row_gram()

    def products_of(self, indices: Array, exact: bool = True) -> Products:
        """Products of the weighted points at these positions, in float32 if not exact.

        The positions are in order, each there once: as many as there are points are all of them.
        """
        everyone = len(indices) == len(self.weights)
        part = self.matrix if everyone else self.matrix.part(indices)
        whole = part.whole() if exact else part.whole().astype(np.float32)
        kernel = part.source.kernel
        if rows_are_short(*part.shape, kernel):
            return Products(rows=whole)
        return Products(gram=gram_of_rows(whole))

    def products_seconds(self, n_points: int) -> tuple[float, float]:
        """About how long it takes to form the products of some points, and one product with them.

        On one core, by counting products.
        """
        (n, m), kernel = self.matrix.shape, self.matrix.source.kernel
        n_points = min(n, n_points)
        if rows_are_short(n_points, m, kernel):
            return n_points * m / DENSE_PER_SECOND, 2 * n_points * m / DENSE_PER_SECOND
        multiplied = n_points**2 / DENSE_PER_SECOND
        if not kernel.sparse:
            return n_points**2 * m / 2 / DENSE_PER_SECOND, multiplied
        # A column with c entries takes c^2 sparse products, or all dense ones where that is less.
        counts = self.matrix.stored_by_column * (n_points / n)
        columns = np.minimum(np.square(counts) / SPARSE_PER_SECOND, multiplied)
        return float(columns.sum()), multiplied

    def sweep_seconds(self, k: int) -> float:
        """About how long one sweep by k directions takes on one core, by counting products."""
        kernel = self.matrix.source.kernel
        if kernel.on_device:
            return self.matrix.n_entries * max(1.0, k / MEMORY_BOUND) / DEVICE_ENTRIES_PER_SECOND
        rate = SPARSE_PER_SECOND if kernel.sparse else DENSE_PER_SECOND
        return self.matrix.n_entries * k / rate

    def cut(self, parts: Sequence[Array | slice]) -> list[Samples]:
        """The points of every part by themselves, by slices or positions."""
        return [Samples(self.matrix.part(rows)) for rows in parts]

    def sample(self, size: int, rng: np.random.Generator, chances: Array | None = None) -> Samples:
        """About ``size`` normalized rows, each weighted by what it stands for."""
        drawn_by = self.weights if chances is None else chances
        indices, weights = draw_sample(drawn_by, size, rng)
        if chances is not None:
            weights = weights * (on_host(self.weights[indices]) / self.total)
            weights *= chances.sum() / on_host(chances[indices])
        unit = self.cut([indices])[0].coordinates().astype(self.matrix.pass_dtype, copy=False)
        scanned = Scan(np.ones(len(indices)), row_weights=weights.astype(np.float64))
        return Samples(Matrix(in_memory(unit), self.matrix.executor, scanned))

    def whole(self) -> Array:
        """All points with their weights, (N, m) dense float64: for small data."""
        return self.matrix.dense()

    def components(self, directions: Array, labels: Array | None = None) -> Array:
        """The directions with the column factors taken out again."""
        return self.matrix.to_components(directions)

    def coordinates(self) -> Any:
        return self.matrix.whole(row_scales=divide(1.0, on_host(self.lengths)))


class TransposedColumns(Samples):
    """The columns of a matrix as points: the rows of its transpose, where that can be had."""

    components_are_directions = False

    def directions_of(self, components: Array) -> Array:
        """The combinations of columns that the components describe."""
        everyone = np.zeros(components.shape[1], dtype=np.int32)
        weights = self.matrix.row_weights
        shares = components if weights is None else components * weights
        return np.concatenate([self.matrix.row_sums(everyone, row, 1) for row in shares])

    def components(self, directions: Array, labels: Array | None = None) -> Array:
        """The product of every column in the row of its label."""
        swept = self.swept(directions, labels)
        components = np.zeros((len(swept.captured), len(swept.labels)))
        used = np.flatnonzero((self.multipliers() > 0) & (swept.labels >= 0))
        components[swept.labels[used], used] = swept.products[used]
        return components


class StreamedColumns(Points):
    """The columns of a matrix as points, streamed over blocks of its rows."""

    def __init__(self, matrix: Matrix) -> None:
        self.matrix = matrix
        self.dimension = matrix.shape[0]
        self.weights = matrix.column_squares
        self.lengths = np.sqrt(matrix.column_squares)

    def at(self, indices: Array) -> Array:
        """The combinations that pick the normalized columns at these positions."""
        centers = np.zeros((len(indices), self.matrix.shape[1]))
        centers[np.arange(len(indices)), indices] = divide(1.0, self.lengths[indices])
        return centers

    def cosines_with(self, centers: Array) -> tuple[Array, Array]:
        products, squares = self.matrix.column_products(centers, exact=True)
        return divide(products, self.lengths).T, squares

    def nearest(
        self, centers: Array, choose: Callable[[Array], list[int]]
    ) -> tuple[list[int], Array, Array]:
        products, _ = self.matrix.column_products(centers, exact=True)
        chosen = choose(products @ centers.T)
        products = products[chosen]
        return chosen, products.argmax(axis=0), divide(products.max(axis=0), self.lengths)

    def sweep_centers(self, centers: Array) -> CenterSweep:
        products, squares = self.matrix.column_products(centers)
        # Dividing by the length would not move a maximum over centers, but zero columns stay safe.
        labels = (products - np.multiply.outer(squares / 2, self.lengths)).argmax(axis=0)
        winning = products[labels, np.arange(len(labels))]
        sums = self.sums(labels, len(products))
        return CenterSweep(labels.astype(np.int32), winning, sums, squares)

    def sweep_directions(self, directions: Array, *, by_point: bool = True) -> DirectionSweep:
        products, squares = self.matrix.column_products(directions)
        products = divide(products, np.sqrt(squares)[:, None])
        return self._power_step(products.argmax(axis=0).astype(np.int32), products)

    def update(self, labels: Array, directions: Array) -> DirectionSweep:
        products, squares = self.matrix.column_products(directions, exact=True)
        return self._power_step(labels, divide(products, np.sqrt(squares)[:, None]))

    def _power_step(self, labels: Array, products: Array) -> DirectionSweep:
        """What a sweep gives, from labels (N,) and products (k, N) with unit directions."""
        inside = np.flatnonzero(labels >= 0)
        steps = np.zeros(products.shape)
        steps[labels[inside], inside] = products[labels[inside], inside]
        winning = steps.max(axis=0, initial=0.0)
        return DirectionSweep(labels, winning, steps, square_lengths(steps))

    def draw_missed(
        self, centers: Array, count: float, before: float, distance: Distance, key: Key
    ) -> tuple[Array, float]:
        products, squares = self.matrix.column_products(centers)
        cosines = divide(divide(products, np.sqrt(squares)[:, None]), self.lengths).T
        missed = self.weights * distance(cosines, np.ones(len(centers))).min(axis=1)
        total = float(missed.sum())
        chances = np.random.default_rng(key).random(len(missed))
        return self.at(np.flatnonzero(chances * total < count * missed)), total

    def gram(self, centers: Array) -> Array:
        return self.matrix.column_products(centers, exact=True)[0] @ centers.T

    def sums(self, labels: Array, k: int) -> Array:
        """Combinations that sum ``weight * normalized column`` over the columns of each label."""
        sums = np.zeros((k, len(labels)))
        inside = np.flatnonzero(labels >= 0)
        sums[labels[inside], inside] = self.lengths[inside]
        return sums

    def components(self, directions: Array, labels: Array | None = None) -> Array:
        return self.matrix.to_components(self.swept(directions, labels).sums)

    def coordinates(self) -> Any:
        return self.matrix.whole(column_scales=divide(1.0, self.lengths), transposed=True)


def columns_of(matrix: Matrix) -> Points:
    """The columns as points: as rows of their own where that is not slow."""
    flipped = matrix.transpose()
    return StreamedColumns(matrix) if flipped is None else TransposedColumns(flipped)


def move_idle(
    vectors: Array, idle: Array, missed: Array, least: Array | float, at: Callable[[Array], Array]
) -> bool:
    """Put vectors that no point went to where most is missed: what is unused cannot be lost.

    Of the vectors (k, m) those with the numbers ``idle`` are changed in place. ``missed`` (N,) is
    what every point misses, more than rounding from ``least`` on; ``at`` gives vectors (c, m) for
    the points at c positions. Returns whether any point was worth moving to.
    """
    chosen = find_largest(missed, least, len(idle))
    vectors[idle[: len(chosen)]] = at(chosen)
    return len(chosen) > 0


def draw_block(
    kernel: Kernel[Any],
    rows: Any,
    directions: Array,
    column_factors: Array,
    rate: float,
    distance: Distance,
    key: Key,
    most: int,
    numbers: range,
    row_weights: Any,
) -> tuple[Array, Array, float]:
    """Rows drawn by weight times distance to the nearest direction, their rates, and the sum.

    A row is drawn with the chance ``rate * weight * distance``; its own rate is the smallest by
    which it would have been. No more than ``most`` come: those of the smallest rates.
    """
    squares = kernel.look(rows, np.square(column_factors)).row_squares
    products = kernel.multiply_directions(rows, directions).max(axis=1)
    cosines = divide(products, np.sqrt(squares))
    weights = squares if row_weights is None else squares * row_weights
    missed = weights * distance(np.minimum(cosines, 1.0)[:, None], np.ones(1))[:, 0]
    chances = np.random.default_rng((*key, numbers.start)).random(len(missed))
    drawn = np.flatnonzero(chances < rate * missed)
    rates = chances[drawn] / missed[drawn]
    if len(drawn) > most:
        first = np.sort(np.argpartition(rates, most)[:most])
        drawn, rates = drawn[first], rates[first]
    return to_dense(kernel.take(rows, drawn)) * column_factors, rates, float(missed.sum())
