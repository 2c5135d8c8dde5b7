"""Points: the rows, or the columns, of a matrix as weighted points on rays from the origin.

Everything above the engine is written against this class, so every algorithm runs over samples
and over features, dense or sparse, without knowing which.

A set of k centers is always held as a k x m array, its *form*:

* over samples the form is the centers themselves;
* over features the centers are n-vectors, and the form holds the coefficients by which they
  combine the columns: center s is ``Y @ form[s]``. One read of the rows then gives the centers,
  their lengths and the products of all columns with them, so features need no transposed copy.

Forms may be scaled and added like centers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from orthant.engine.matrix import Matrix
from orthant.engine.sources import MOST_BYTES_TO_COPY
from orthant.numerics.arrays import Array, divided

# Squared distances (N, c) from cosines of unit points with centers (N, c) and squares (c,).
Distance = Callable[[Array, Array], Array]


@dataclass(frozen=True, slots=True)
class Sweep:
    """Every point given to one of k centers, and what the next centers need.

    Attributes
    ----------
    labels
        (N,) int32.
    products
        (N,) inner product of the point, its weight left out, with its center (for directions:
        with the unit vector of its direction).
    lengths
        (N,) lengths of the points, their weights left out.
    form
        (k, m) form of the sums over the points of each label: of ``weight * normalized point``
        for centers (divide by the cluster weight to get means), of ``product * point`` for
        directions (one power step towards the top singular vector of the cluster).
    squares
        (k,) squared lengths of the centers that were passed in.
    """

    labels: Any
    products: Any
    lengths: Array
    form: Array
    squares: Array

    @property
    def cosines(self) -> Array:
        """(N,) inner product of the normalized point with its center."""
        return divided(self.products, self.lengths)


@dataclass(frozen=True, slots=True)
class DirectionSweep(Sweep):
    """A sweep by directions, which also tells how much each captures.

    Labels and products are left out where only sums were asked for.

    Attributes
    ----------
    captured
        (k,) weighted sum of squared products over the points of each label.
    unit
        (k, m) over samples: the unit vectors of the directions that were swept.
    """

    captured: Array
    unit: Array | None = None


class Points(Protocol):
    """What algorithms may ask of points; implemented by Samples and Features."""

    matrix: Matrix
    components_are_directions: bool  # so a sweep by them tells what is published
    weights: Array  # (N,) squared length of each point in Y; zero points take part in no sum
    dimension: int  # how many coordinates a point has

    def at(self, indices: Array) -> Array:
        """The form whose centers are the normalized points at these positions."""

    def cosines_with(self, form: Array) -> tuple[Array, Array]:
        """Products of all normalized points with the centers of a form, and squared lengths.

        (N, c) and (c,), computed in float64 whatever the data: these decide probabilities and
        comparisons that carry a proof.
        """

    def sweep_centers(self, form: Array) -> Sweep:
        """Nearest center of every normalized point."""

    def sweep_directions(self, form: Array, *, by_point: bool = True) -> DirectionSweep:
        """The direction that captures most of every point; lengths of the centers are ignored.

        Without ``by_point`` only the form and what every direction captures are sure to be there.
        """

    def draw_missed(
        self, form: Array, rate: float, distance: Distance, key: tuple[int, ...]
    ) -> tuple[Array, float]:
        """Draw points by what the normalized points of a form fail to capture, in one read.

        Every point is drawn independently with the chance ``rate * weight * distance`` to the
        nearest center, at most 1; random numbers follow from the key and the block. Returns the
        form of the points drawn and the sum of all ``weight * distance``.
        """

    def gram(self, form: Array) -> Array:
        """Inner products of the centers of a form with each other, (c, c)."""

    @property
    def drawable(self) -> bool:
        """Whether some points can be fetched, and met with all others, for less than a read."""

    @property
    def sweeps_are_final(self) -> bool:
        """Whether labels and products of a sweep are at hand and those of the loadings."""

    def sums(self, labels: Array, k: int) -> Array:
        """The form of the sums of ``weight * normalized point`` over the points of each label.

        Label -1 takes part in no sum.
        """

    def form_of(self, components: Array) -> Array:
        """The form of the directions that components (k, m) of X stand for."""

    def components(self, form: Array) -> Array:
        """The components (k, m) that centers stand for, in the geometry of X, of any length.

        Over samples they are the centers. Over features the centers are directions of the rows,
        and the components hold the scale of every column along its best direction.
        """

    def coordinates(self) -> Any:
        """All normalized points as a dense or CSR array: only for code that brings its own."""


class Samples:
    """The rows of a matrix as points."""

    components_are_directions = True

    def __init__(self, matrix: Matrix) -> None:
        self.matrix = matrix
        self.dimension = matrix.shape[1]
        squares, multipliers = matrix.row_squares, matrix.row_weights
        self._lengths = np.sqrt(squares)
        self.weights = squares if multipliers is None else squares * multipliers

    def at(self, indices: Array) -> Array:
        """The normalized rows at these positions."""
        return divided(self.matrix.take_rows(indices), self._lengths[indices][:, None])

    def cosines_with(self, form: Array) -> tuple[Array, Array]:
        """Products of all normalized rows with centers (c, m), and squared lengths."""
        products = self.matrix.products(form)
        return divided(products, self._lengths[:, None]), _squares(form)

    def rough_cosines_with(self, unit: Array) -> Array:
        """Products of all normalized rows with unit vectors (c, m), (N, c), as exact as the data.

        For choices that carry no proof.
        """
        products = self.matrix.products(unit, exact=False)
        if (self._lengths == 1.0).all():
            return products
        # In float64, where a length may be far below what the data's own type can divide by.
        lengths = np.where(self._lengths > 0, self._lengths, 1.0)[:, None]
        np.divide(products, lengths, out=products, casting="same_kind")
        return np.minimum(products, 1.0, out=products)

    def sweep_centers(self, form: Array) -> Sweep:
        """Nearest center of every normalized row: the largest ``<x, c>/|x| - |c|^2/2``."""
        squares = _squares(form)
        swept = self.matrix.sweep(form, (squares / 2, self._lengths))
        return Sweep(swept.labels, swept.products, self._lengths, swept.sums, squares)

    def sweep_directions(
        self, form: Array, *, by_point: bool = True, disjoint: bool = False
    ) -> DirectionSweep:
        """The direction that captures most of every row: the largest ``<x, u>``.

        ``disjoint`` promises that no two directions share a column: then one sweep costs
        O(entries), however many directions there are.
        """
        squares = _squares(form)
        unit = divided(form, np.sqrt(squares)[:, None])
        swept = self.matrix.sweep(unit, disjoint=disjoint, by_row=by_point)
        # sum_i <x_i, u>^2 = <sum_i <x_i, u> x_i, u>: no further read of the products.
        captured = np.einsum("sh,sh->s", swept.sums, unit)
        return DirectionSweep(
            swept.labels, swept.products, self._lengths, swept.sums, squares, captured, unit
        )

    def draw_missed(
        self, form: Array, rate: float, distance: Distance, key: tuple[int, ...]
    ) -> tuple[Array, float]:
        """Draw rows by their distance to the nearest center, in one read."""
        drawn, missed = self.matrix.draw_rows(unit_lengths(form), rate, distance, key)
        return unit_lengths(drawn), missed

    def gram(self, form: Array) -> Array:
        """Inner products of the centers with each other, (c, c)."""
        return form @ form.T

    @property
    def drawable(self) -> bool:
        """Whether single rows can be fetched for less than a read of all."""
        return not self.matrix.source.elsewhere

    def sums(self, labels: Array, k: int) -> Array:
        """Sums of ``weight * normalized row`` over the rows of each label, (k, m)."""
        return self.matrix.row_sums(labels, divided(self.weights, self._lengths), k)

    def power_step(self, labels: Array, cosines: Array, k: int) -> Array:
        """Sums of ``product * row`` over the rows of each label, (k, m).

        The product is that with the label's unit direction, told by its cosine (N,).
        """
        products = cosines * self._lengths
        given = self.matrix.row_weights
        return self.matrix.row_sums(labels, products if given is None else products * given, k)

    def raw_products(self, directions: Array) -> Array:
        """Products of all rows, weights left out, with directions (c, m): (n, c) float64."""
        return self.matrix.products(directions)

    def multipliers(self) -> Array:
        """(n,) the weights that were given to the rows; ones where none were."""
        given = self.matrix.row_weights
        return np.ones(self.matrix.shape[0]) if given is None else given

    def step(self, labels: Array, form: Array) -> DirectionSweep:
        """One power step of every direction on the rows of its label, labels held fixed."""
        squares = _squares(form)
        unit = divided(form, np.sqrt(squares)[:, None])
        swept = self.matrix.step(labels, unit)
        captured = np.einsum("sh,sh->s", swept.sums, unit)
        return DirectionSweep(labels, swept.products, self._lengths, swept.sums, squares, captured)

    def sums_of(self, indices: Array, labels: Array, coefficients: Array, k: int) -> Array:
        """Sums of coefficient times row over the given rows of each label, (k, m)."""
        everyone = np.full(self.matrix.shape[0], -1, dtype=np.int32)
        everyone[indices] = labels
        spread = np.zeros(self.matrix.shape[0])
        spread[indices] = coefficients
        return self.matrix.row_sums(everyone, spread, k)

    def gram_of(self, indices: Array) -> Array:
        """Gram matrix of the weighted rows at these positions, (c, c) float64."""
        return self.matrix.part(indices).row_gram()

    def sample(self, indices: Array, counts: Array) -> Samples:
        """Normalized copies of some rows that are not zero, as points in memory.

        Each has the given weight.
        """
        return Samples(self.matrix.normalized(indices, counts.astype(np.float64)))

    @property
    def at_hand(self) -> bool:
        """Whether single points can be had without reading whole blocks."""
        return self.matrix.source.in_memory

    @property
    def sweeps_are_final(self) -> bool:
        """Whether labels and products of a sweep are at hand and those of the loadings.

        Column factors change the products, and labels of points on a cluster stay there.
        """
        apart = self.matrix.column_factors is not None or self.matrix.source.elsewhere
        return self.components_are_directions and not apart

    def form_of(self, components: Array) -> Array:
        """The components themselves, in the geometry of Y."""
        return self.matrix.of_components(components)

    def components(self, form: Array) -> Array:
        """The centers with the column factors taken out again."""
        return self.matrix.unfolded(form)

    def coordinates(self) -> Any:
        """All normalized rows."""
        return self.matrix.whole(row_scales=divided(np.ones(len(self._lengths)), self._lengths))


class Columns(Samples):
    """The columns of a matrix as points: the rows of its transpose, where that is at hand."""

    components_are_directions = False

    def form_of(self, components: Array) -> Array:
        """The combinations of columns that the components describe."""
        everyone = np.zeros(components.shape[1], dtype=np.int32)
        shares = self.matrix.row_shares(components)
        return np.concatenate([self.matrix.row_sums(everyone, row, 1) for row in shares])

    def components(self, form: Array) -> Array:
        """The product of every column with the unit direction that captures most of it."""
        swept = self.sweep_directions(form)
        components = np.zeros((len(form), len(swept.labels)))
        weighted = np.flatnonzero(self.multipliers() > 0)
        components[swept.labels[weighted], weighted] = swept.products[weighted]
        return self.matrix.of_rows(components)


def points_over(matrix: Matrix, orthogonal: str) -> Points:
    """The points of a setting; columns as rows of their own where that is not slow."""
    if orthogonal == "samples":
        return Samples(matrix)
    flipped = matrix.transposed()
    return Features(matrix) if flipped is None else Columns(flipped)


def form_length(matrix: Matrix, orthogonal: str) -> int:
    """How many numbers a row of a form over the points of a setting holds, at most."""
    n, m = matrix.shape
    source = matrix.source
    stored = source.n_entries * source.dtype.itemsize
    flips = source.in_memory and (source.sparse or stored <= MOST_BYTES_TO_COPY)
    return n if orthogonal == "features" and flips else m


class Features:
    """The columns of a matrix as points, streamed over blocks of its rows."""

    components_are_directions = False
    sweeps_are_final = False

    def __init__(self, matrix: Matrix) -> None:
        self.matrix = matrix
        self.dimension = matrix.shape[0]
        self.weights = matrix.column_squares
        self._lengths = np.sqrt(matrix.column_squares)

    def at(self, indices: Array) -> Array:
        """The form that picks the normalized columns at these positions."""
        form = np.zeros((len(indices), self.matrix.shape[1]))
        lengths = self._lengths[indices]
        form[np.arange(len(indices)), indices] = divided(np.ones(len(indices)), lengths)
        return form

    def cosines_with(self, form: Array) -> tuple[Array, Array]:
        """Products of all normalized columns with the centers of a form, and squared lengths."""
        products, squares = self._products(form, exact=True)
        return divided(products, self._lengths).T, squares

    def _products(self, form: Array, exact: bool = False) -> tuple[Array, Array]:
        """Products of the columns of Y with the centers of a form, and the squared lengths."""
        products, squares = self.matrix.column_products(form, exact)
        if self.matrix.column_factors is not None:
            products = products * self.matrix.column_factors
        return products, squares

    def sweep_centers(self, form: Array) -> Sweep:
        """Nearest center of every normalized column."""
        products, squares = self._products(form)
        # Dividing by the length would not move a maximum over centers, but zero columns stay safe.
        labels = (products - np.multiply.outer(squares / 2, self._lengths)).argmax(axis=0)
        columns = np.arange(len(labels))
        sums = np.zeros(products.shape)
        sums[labels, columns] = self._lengths
        winning = products[labels, columns]
        return Sweep(labels.astype(np.int32), winning, self._lengths, sums, squares)

    def sweep_directions(self, form: Array, *, by_point: bool = True) -> DirectionSweep:
        """The direction that captures most of every column."""
        products, squares = self._products(form)
        steps = winners_only(divided(products, np.sqrt(squares)[:, None]))
        labels, winning = steps.argmax(axis=0), steps.max(axis=0, initial=0.0)
        return DirectionSweep(
            labels.astype(np.int32), winning, self._lengths, steps, squares, _squares(steps)
        )

    drawable = False  # any product with a column reads all rows

    def draw_missed(
        self, form: Array, rate: float, distance: Distance, key: tuple[int, ...]
    ) -> tuple[Array, float]:
        """Draw columns by their distance to the nearest center, in one read."""
        products, squares = self._products(form)
        cosines = divided(divided(products, np.sqrt(squares)[:, None]), self._lengths).T
        missed = self.weights * distance(cosines, np.ones(len(form))).min(axis=1)
        chances = np.random.default_rng(key).random(len(missed))
        return self.at(np.flatnonzero(chances < rate * missed)), float(missed.sum())

    def gram(self, form: Array) -> Array:
        """Inner products of the centers of a form with each other, (c, c)."""
        return self._products(form)[0] @ form.T

    def sums(self, labels: Array, k: int) -> Array:
        """The form that sums ``weight * normalized column`` over the columns of each label."""
        form = np.zeros((k, len(labels)))
        inside = np.flatnonzero(labels >= 0)
        form[labels[inside], inside] = self._lengths[inside]
        return form

    def form_of(self, components: Array) -> Array:
        """The components themselves: a form over features holds coefficients of columns."""
        return self.matrix.of_components(components)

    def components(self, form: Array) -> Array:
        """The product of every column with the unit direction that captures most of it."""
        return self.matrix.unfolded(self.sweep_directions(form).form)

    def coordinates(self) -> Any:
        """All normalized columns, as rows."""
        scales = divided(np.ones(len(self._lengths)), self._lengths)
        return self.matrix.whole(column_scales=scales, transposed=True)


def winners_only(values: Array) -> Array:
    """A (k, m) array with only the largest entry of every column kept, the first of equals."""
    kept = np.zeros_like(values)
    if len(values) == 0:
        return kept
    labels, columns = values.argmax(axis=0), np.arange(values.shape[1])
    kept[labels, columns] = values[labels, columns]
    return kept


def unit_lengths(form: Array) -> Array:
    """Rows at length one; zero rows stay zero."""
    return divided(form, np.sqrt(_squares(form))[:, None])


def _squares(form: Array) -> Array:
    return np.einsum("sh,sh->s", form, form)
