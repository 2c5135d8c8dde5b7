"""Moving single points between components, judged by what both components become.

Assigning a point to its best direction ignores that directions follow their points. Here a point
moves when the energy that the component it enters is sure to gain exceeds the most that the
component it leaves can lose, both by the Ritz values of the plane of its direction and the point.
Both components turn to the Ritz vectors at once: power steps would take long to get there.
Moves under the Kullback-Leibler divergence are exact: `onmf/divergence/moves.py`.
"""

from __future__ import annotations

import numpy as np

from orthonmf.alternation import errors_of
from orthonmf.engine.points import DirectionSweep, Samples
from orthonmf.onmf.solution import Solution
from orthonmf.typing import Array
from orthonmf.vectors import divide, square_lengths, unit_lengths

# All moves of a pass are judged by the same directions. They stay right as long as little of a
# component comes or goes at once.
SHARE_MOVED_AT_ONCE = 0.3
SMALLEST_SHARE = 3e-4
# Moves are made when they promise so many times the gain that would end them.
WORTH_A_PASS = 3.0


def net_gains(alpha: Array, weights: Array, labels: Array, energies: Array) -> tuple[Array, Array]:
    """Where every point had best go, and what all components then capture more, at the least.

    Parameters
    ----------
    alpha
        (b, k) energy of every point along the direction of each component.
    weights
        (b,) energy of every point, or (b, k) as much of it as each component could capture.
    labels
        (b,) the component that every point belongs to.
    energies
        (k,) what the components capture; (b, k) where points have components of their own.
    """
    everyone = np.arange(len(labels))
    energies = np.broadcast_to(energies, alpha.shape)
    weights = np.broadcast_to(weights if weights.ndim == 2 else weights[:, None], alpha.shape)
    gains = gains_of_entering(alpha, weights, energies)
    own = everyone, labels
    losses = losses_of_leaving(alpha[own], weights[own], energies[own])
    gains[own] = -np.inf
    targets = gains.argmax(axis=1)
    return targets, gains[everyone, targets] - losses


def gains_of_entering(alpha: Array, weights: Array, energies: Array) -> Array:
    """What components capture more, at the least, when points enter that have ``alpha`` along them.

    The top eigenvalue of [[e + a, sqrt(ab)], [sqrt(ab), b]] less e, where a + b is the weight w:
    h + sqrt(h^2 + a e) with h = (w - e) / 2.
    """
    halves = (weights - energies) / 2
    gains = np.square(halves)
    gains += alpha * energies
    np.sqrt(gains, out=gains)
    gains += halves
    return gains


def losses_of_leaving(alpha: Array, weights: Array, energies: Array) -> Array:
    """What components capture less, at the most, when points leave that have ``alpha`` along them.

    e less the top eigenvalue of [[e - a, -sqrt(ab)], [-sqrt(ab), 0]].
    """
    beta, rest = np.maximum(weights - alpha, 0.0), np.maximum(energies - alpha, 0.0)
    return energies - (rest + np.sqrt(np.square(rest) + 4 * alpha * beta)) / 2


def energies_along(points: Samples, unit: Array) -> Array:
    """(N, c) energy of every point along unit directions (c, m)."""
    products = points.raw_products(unit)
    energies = np.square(products, out=products)
    energies *= points.multipliers()[:, None]
    return energies


def move_points(points: Samples, solution: Solution, *, max_passes: int, tol: float) -> Solution:
    """Pass over points, moving those that should, until a pass gains less than ``tol``.

    ``tol`` is relative to the error. A pass that does not raise the captured energy is undone,
    so the error never rises. Where all moves together promise little, none is made.
    """
    least = WORTH_A_PASS * tol * (points.total - solution.captured)
    best = solution.sweep or points.sweep_directions(solution.directions)
    promised, movable = look_at_moves(points, solution.directions, best)
    if not promised > least:
        return solution
    [candidates] = points.cut([movable])
    captured, labels, share = float(best.captured_next.sum()), best.labels, SHARE_MOVED_AT_ONCE
    for _ in range(max_passes):
        moving, entering, directions = _pass(candidates, labels[movable], best, share)
        if len(moving) == 0:
            break
        moved_labels = labels.copy()
        moved_labels[movable[moving]] = entering
        moved = points.update(moved_labels, directions)
        gained = float(moved.captured_next.sum()) - captured
        if gained <= 0:  # too much moved at once: try again with more care
            share /= 8
            if share < SMALLEST_SHARE:
                break
            continue
        best, labels, captured = moved, moved_labels, captured + gained
        history = solution.history + errors_of((captured,), points.total)
        solution = Solution(best.sums, captured, history)
        if gained <= tol * (points.total - captured):
            break
    return solution


def look_at_moves(points: Samples, directions: Array, sweep: DirectionSweep) -> tuple[float, Array]:
    """What all moves that help would gain if each were the only one, and which points may move.

    Only points that miss at least half as much as the average are looked at: they hold nearly all
    that moves gain. Those whose best move would lose no more than three times what they miss may
    move. ``sweep`` is one by the directions.
    """
    missed = points.find_missed(sweep)
    positions = np.flatnonzero(missed > missed.mean() / 2)
    if len(positions) == 0:
        return 0.0, positions
    [looked] = points.cut([positions])
    alpha = energies_along(looked, unit_lengths(directions))
    _, net = net_gains(alpha, looked.weights, sweep.labels[positions], sweep.captured)
    return float(net[net > 0].sum()), positions[net > -3 * missed[positions]]


def _pass(
    points: Samples, labels: Array, sweep: DirectionSweep, share: float
) -> tuple[Array, Array, Array]:
    """Which points should move, where to, and the unit directions (k, m) of all components then."""
    unit, energies = unit_lengths(sweep.sums), sweep.captured_next
    alpha = energies_along(points, unit)
    targets, net = net_gains(alpha, points.weights, labels, energies)
    better = np.flatnonzero(net > 1e-12 * points.weights)
    better = better[np.argsort(-net[better], kind="stable")]
    limits = share * energies
    allowed = _not_too_much(points.weights[better], labels[better], targets[better], limits)
    moving = better[allowed]
    both = np.array([labels[moving], targets[moving]])
    weighted = points.at(moving) * np.sqrt(points.weights[moving])[:, None]
    return moving, targets[moving], _turn(unit, energies, weighted, alpha[moving, both], both)


def _turn(unit: Array, energies: Array, points: Array, alpha: Array, both: Array) -> Array:
    """Directions (k, m), turned to the Ritz vectors of components that points leave and enter.

    ``both`` (2, c) are what each of the weighted points (c, m) leaves and enters, ``alpha`` its
    energies along them. What several moves of one component change is added up.
    """
    weights, scales = square_lengths(points), np.sqrt(alpha)
    losses = losses_of_leaving(alpha[0], weights, energies[both[0]])
    gains = gains_of_entering(alpha[1], weights, energies[both[1]])
    # The Ritz vector is u + t (x - <x, u> u), and t = (change of the energy - a) / (b sqrt(a)).
    beta = np.maximum(weights - alpha, 0.0)
    turns = divide(np.array([losses, gains]) - alpha, beta * scales)
    changed, places = np.unique(both, return_inverse=True)
    places = places.reshape(both.shape)  # which not every version of NumPy does
    shares = np.zeros((len(changed), len(points)))
    shares[places, np.arange(len(points))] = turns
    kept = 1.0 - np.bincount(places.ravel(), (turns * scales).ravel(), minlength=len(changed))
    turned = unit.copy()
    turned[changed] = np.maximum(kept[:, None] * unit[changed] + shares @ points, 0.0)
    return unit_lengths(turned)


def _not_too_much(weights: Array, leaving: Array, entering: Array, limits: Array) -> Array:
    """Which of the moves, best first, keep what leaves and enters each component in its limit."""
    allowed = np.ones(len(weights), dtype=bool)
    for side in (leaving, entering):
        order = np.argsort(side, kind="stable")
        sums = np.cumsum(weights[order])
        starts = np.searchsorted(side[order], side[order], side="left")
        before = sums - weights[order] - (sums[starts] - weights[order][starts])
        # The first move of a component is always allowed.
        allowed[order] &= (before == 0) | (before + weights[order] <= limits[side[order]])
    return allowed
