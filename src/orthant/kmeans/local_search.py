"""Exchanging one centre for one point: random exchanges (LS++), and all of them.

Both keep the distances of all points to all centres, N x k numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_array

from orthant.arrays import Array
from orthant.bounds.rounding import UNIT_ROUNDOFF
from orthant.engine.points import Points
from orthant.kmeans.clustering import Ratio
from orthant.kmeans.geometry import Distance, distance_rounding, plain
from orthant.kmeans.seeding import draw

# Distances from all points to a batch of candidates are held at once.
BATCH_BYTES = 2**26
# Up to so many candidates counting label by label costs less than building a sparse matrix.
FEW_CANDIDATES = 8
# Below this size a product with zeros costs less than building a sparse matrix.
SMALL_MEMBERS = 2**14
# A gain below this share of the cost is rounding.
NEGLIGIBLE = 1e-12


class Nearest:
    """Weighted points, how far they are from every centre, and which is nearest and second."""

    def __init__(self, weights: Array, distances: Array) -> None:
        self.weights = weights  # (N,)
        self._distances = distances  # (N, k)
        self.n_centers = distances.shape[1]
        self._refresh()

    def _refresh(self) -> None:
        everyone = np.arange(len(self._distances))
        self.labels = self._distances.argmin(axis=1)
        self.nearest = self._distances[everyone, self.labels]
        others = self._distances.copy()
        others[everyone, self.labels] = np.inf
        self.second = others.min(axis=1)  # infinite where there is only one centre
        self.cost = float(self.weights @ self.nearest)

    def gains(self, new: Array, room: Array | None = None) -> Array:
        """(k, c) drop of the cost when centre s is exchanged for the candidate of column j.

        ``new`` holds the distances to the candidates, (N, c). Points of other clusters gain
        ``(nearest - new)_+``; points of cluster s may use the new centre or their second nearest
        instead of the one removed. ``room`` (N, c) may hold what is computed on the way.
        """
        weights, k = self.weights, self.n_centers
        if k == 1:
            return (self.cost - weights @ new)[None, :]
        kept = weights @ np.minimum(self.nearest[:, None], new, out=room)
        # What a point of the cluster pays on top of that: up to its second nearest centre.
        instead = np.maximum(new, self.nearest[:, None], out=room)
        np.minimum(instead, self.second[:, None], out=instead)
        paid = np.bincount(self.labels, weights * self.nearest, minlength=k)
        extra = _sums_by_label(self.labels, weights, instead, k) - paid[:, None]
        return self.cost - kept - extra

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

    def replace(self, center: int, distances: Array) -> None:
        """Put something, to which the distances (N,) are known, in the place of a centre."""
        self._distances[:, center] = distances
        self._refresh()


def best_exchanges(state: Nearest, candidates: Array) -> dict[int, int]:
    """Make the best exchange of a centre for a candidate, one after the other, until none helps.

    ``candidates`` (N, p) are the distances to what may become a centre. Returns which candidate
    stands in the place of which centre.
    """
    exchanged: dict[int, int] = {}
    room = np.empty_like(candidates)
    for _ in range(most_exchanges(state.n_centers)):
        gains = state.gains(candidates, room)
        center, number = (int(i) for i in np.unravel_index(int(gains.argmax()), gains.shape))
        if not gains[center, number] > NEGLIGIBLE * state.cost:
            break
        state.replace(center, candidates[:, number])
        exchanged[center] = number
    return exchanged


def most_exchanges(k: int) -> int:
    """How many exchanges to make at most: with many centres each helps less."""
    return max(25, 2 * k)


class Exchange(Nearest):
    """Centres that may be exchanged for points, with the distances that tell what it gains."""

    def __init__(self, points: Points, form: Array, distance: Distance = plain) -> None:
        self.points, self.form, self._distance = points, form.copy(), distance
        super().__init__(points.weights, self.distances_to(form))

    def distances_to(self, form: Array) -> Array:
        """(N, c) squared distances of all points to the centres of a form."""
        return self._distance(*self.points.cosines_with(form))

    def to_points(self, candidates: Array) -> Array:
        """(N, c) squared distances of all points to the points at these positions."""
        distances = self.distances_to(self.points.at(candidates))
        distances[candidates, np.arange(len(candidates))] = 0.0
        return distances

    def apply(self, center: int, point: int, distances: Array) -> None:
        """Put a point, to which the distances (N,) are known, in the place of a centre."""
        self.form[center] = self.points.at(np.array([point]))[0]
        self.replace(center, distances)


def _sums_by_label(labels: Array, weights: Array, values: Array, k: int) -> Array:
    """(k, c) weighted sums of the rows of values (N, c) that carry each label."""
    n = len(labels)
    if n * k <= SMALL_MEMBERS:
        members = np.zeros((k, n))
        members[labels, np.arange(n)] = weights
        return members @ values
    if values.shape[1] <= FEW_CANDIDATES:
        columns = [np.bincount(labels, weights * column, minlength=k) for column in values.T]
        return np.stack(columns, axis=1)
    ends = np.arange(n + 1, dtype=np.int32)
    return csc_array((weights, labels.astype(np.int32), ends), shape=(k, n)) @ values


def random_exchanges(
    exchange: Exchange, n_steps: int, rng: np.random.Generator, batch: int = 5
) -> int:
    """LS++: draw points like seeding does and exchange the best centre when that helps.

    Candidates are drawn a few at a time and tried in turn. Returns how many were accepted.
    """
    accepted = 0
    for start in range(0, n_steps, batch):
        chances = exchange.points.weights * exchange.nearest
        if not chances.sum() > 0:
            break
        candidates = draw(chances, min(batch, n_steps - start), rng)
        new = exchange.to_points(candidates)  # one read for the whole batch
        for number in range(len(candidates)):
            gains = exchange.gains(new[:, [number]])[:, 0]
            center = int(gains.argmax())
            if gains[center] > NEGLIGIBLE * exchange.cost:
                exchange.apply(center, int(candidates[number]), new[:, number])
                accepted += 1
    return accepted


@dataclass(frozen=True, slots=True)
class BestExchange:
    """The exchange that lowers the cost most, of all there are."""

    gain: float
    center: int
    point: int


def best_exchange(exchange: Exchange) -> BestExchange:
    """Test every exchange of one centre for one point of positive weight."""
    everyone = np.flatnonzero(exchange.points.weights > 0)
    batch = max(1, BATCH_BYTES // (8 * max(1, len(exchange.points.weights))))
    best = BestExchange(-math.inf, -1, -1)
    for start in range(0, len(everyone), batch):
        candidates = everyone[start : start + batch]
        new = exchange.to_points(candidates)
        hopeful = exchange.hopeful(new)
        if not hopeful.any():
            continue
        candidates = candidates[hopeful]
        gains = exchange.gains(new[:, hopeful])
        center, number = np.unravel_index(int(gains.argmax()), gains.shape)
        if gains[center, number] > best.gain:
            best = BestExchange(float(gains[center, number]), int(center), int(candidates[number]))
    return best


def cost_rounding(exchange: Exchange) -> float:
    """A bound on the rounding error of the cost of any exchange."""
    n = len(exchange.points.weights)
    sum_rounding = (n + 2) * UNIT_ROUNDOFF / (1.0 - (n + 2) * UNIT_ROUNDOFF)
    share = distance_rounding(exchange.points.dimension) + sum_rounding
    return share * float(exchange.points.weights.sum())


def stability_ratio(exchange: Exchange, gain_left: float) -> Ratio | None:
    """What follows when no exchange lowers the cost by more than ``gain_left``.

    Single exchanges: with h = k (gain_left + rounding) / (cost - rounding) the cost is within
    ``((2 + sqrt(4 + 6 (1 - h))) / (1 - h))^2`` of the optimum, 26.65 for h = 0. None when the
    cost is too close to rounding to say anything.
    """
    k, rounding = len(exchange.form), cost_rounding(exchange)
    if not exchange.cost > rounding:
        return None
    h = k * (max(gain_left, 0.0) + 2 * rounding) / (exchange.cost - rounding)
    if h >= 1.0:
        return None
    root = (2.0 + math.sqrt(4.0 + 6.0 * (1.0 - h))) / (1.0 - h)
    return Ratio(math.nextafter(root * root * (1 + 1e-12), math.inf), "always")
