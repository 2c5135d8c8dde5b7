"""Exchanging one center for one point: random exchanges (LS++), and all of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from orthonmf.certificate import Promise
from orthonmf.engine.points import Distance, Points
from orthonmf.engine.vectors import draw, on_host
from orthonmf.kmeans.seeding import Nearest, distance_rounding, plain
from orthonmf.numerics.arrays import Array
from orthonmf.numerics.rounding import UNIT_ROUNDOFF

# Distances from all points to a batch of candidates are held at once.
BATCH_BYTES = 2**26
# A gain below this share of the cost is rounding.
NEGLIGIBLE = 1e-12


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
        self.replace(center, distances)


def random_exchanges(
    exchange: Exchange, n_steps: int, rng: np.random.Generator, batch: int = 5
) -> int:
    """LS++: draw points like seeding does and exchange the best center when that helps.

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
    """Test every exchange of one center for one point of positive weight."""
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


AT_ROUNDING = Promise(reason="the cost is at the level of rounding")


def stability_promise(exchange: Exchange, gain_left: float) -> Promise:
    """What follows when no exchange lowers the cost by more than ``gain_left``.

    Single exchanges: with h = k (gain_left + rounding) / (cost - rounding) the cost is within
    ``((2 + sqrt(4 + 6 (1 - h))) / (1 - h))^2`` of the optimum, 26.65 for h = 0. No ratio when the
    cost is too close to rounding to say anything.
    """
    k, rounding = len(exchange.centers), cost_rounding(exchange)
    if not exchange.cost > rounding:
        return AT_ROUNDING
    h = k * (max(gain_left, 0.0) + 2 * rounding) / (exchange.cost - rounding)
    if h >= 1.0:
        return AT_ROUNDING
    root = (2.0 + math.sqrt(4.0 + 6.0 * (1.0 - h))) / (1.0 - h)
    return Promise(math.nextafter(root * root * (1 + 1e-12), math.inf), "always")
