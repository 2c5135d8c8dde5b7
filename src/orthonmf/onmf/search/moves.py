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
from orthonmf.engine.segments import slices
from orthonmf.onmf.solution import Solution
from orthonmf.typing import Array
from orthonmf.vectors import divide, square_lengths, unit_lengths

# Within a block all moves are judged by the same directions. They stay right as long as little of
# a component comes or goes at once.
SHARE_MOVED_AT_ONCE = 0.1
SMALLEST_SHARE = 1e-4
MOVE_BLOCKS = 8
# Moves are made when they promise so many times the gain that would end them.
WORTH_A_PASS = 3.0
FEWEST_POINTS_IN_A_BLOCK = 32
# Gains of points are weighed so many at once, so that they stay in cache.
PRODUCTS_IN_CACHE = 2**15


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
    n, k = alpha.shape
    targets, net = np.empty(n, dtype=np.intp), np.empty(n)
    for some in slices(n, max(1, PRODUCTS_IN_CACHE // k)):
        own_weights = weights[some] if weights.ndim == 2 else weights[some, None]
        own_energies = energies if energies.ndim == 1 else energies[some]
        targets[some], net[some] = _best_moves(alpha[some], own_weights, labels[some], own_energies)
    return targets, net


def _best_moves(
    alpha: Array, weights: Array, labels: Array, energies: Array
) -> tuple[Array, Array]:
    everyone = np.arange(len(labels))
    energies = np.broadcast_to(energies, alpha.shape)
    weights = np.broadcast_to(weights, alpha.shape)
    gains = gains_of_entering(alpha, weights, energies)
    own = everyone, labels
    losses = losses_of_leaving(alpha[own], weights[own], energies[own])
    gains[everyone, labels] = -np.inf
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


class Components:
    """Unit directions of components, and what each captures, while points move between them."""

    def __init__(self, sweep: DirectionSweep) -> None:
        # Laid out as products of points with them are computed.
        self.units = np.ascontiguousarray(unit_lengths(sweep.sums).T).T  # (k, m)
        self.energies = captured_next(sweep)  # (k,)

    def move(self, points: Array, alpha: Array, leaving: Array, entering: Array) -> None:
        """Turn the components that weighted points (c, m) leave and enter to their Ritz vectors.

        ``alpha`` (2, c) are the energies of the points along both. What several moves of one
        component change is added up.
        """
        weights, scales = square_lengths(points), np.sqrt(alpha)
        losses = losses_of_leaving(alpha[0], weights, self.energies[leaving])
        gains = gains_of_entering(alpha[1], weights, self.energies[entering])
        # The Ritz vector is u + t (x - <x, u> u), and t = (change of the energy - a) / (b sqrt(a)).
        beta = np.maximum(weights - alpha, 0.0)
        turns = divide(np.array([losses, gains]) - alpha, beta * scales)
        changed, places = np.unique(np.concatenate([leaving, entering]), return_inverse=True)
        shares = np.zeros((len(changed), len(points)))
        shares[places.reshape(2, -1), np.arange(len(points))] = turns
        kept = 1.0 - np.bincount(places, (turns * scales).ravel())
        turned = kept[:, None] * self.units[changed] + shares @ points
        self.units[changed] = unit_lengths(np.maximum(turned, 0.0))
        energies = self.energies[changed] + np.bincount(places, np.concatenate([-losses, gains]))
        self.energies[changed] = np.maximum(energies, 0.0)


def energies_along(points: Samples, unit: Array) -> Array:
    """(N, c) energy of every point along unit directions (c, m)."""
    products = points.raw_products(unit)
    energies = np.square(products, out=products)
    energies *= points.multipliers()[:, None]
    return energies


def captured_next(sweep: DirectionSweep) -> Array:
    """(k,) what the directions after a sweep capture at the least: ``|S|^2 / w`` of each.

    A Rayleigh quotient: at most the top squared singular value of the points of the component.
    """
    return divide(square_lengths(sweep.sums), sweep.captured)


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
    size = max(FEWEST_POINTS_IN_A_BLOCK, -(-len(movable) // MOVE_BLOCKS))
    positions = [movable[part] for part in slices(len(movable), size)]
    blocks = list(zip(positions, points.cut(positions), strict=True))
    captured, labels, share = float(captured_next(best).sum()), best.labels, SHARE_MOVED_AT_ONCE
    for _ in range(max_passes):
        directions, moved_labels = _pass(points, blocks, best, labels, share)
        if np.array_equal(moved_labels, labels):
            break
        moved = points.update(moved_labels, directions)
        gained = float(captured_next(moved).sum()) - captured
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
    points: Samples,
    blocks: list[tuple[Array, Samples]],
    sweep: DirectionSweep,
    labels: Array,
    share: float,
) -> tuple[Array, Array]:
    """One pass over blocks of points: directions that have followed their points, and labels."""
    labels, components = labels.copy(), Components(sweep)
    for positions, block in blocks:
        alpha = energies_along(block, components.units)
        own, energies = labels[positions], components.energies
        targets, net = net_gains(alpha, block.weights, own, energies)
        better = np.flatnonzero(net > 1e-12 * block.weights)
        better = better[np.argsort(-net[better], kind="stable")]
        allowed = _not_too_much(
            block.weights[better], own[better], targets[better], share * energies
        )
        moving = better[allowed]
        if len(moving) == 0:
            continue
        leaving, entering = own[moving], targets[moving]
        weighted = points.at(positions[moving]) * np.sqrt(block.weights[moving])[:, None]
        components.move(weighted, alpha[moving, [leaving, entering]], leaving, entering)
        labels[positions[moving]] = entering
    return components.units, labels


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
