"""Exchanging centers for candidates or points, and what every exchange would gain."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csc_array

from orthonmf.engine.placement import on_host
from orthonmf.engine.points import Distance, Points
from orthonmf.engine.sampling import draw
from orthonmf.kmeans.seeding import plain
from orthonmf.typing import Array

# A gain below this share of the cost is not worth the further exchange of a seeding.
WORTHWHILE = 1e-4
# A gain below this share of the cost is rounding.
NEGLIGIBLE = 1e-12
# So many points are drawn in one read, and tried in turn.
BATCH = 5


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
        return -self.price_joining(new, slice(None)) - self.extra(new, slice(None))

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
        labels, ends = self.labels[rows].astype(np.int32), np.arange(len(instead) + 1)
        shape = self.n_centers, len(instead)
        return csc_array((self.weights[rows], labels, ends), shape=shape) @ instead

    def find_touched(self, center: int, distances: Array) -> Array:
        """The points whose nearest or second nearest center an exchange would change."""
        leaving = (self.labels == center) | (self._seconds == center)
        return np.flatnonzero(leaving | (distances < self.second))

    def replace(self, center: int, distances: Array, touched: Array) -> None:
        """Put something, to which the distances (N,) are known, in the place of a center.

        ``touched`` are the points that this concerns.
        """
        self._distances[:, center] = distances
        self._rank(touched)


def best_exchanges(state: Nearest, candidates: Array) -> dict[int, int]:
    """Make the best exchange of a center for a candidate, one after the other, until none helps.

    ``candidates`` (N, p) are the distances to what may become a center. Returns which candidate
    stands in the place of which center. An exchange touches few points, so what all exchanges
    would gain is not computed again but corrected by what these points add to it.
    """
    exchanged: dict[int, int] = {}
    everyone = slice(None)
    joining, leaving = state.price_joining(candidates, everyone), state.extra(candidates, everyone)
    # With many centers each exchange helps less, but more of them do.
    for _ in range(max(25, 2 * state.n_centers)):
        paid = joining + leaving
        center, number = divmod(int(paid.argmin()), paid.shape[1])
        if not paid[center, number] < -WORTHWHILE * state.cost:
            break
        distances = candidates[:, number]
        touched = state.find_touched(center, distances)
        new = candidates[touched]
        joining -= state.price_joining(new, touched)
        leaving -= state.extra(new, touched)
        state.replace(center, distances, touched)
        joining += state.price_joining(new, touched)
        leaving += state.extra(new, touched)
        exchanged[center] = number
    return exchanged


def choose_columns(weights: Array, distances: Array, k: int) -> tuple[Array, Nearest]:
    """Up to k of p candidates for N weighted points: one by one the best, then best exchanges.

    Also which of the chosen is nearest to every point. Given are the weights (N,) of the points
    and their distances (N, p) to the candidates.
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
        costs -= own @ np.minimum(some, nearest[nearer][:, None])
        nearest[nearer] = some[:, best]
        costs += own @ np.minimum(some, nearest[nearer][:, None])
        costs[chosen] = np.inf  # by rounding one of them may seem to lower the cost again
    return chosen


class Exchange(Nearest):
    """Centers that may be exchanged for points, with the distances that tell what it gains."""

    def __init__(self, points: Points, centers: Array, distance: Distance = plain) -> None:
        self.points, self.centers, self._distance = points, centers.copy(), distance
        super().__init__(points.weights, self.distances_to(centers))

    def distances_to(self, centers: Array) -> Array:
        """(N, c) squared distances of all points to centers (c, m)."""
        return on_host(self._distance(*self.points.cosines_with(centers)))

    def to_points(self, candidates: Array) -> Array:
        """(N, c) squared distances of all points to the points at these positions."""
        distances = self.distances_to(self.points.at(candidates))
        distances[candidates, np.arange(len(candidates))] = 0.0
        return distances

    def apply(self, center: int, point: int, distances: Array) -> None:
        """Put a point, to which the distances (N,) are known, in the place of a center."""
        self.centers[center] = self.points.at(np.array([point]))[0]
        self.replace(center, distances, self.find_touched(center, distances))


def random_exchanges(exchange: Exchange, n_steps: int, rng: np.random.Generator) -> None:
    """LS++: draw points like seeding does and exchange the best center when that helps."""
    for start in range(0, n_steps, BATCH):
        chances = exchange.points.weights * exchange.nearest
        if not chances.sum() > 0:
            break
        candidates = draw(chances, min(BATCH, n_steps - start), rng)
        new = exchange.to_points(candidates)
        for number in range(len(candidates)):
            gains = exchange.gains(new[:, [number]])[:, 0]
            center = int(gains.argmax())
            if gains[center] > NEGLIGIBLE * exchange.cost:
                exchange.apply(center, int(candidates[number]), new[:, number])
