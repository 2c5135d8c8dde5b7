"""The columns of a matrix as points, streamed with its rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from orthonmf.engine.matrix import Matrix
from orthonmf.engine.points import DirectionSweep, Distance, Points, Sweep
from orthonmf.numerics.arrays import Array
from orthonmf.numerics.vectors import divide, square_lengths, winners_only


class StreamedColumns(Points):
    """The columns of a matrix as points, streamed over blocks of its rows."""

    def __init__(self, matrix: Matrix) -> None:
        self.matrix = matrix
        self.dimension = matrix.shape[0]
        self.weights = matrix.column_squares
        self._lengths = np.sqrt(matrix.column_squares)

    def at(self, indices: Array) -> Array:
        """The combinations that pick the normalized columns at these positions."""
        centers = np.zeros((len(indices), self.matrix.shape[1]))
        lengths = self._lengths[indices]
        centers[np.arange(len(indices)), indices] = divide(np.ones(len(indices)), lengths)
        return centers

    def cosines_with(self, centers: Array) -> tuple[Array, Array]:
        products, squares = self._products(centers, exact=True)
        return divide(products, self._lengths).T, squares

    def _products(self, centers: Array, exact: bool = False) -> tuple[Array, Array]:
        """Products (c, m) of centers with the columns of Y, and the squared lengths (c,)."""
        products, squares = self.matrix.column_products(centers, exact)
        if self.matrix.column_factors is not None:
            products = products * self.matrix.column_factors
        return products, squares

    def sweep_centers(self, centers: Array) -> Sweep:
        products, squares = self._products(centers)
        # Dividing by the length would not move a maximum over centers, but zero columns stay safe.
        labels = (products - np.multiply.outer(squares / 2, self._lengths)).argmax(axis=0)
        columns = np.arange(len(labels))
        sums = np.zeros(products.shape)
        sums[labels, columns] = self._lengths
        winning = products[labels, columns]
        return Sweep(labels.astype(np.int32), winning, self._lengths, sums, squares)

    def sweep_directions(
        self, directions: Array, *, by_point: bool = True, disjoint: bool = False
    ) -> DirectionSweep:
        products, squares = self._products(directions)
        steps = winners_only(divide(products, np.sqrt(squares)[:, None]))
        labels, winning = steps.argmax(axis=0), steps.max(axis=0, initial=0.0)
        return DirectionSweep(
            labels.astype(np.int32), winning, self._lengths, steps, squares, square_lengths(steps)
        )

    def update(self, labels: Array, directions: Array) -> DirectionSweep:
        products, squares = self._products(directions, exact=True)
        inside = np.flatnonzero(labels >= 0)
        steps = np.zeros(products.shape)
        steps[labels[inside], inside] = products[labels[inside], inside]
        steps = divide(steps, np.sqrt(squares)[:, None])
        winning = steps.max(axis=0, initial=0.0)
        return DirectionSweep(labels, winning, self._lengths, steps, squares, square_lengths(steps))

    def draw_missed(
        self, centers: Array, rate: float, distance: Distance, key: tuple[int, ...]
    ) -> tuple[Array, float]:
        products, squares = self._products(centers)
        cosines = divide(divide(products, np.sqrt(squares)[:, None]), self._lengths).T
        missed = self.weights * distance(cosines, np.ones(len(centers))).min(axis=1)
        chances = np.random.default_rng(key).random(len(missed))
        return self.at(np.flatnonzero(chances < rate * missed)), float(missed.sum())

    def gram(self, centers: Array) -> Array:
        return self._products(centers)[0] @ centers.T

    def sums(self, labels: Array, k: int) -> Array:
        """Combinations that sum ``weight * normalized column`` over the columns of each label."""
        sums = np.zeros((k, len(labels)))
        inside = np.flatnonzero(labels >= 0)
        sums[labels[inside], inside] = self._lengths[inside]
        return sums

    def directions_of(self, components: Array) -> Array:
        return self.matrix.from_components(components)

    def components(self, directions: Array) -> Array:
        return self.matrix.to_components(self.sweep_directions(directions).sums)

    def components_of(self, labels: Array, directions: Array) -> Array:
        return self.matrix.to_components(self.update(labels, directions).sums)

    def coordinates(self) -> Any:
        scales = divide(np.ones(len(self._lengths)), self._lengths)
        return self.matrix.whole(column_scales=scales, transposed=True)
