"""k-means++ by the exact law, over weighted points, its greedy variant, and exchanges of centers.

Two ways to say how far normalized points are apart, both from their cosine. *Plain*: squared
Euclidean distance, the geometry of the paper. *Lines*: squared sine of the angle, which is the
error of the factorization itself (half the squared distance of the lifted points ``x x^T``). Both
are squared metrics, so seeding and exchanges have the same guarantees in each.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.sparse import csc_array

from orthonmf.certificate import Promise
from orthonmf.engine.points import Distance, Points
from orthonmf.engine.vectors import draw, on_host
from orthonmf.numerics.arrays import Array
from orthonmf.numerics.rounding import UNIT_ROUNDOFF

# Up to so many candidates counting label by label costs less than building a sparse matrix.
FEW_CANDIDATES = 8
# Below this size a product with zeros costs less than building a sparse matrix.
SMALL_MEMBERS = 2**14
# A gain below this share of the cost is not worth the further exchange of a seeding.
WORTHWHILE = 1e-4


def plain(products: Array, squares: Array) -> Array:
    """Squared distance of unit points to centers: ``1 - 2 <x, c> + |c|^2``, (N, c)."""
    return np.maximum(1.0 - 2.0 * products + squares, 0.0)


def lines(products: Array, squares: Array) -> Array:
    """Squared sine of the angle between unit points and centers, (N, c)."""
    cosines_squared = np.divide(
        np.square(products), squares, out=np.zeros_like(products), where=squares > 0
    )
    return np.clip(1.0 - cosines_squared, 0.0, 1.0)


def distance_rounding(dimension: int) -> float:
    """A bound on the rounding error of either distance between points of this dimension."""
    return 10.0 * (dimension + 4) * UNIT_ROUNDOFF


def seed(
    points: Points,
    k: int,
    rng: np.random.Generator,
    *,
    distance: Distance = plain,
    candidates: int = 1,
) -> Array:
    """Draw up to k points, each with probability proportional to weight times squared distance.

    Fewer are drawn when what remains is rounding: then all points coincide with drawn ones.
    Returns their positions, in the order of drawing.
    """

    def distances_to(picks: Array) -> Array:
        return distance(*points.cosines_with(points.at(picks)))

    nothing = distance_rounding(points.dimension)
    return draw_far(points.weights, k, rng, distances_to, nothing, candidates)


def draw_far(
    weights: Array,
    k: int,
    rng: np.random.Generator,
    distances_to: Callable[[Array], Array],
    nothing: float,
    candidates: int = 1,
) -> Array:
    """Draw up to k positions by weight (N,) times distance to the nearest one drawn before.

    With more than one candidate per draw the one that lowers the cost most is kept (greedy),
    which is a different law and carries no guarantee.

    Parameters
    ----------
    distances_to
        From c positions to the distances (N, c) of all points to the points there.
    nothing
        A share of the weight; less than this left to draw from is rounding.
    """
    least = nothing * weights.sum()
    drawn: list[int] = []
    distances = np.ones(len(weights))
    while len(drawn) < k:
        chances = weights * distances
        total = chances.sum()
        if not total > (least if drawn else 0.0):
            break
        picks = draw(chances, candidates if drawn else 1, rng)
        nearer = distances_to(picks)
        np.minimum(nearer, distances[:, None] if drawn else np.inf, out=nearer)
        nearer[picks, np.arange(len(picks))] = 0.0
        best = int((weights @ nearer).argmin()) if len(picks) > 1 else 0
        distances = nearer[:, best]
        distances[drawn] = 0.0
        drawn.append(int(picks[best]))
    return np.array(drawn, dtype=np.int64)


def greedy_candidates(k: int) -> int:
    """How many candidates the greedy variant tries for each draw."""
    return 2 + int(math.log(k))


def seeding_promise(k: int) -> Promise:
    """What plain draws guarantee: ``5 (1 + H_{k-1})`` times the optimum in expectation.

    Holds in the plain and in the line geometry, for the seeds and whatever only lowers their
    cost. The factor 1.002 pays for drawing by rounded probabilities. With one cluster the mean
    is optimal.
    """
    if k == 1:
        return Promise(1.0, "always")
    harmonic = sum(1.0 / j for j in range(1, k))
    return Promise(1.002 * 5.0 * (1.0 + harmonic), "expected")


class Nearest:
    """Weighted points, how far they are from every center, and which is nearest and second."""

    def __init__(self, weights: Array, distances: Array) -> None:
        self._distances = distances  # (N, k), whose dtype decides in what is computed
        self.weights = on_host(weights).astype(distances.dtype, copy=False)  # (N,)
        self.n_centers = distances.shape[1]
        n = len(weights)
        self.labels, self._seconds = np.empty(n, dtype=np.intp), np.empty(n, dtype=np.intp)
        self.nearest, self.second = np.empty_like(self.weights), np.empty_like(self.weights)
        self._rank(slice(None))

    def _rank(self, rows: Array | slice) -> None:
        """Find the nearest and the second nearest center of some points."""
        distances = self._distances[rows].copy()
        everyone = np.arange(len(distances))
        self.labels[rows] = first = distances.argmin(axis=1)
        self.nearest[rows] = distances[everyone, first]
        distances[everyone, first] = np.inf
        self._seconds[rows] = other = distances.argmin(axis=1)
        self.second[rows] = distances[everyone, other]  # infinite where there is only one center
        self.cost = float(self.weights @ self.nearest)

    def gains(self, new: Array) -> Array:
        """(k, c) drop of the cost when center s is exchanged for the candidate of column j.

        ``new`` holds the distances to the candidates, (N, c).
        """
        everyone = slice(None)
        return -self.price_joining(new, everyone) - self.extra(new, everyone)

    def price_joining(self, new: Array, rows: Array | slice) -> Array:
        """(c,) by how much what some points pay changes, never above 0, when a candidate joins.

        ``new`` holds their distances to the candidates.
        """
        nearest, weights = self.nearest[rows], self.weights[rows]
        return weights @ np.minimum(nearest[:, None], new) - weights @ nearest

    def extra(self, new: Array, rows: Array | slice) -> Array:
        """(k, c) what some points pay on top of that when their own center, s, then leaves.

        They take the candidate or their second nearest center instead.
        """
        nearest = self.nearest[rows][:, None]
        instead = np.maximum(new, nearest)
        np.minimum(instead, self.second[rows][:, None], out=instead)
        instead -= nearest
        return _sums_by_label(self.labels[rows], self.weights[rows], instead, self.n_centers)

    def hopeful(self, new: Array) -> Array:
        """Which candidates (columns of ``new``) could lower the cost at all, (c,) booleans.

        The gain is at most ``sum w (second - new)_+`` less the cheapest removal. (With nearest
        in place of second the test would drop exchanges that do help.)
        """
        k = self.n_centers
        if k == 1:
            return np.ones(new.shape[1], dtype=bool)
        losses = np.bincount(self.labels, self.weights * (self.second - self.nearest), minlength=k)
        most = self.weights @ np.maximum(self.second[:, None] - new, 0.0)
        # A little slack: rounding must not skip an exchange that helps.
        return most > losses.min() * (1 - 1e-9) - 1e-12 * self.cost

    def find_touched(self, center: int, distances: Array) -> Array:
        """The points whose nearest or second nearest center an exchange would change."""
        leaving = (self.labels == center) | (self._seconds == center)
        return np.flatnonzero(leaving | (distances < self.second))

    def replace(self, center: int, distances: Array, touched: Array | None = None) -> None:
        """Put something, to which the distances (N,) are known, in the place of a center.

        ``touched``, if known already, are the points that this concerns.
        """
        rows = self.find_touched(center, distances) if touched is None else touched
        self._distances[:, center] = distances
        self._rank(rows)


def best_exchanges(state: Nearest, candidates: Array) -> dict[int, int]:
    """Make the best exchange of a center for a candidate, one after the other, until none helps.

    ``candidates`` (N, p) are the distances to what may become a center. Returns which candidate
    stands in the place of which center. An exchange touches few points, so what all exchanges
    would gain is not computed again but corrected by what these points add to it.
    """
    exchanged: dict[int, int] = {}
    everyone = slice(None)
    kept, extra = state.price_joining(candidates, everyone), state.extra(candidates, everyone)
    for _ in range(most_exchanges(state.n_centers)):
        paid = kept + extra
        center, number = divmod(int(paid.argmin()), paid.shape[1])
        if not paid[center, number] < -WORTHWHILE * state.cost:
            break
        distances = candidates[:, number]
        touched = state.find_touched(center, distances)
        new = candidates[touched]
        kept -= state.price_joining(new, touched)
        extra -= state.extra(new, touched)
        state.replace(center, distances, touched)
        kept += state.price_joining(new, touched)
        extra += state.extra(new, touched)
        exchanged[center] = number
    return exchanged


def most_exchanges(k: int) -> int:
    """How many exchanges to make at most: with many centers each helps less."""
    return max(25, 2 * k)


def _sums_by_label(labels: Array, weights: Array, values: Array, k: int) -> Array:
    """(k, c) weighted sums of the rows of values (N, c) that carry each label."""
    n = len(labels)
    if n * k <= SMALL_MEMBERS:
        members = np.zeros((k, n), dtype=values.dtype)
        members[labels, np.arange(n)] = weights
        return members @ values
    if values.shape[1] <= FEW_CANDIDATES:
        columns = [np.bincount(labels, weights * column, minlength=k) for column in values.T]
        return np.stack(columns, axis=1)
    ends = np.arange(n + 1, dtype=np.int32)
    return csc_array((weights, labels.astype(np.int32), ends), shape=(k, n)) @ values


def choose_columns(weights: Array, distances: Array, k: int) -> tuple[Array, Nearest]:
    """Up to k of p candidates for N weighted points: one by one the best, then best exchanges.

    Also which of the chosen is nearest to every point.

    Parameters
    ----------
    weights
        (N,) of the points.
    distances
        (N, p) of all points to the candidates.
    """
    chosen = _choose_one_by_one(weights.astype(distances.dtype, copy=False), distances, k)
    state = Nearest(weights, distances[:, chosen])
    for center, number in best_exchanges(state, distances).items():
        chosen[center] = number
    return np.array(chosen, dtype=np.int64), state


def _choose_one_by_one(weights: Array, distances: Array, k: int) -> list[int]:
    """Up to k candidates, each the one that lowers the cost most; none that does not."""
    nearest = np.full(len(weights), np.inf, dtype=distances.dtype)
    costs, cost = weights @ distances, np.inf
    chosen: list[int] = []
    while len(chosen) < k:
        best = int(costs.argmin())
        if not costs[best] < cost:
            break
        cost = costs[best]
        chosen.append(best)
        # Only points that come nearer change what the other candidates would cost.
        nearer = np.flatnonzero(distances[:, best] < nearest)
        some, own = distances[nearer], weights[nearer]
        if len(chosen) > 1:
            costs -= own @ np.minimum(some, nearest[nearer][:, None])
            nearest[nearer] = some[:, best]
            costs += own @ np.minimum(some, nearest[nearer][:, None])
        else:
            nearest = distances[:, best].copy()
            costs = weights @ np.minimum(distances, nearest[:, None])
        costs[chosen] = np.inf  # by rounding one of them may seem to lower the cost again
    return chosen
