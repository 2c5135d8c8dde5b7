"""Points: the rows, or the columns, of a matrix as weighted points, told apart by their directions.

Everything above the engine is written against this class, so every algorithm runs over samples
and over features, dense or sparse, without knowing which. `engine/samples.py` has the rows,
and columns where they can be had as rows; `engine/streamed_columns.py` those that are streamed.

A set of k centers (of k-means) or directions (of components) is always a k x m array:

* over rows it holds the vectors themselves;
* over columns that are streamed the vectors have n entries, and the array holds the coefficients
  by which they combine the columns: vector s is ``Y @ centers[s]``. One read of the rows then gives
  the vectors, their lengths and the products of all columns with them, without a transposed copy.

Either way they may be scaled and added like the vectors they stand for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from orthonmf.engine.matrix import Matrix
from orthonmf.engine.placement import find_largest
from orthonmf.numerics.arrays import Array
from orthonmf.numerics.vectors import divide

if TYPE_CHECKING:
    from orthonmf.engine.samples import Products

# Squared distances (N, c) from cosines of unit points with centers (N, c) and squares (c,).
Distance = Callable[[Array, Array], Array]


@dataclass(frozen=True, slots=True)
class Sweep:
    """Every point given to one of k centers, and what the next centers need.

    The sums over the points of each label, as the points hold vectors, are those of ``weight *
    normalized point`` for centers (divide by the cluster weight to get means), of ``product *
    point`` for directions (one power update towards the top singular vector of the cluster).
    """

    labels: Any  # (N,) int32
    products: Any  # (N,) of the point, its weight left out, with its center or unit direction
    lengths: Array  # (N,) of the points, their weights left out
    sums: Array  # (k, m)
    squares: Array  # (k,) squared lengths of the centers that were passed in


@dataclass(frozen=True, slots=True)
class DirectionSweep(Sweep):
    """A sweep by directions; labels and products are left out where only sums were asked for."""

    captured: Array  # (k,) weighted sum of squared products over the points of each label
    unit: Array | None = None  # (k, m) over rows: the unit vectors of what was swept


class Weighted:
    """Points known by their weights alone, and what follows from these."""

    weights: Array  # (N,) squared length of each point in Y; zero points take part in no sum

    @cached_property
    def total(self) -> float:
        """The energy of all points."""
        return float(self.weights.sum())

    @cached_property
    def equal_count(self) -> float:
        """How many points of equal weight these are worth."""
        return count_equal(self.weights)

    def find_missed(self, sweep: Any) -> Array:
        """(N,) energy of every point that its direction in a sweep does not capture."""
        cosines = np.minimum(divide(sweep.products, sweep.lengths), 1.0)
        return self.weights * (1.0 - np.square(cosines))


def count_equal(weights: Array) -> float:
    """How many equal points weights (N,) are worth: ``(sum w)^2 / sum w^2``."""
    squares = float(weights @ weights)
    return float(weights.sum()) ** 2 / squares if squares > 0 else 0.0


class Points(Weighted, ABC):
    """Weighted points; centers and directions are (k, m) arrays as told above."""

    matrix: Matrix
    dimension: int  # how many coordinates a point has
    components_are_directions = False  # so a sweep by them finds what is published
    sweeps_are_final = False  # whether labels and products of a sweep are those of the loadings

    @property
    def draws(self) -> SinglePoints | None:
        """The same points, where fetching some and meeting them with all costs less than a read."""
        return None

    @property
    def access(self) -> SinglePoints | None:
        """The same points, where they are in memory and single ones cost next to nothing."""
        return None

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
    def sweep_centers(self, centers: Array) -> Sweep:
        """Nearest center of every normalized point."""

    @abstractmethod
    def sweep_directions(
        self, directions: Array, *, by_point: bool = True, disjoint: bool = False
    ) -> DirectionSweep:
        """The direction that captures most of every point; lengths of directions are ignored.

        Without ``by_point`` only the sums and what every direction captures are sure to be there.
        ``disjoint`` promises that no two directions share a column.
        """

    @abstractmethod
    def update(self, labels: Array, directions: Array) -> DirectionSweep:
        """One power update of every direction on the points of its label; labels (N,) stay."""

    @abstractmethod
    def draw_missed(
        self, centers: Array, rate: float, distance: Distance, key: tuple[int, ...]
    ) -> tuple[Array, float]:
        """Draw points by what the normalized points of centers fail to capture, in one read.

        Every point is drawn independently with the chance ``rate * weight * distance`` to the
        nearest center, at most 1; random numbers follow from the key and the block. Returns the
        points drawn as centers and the sum of all ``weight * distance``.
        """

    @abstractmethod
    def gram(self, centers: Array) -> Array:
        """Inner products of centers with each other, (c, c)."""

    @abstractmethod
    def sums(self, labels: Array, k: int) -> Array:
        """Sums of ``weight * normalized point`` over the points of each label, (k, m).

        Label -1 takes part in no sum.
        """

    @abstractmethod
    def directions_of(self, components: Array) -> Array:
        """The directions that components (k, m) of X stand for."""

    @abstractmethod
    def components(self, directions: Array) -> Array:
        """The components (k, m) that directions stand for, in the geometry of X, of any length.

        Over rows they are the directions. Over columns the directions are those of the columns,
        and the components hold the scale of every column along its best direction.
        """

    @abstractmethod
    def components_of(self, labels: Array, directions: Array) -> Array:
        """The same with labels (N,) held fixed: a point stays with the direction of its label."""

    @abstractmethod
    def coordinates(self) -> Any:
        """All normalized points as a dense or CSR array: only for code of the user."""


class SinglePoints(Points):
    """Points of which single ones can be had, and what can be asked of them on top."""

    @abstractmethod
    def rough_cosines_with(self, unit: Array) -> Array:
        """Products (N, c) of all normalized points with unit vectors, as exact as the data."""

    @abstractmethod
    def power_update(self, labels: Array, cosines: Array, k: int) -> Array:
        """Sums (k, m) of ``product * point`` over the points of each label, by cosines (N,)."""

    @abstractmethod
    def raw_products(self, directions: Array) -> Array:
        """Products (N, c) of all points, their weights left out, with directions, in float64."""

    @abstractmethod
    def multipliers(self) -> Array:
        """(N,) the weights that were given to the points; ones where none were."""

    @abstractmethod
    def sums_of(self, indices: Array, labels: Array, coefficients: Array, k: int) -> Array:
        """Sums (k, m) of coefficient times point over the given points of each label."""

    @abstractmethod
    def gram_of(self, indices: Array) -> Array:
        """Gram matrix (c, c) of the weighted points at these positions."""

    @abstractmethod
    def products_of(self, indices: Array, exact: bool = True) -> Products:
        """Products of the weighted points at these positions, in float32 if not exact."""

    @abstractmethod
    def products_seconds(self, n_points: int) -> tuple[float, float]:
        """About how long it takes to form the products of some points, and one product with them.

        On one core, by counting products.
        """

    @abstractmethod
    def sweep_seconds(self, k: int) -> float:
        """About how long one sweep by k directions takes on one core, by counting products."""

    @abstractmethod
    def cut(self, slices: list[slice]) -> list[SinglePoints]:
        """The points of every slice by themselves."""

    @abstractmethod
    def sample(
        self, size: int, rng: np.random.Generator, chances: Array | None = None
    ) -> SinglePoints:
        """About ``size`` normalized points, drawn by their weights or by chances (N,).

        Weighted by how often they were drawn, and by weight over chance, they stand for the
        weighted points: sums over them are right on average.
        """

    @abstractmethod
    def whole(self) -> Array:
        """All points with their weights, (N, m) dense float64: for small data."""


def move_idle(
    vectors: Array, idle: Array, missed: Array, least: Array | float, at: Callable[[Array], Array]
) -> bool:
    """Put vectors that no point went to where most is missed: what is unused cannot be lost.

    Parameters
    ----------
    vectors
        (k, m), changed in place.
    idle
        Numbers of the vectors to move.
    missed, least
        (N,) what every point misses, and from which on it is more than rounding.
    at
        Vectors (c, m) for the points at c positions.

    Returns
    -------
    Whether any point was worth moving to.
    """
    chosen = find_largest(missed, least, len(idle))
    vectors[idle[: len(chosen)]] = at(chosen)
    return len(chosen) > 0
