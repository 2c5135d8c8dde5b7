"""Local search: the best of all exchanges, until none helps, which proves a ratio."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from orthonmf.certificate import Promise
from orthonmf.engine.points import Distance, Points
from orthonmf.kmeans.exchanges import Exchange
from orthonmf.kmeans.lloyd import Clustering, lloyd
from orthonmf.kmeans.seeding import distance_rounding, plain
from orthonmf.rounding import UNIT_ROUNDOFF
from orthonmf.typing import Array

# Distances from all points to a batch of candidates are held at once.
BATCH_BYTES = 2**26


def exchange_until_stable(
    points: Points,
    centers: Array,
    improve: Callable[[Array], Array],
    distance: Distance = plain,
) -> tuple[Array, Promise]:
    """Exchange centers (k, m) for points, improve all after each, until no exchange helps.

    Returns these centers and what they promise. ``improve`` may do anything that lowers the cost,
    as Lloyd's iterations do. The test reads all pairs of points, so the time grows with their
    number squared.
    """
    lowest = np.inf
    while True:
        exchange = Exchange(points, centers, distance)
        gain, center, point = best_exchange(exchange)
        # Gains below this are not worth a round, and the claim accounts for what is left. At the
        # level of rounding, or in float32, improving may undo an exchange: this is the end too.
        enough = max(1e-7 * exchange.cost / len(centers), 2 * cost_rounding(exchange))
        if gain <= enough or exchange.cost >= lowest:
            return centers, stability_promise(exchange, gain)
        lowest = exchange.cost
        exchange.apply(center, point, exchange.to_points(np.array([point]))[:, 0])
        centers = improve(exchange.centers)


def cluster_until_stable(
    points: Points, clustering: Clustering, *, max_iter: int, tol: float
) -> Clustering:
    """A clustering that no exchange improves, from one that Lloyd has found."""

    def improve(centers: Array) -> Array:
        nonlocal clustering
        improved = lloyd(points, centers, max_iter=max_iter, tol=tol)
        clustering = replace(
            improved,
            n_sweeps=clustering.n_sweeps + improved.n_sweeps,
            history=clustering.history + improved.history,
        )
        return clustering.centers

    _, promise = exchange_until_stable(points, clustering.centers, improve)
    # Stability bounds what the points pay to their nearest of these centers. Labels on which Lloyd
    # was stopped may cost more than that, so they are made again: means and weights of the new ones
    # cost no more, and the ratio is theirs.
    again = lloyd(points, clustering.centers, max_iter=1, tol=tol)
    cost = min(again.cost, clustering.cost)
    return replace(
        again,
        cost=cost,
        promise=promise,
        n_sweeps=clustering.n_sweeps + 1,
        history=(*clustering.history, cost),
    )


def best_exchange(exchange: Exchange) -> tuple[float, int, int]:
    """How much the best exchange of all lowers the cost, and its center and point.

    Every exchange of one center for one point of positive weight is tested.
    """
    everyone = np.flatnonzero(exchange.points.weights > 0)
    batch = max(1, BATCH_BYTES // (8 * max(1, len(exchange.points.weights))))
    best = -math.inf, -1, -1
    for start in range(0, len(everyone), batch):
        candidates = everyone[start : start + batch]
        gains = exchange.gains(exchange.to_points(candidates))
        center, number = np.unravel_index(int(gains.argmax()), gains.shape)
        if gains[center, number] > best[0]:
            best = float(gains[center, number]), int(center), int(candidates[number])
    return best


def cost_rounding(exchange: Exchange) -> float:
    """A bound on the rounding error of the cost of any exchange."""
    n = len(exchange.points.weights)
    sum_rounding = (n + 2) * UNIT_ROUNDOFF / (1.0 - (n + 2) * UNIT_ROUNDOFF)
    share = distance_rounding(exchange.points.dimension) + sum_rounding
    return share * float(exchange.points.weights.sum())


def stability_promise(exchange: Exchange, gain_left: float) -> Promise:
    """What follows when no exchange lowers the cost by more than ``gain_left``.

    Single exchanges: with h = k (gain_left + rounding) / (cost - rounding) the cost is within
    ``((2 + sqrt(4 + 6 (1 - h))) / (1 - h))^2`` of the optimum, 26.65 for h = 0. No ratio when the
    cost is too close to rounding to say anything.
    """
    k, rounding = len(exchange.centers), cost_rounding(exchange)
    spare = exchange.cost - rounding
    h = k * (max(gain_left, 0.0) + 2 * rounding) / spare if spare > 0 else math.inf
    if h >= 1.0:
        return Promise(reason="the cost is at the level of rounding")
    root = (2.0 + math.sqrt(4.0 + 6.0 * (1.0 - h))) / (1.0 - h)
    return Promise(math.nextafter(root * root * (1 + 1e-12), math.inf), "always")
