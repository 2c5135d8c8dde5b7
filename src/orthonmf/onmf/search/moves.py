"""Moving single points between components, judged by what both components become.

Assigning a point to its best direction ignores that directions follow their points. Here a point
moves when the energy that the component it enters is sure to gain exceeds the most that the
component it leaves can lose, both by the Ritz values of a two-dimensional subspace. Moves under the
Kullback-Leibler divergence are exact: `onmf/divergence/moves.py`.
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
REFITS = 3
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
    # Gain of entering: the top eigenvalue of [[e + a, sqrt(ab)], [sqrt(ab), b]] less e, where a + b
    # is the weight w: h + sqrt(h^2 + a e) with h = (w - e) / 2.
    halves = (weights - energies) / 2
    gains = np.square(halves)
    gains += alpha * energies
    np.sqrt(gains, out=gains)
    gains += halves
    # Loss of leaving: e less the top eigenvalue of [[e - a, -sqrt(ab)], [-sqrt(ab), 0]].
    own_alpha, own_energies = alpha[everyone, labels], energies[everyone, labels]
    own_beta = np.maximum(weights[everyone, labels] - own_alpha, 0.0)
    rest = np.maximum(own_energies - own_alpha, 0.0)
    losses = own_energies - (rest + np.sqrt(np.square(rest) + 4 * own_alpha * own_beta)) / 2
    gains[everyone, labels] = -np.inf
    targets = gains.argmax(axis=1)
    return targets, gains[everyone, targets] - losses


class MoveBlocks:
    """The points that may move, cut into small blocks, ready for passes of single moves."""

    def __init__(self, points: Samples, movable: Array) -> None:
        self.points = points
        size = max(FEWEST_POINTS_IN_A_BLOCK, -(-len(movable) // MOVE_BLOCKS))
        self.positions = [movable[part] for part in slices(len(movable), size)]
        self.blocks = points.cut(self.positions)


class Components:
    """Sums, directions and energies of the components while points move between them."""

    def __init__(self, sums: Array, squares: Array) -> None:
        self.sums, self.squares = sums, squares  # sum_i s_i x_i and sum_i s_i^2 per component
        self.units, self.energies = np.zeros_like(sums), np.zeros_like(squares)
        self.refresh(np.arange(len(sums)))

    def refresh(self, changed: Array) -> None:
        """Directions and energies of the components that changed."""
        squared_lengths = square_lengths(self.sums[changed])
        self.units[changed] = divide(self.sums[changed], np.sqrt(squared_lengths)[:, None])
        # |sum s_i x_i|^2 / sum s_i^2 is a Rayleigh quotient: at most the top squared singular
        # value, and close to it when the scales are.
        self.energies[changed] = divide(squared_lengths, self.squares[changed])


def move_points(points: Samples, solution: Solution, *, max_passes: int, tol: float) -> Solution:
    """Pass over points, moving those that should, until a pass gains less than ``tol``.

    ``tol`` is relative to the error. A pass that does not raise the captured energy is undone,
    so the error never rises. Where all moves together promise little, none is made.
    """
    least = WORTH_A_PASS * tol * (points.total - solution.captured)
    sweep = solution.sweep or points.sweep_directions(solution.directions)
    promised, movable = look_at_moves(points, solution.directions, sweep)
    if not promised > least:
        return solution
    blocks, labels = MoveBlocks(points, movable), sweep.labels
    best = refit(points, solution, labels)
    share = SHARE_MOVED_AT_ONCE
    for _ in range(max_passes):
        sums, moved_labels = _pass(blocks, best.directions, labels, share)
        if moved_labels is None:
            break
        moved = refit(points, Solution(sums), moved_labels)
        gained = moved.captured - best.captured
        if gained <= 0:  # too much moved at once: try again with more care
            share /= 8
            if share < SMALLEST_SHARE:
                break
            continue
        history = best.history + errors_of((moved.captured,), points.total)
        best = Solution(moved.directions, moved.captured, history)
        labels = moved_labels
        if gained <= tol * (points.total - best.captured):
            break
    return best


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
    products = looked.raw_products(unit_lengths(directions))
    labels = sweep.labels[positions]
    alpha = np.square(products, out=products)
    alpha *= looked.multipliers()[:, None]
    _, net = net_gains(alpha, looked.weights, labels, sweep.captured)
    return float(net[net > 0].sum()), positions[net > -3 * missed[positions]]


def refit(points: Samples, solution: Solution, labels: Array) -> Solution:
    """Power steps with labels held fixed; captured energy is that of the labels kept."""
    directions, captured = solution.directions, 0.0
    for _ in range(REFITS):
        updated = points.update(labels, directions)
        directions, captured = updated.sums, float(updated.captured.sum())
    return Solution(directions, captured, solution.history)


def _pass(
    blocks: MoveBlocks, directions: Array, labels: Array, share: float
) -> tuple[Array, Array | None]:
    """One pass: directions that have followed their points, and labels; None if none moved."""
    points = blocks.points
    labels = labels.copy()
    updated = points.update(labels, directions)
    scales = updated.products  # with which every point entered the sums
    state = Components(updated.sums.copy(), updated.captured.copy())
    n_moved = 0
    for block, positions in zip(blocks.blocks, blocks.positions, strict=True):
        products = block.raw_products(state.units)
        moving, targets = _choose(products, block, labels[positions], state, share)
        if len(moving) == 0:
            continue
        n_moved += len(moving)
        everyone = positions[moving]
        leaving = labels[everyone]
        entering_scales = products[moving, targets]
        weights = block.multipliers()[moving]
        k = len(state.sums)
        state.sums -= block.sums_of(moving, leaving, weights * scales[everyone], k)
        state.sums += block.sums_of(moving, targets, weights * entering_scales, k)
        state.squares -= np.bincount(leaving, weights * scales[everyone] ** 2, minlength=k)
        state.squares += np.bincount(targets, weights * entering_scales**2, minlength=k)
        np.maximum(state.sums, 0.0, out=state.sums)
        np.maximum(state.squares, 0.0, out=state.squares)
        labels[everyone], scales[everyone] = targets, entering_scales
        state.refresh(np.unique(np.concatenate([leaving, targets])))
    return state.sums, labels if n_moved else None


def _choose(
    products: Array, block: Samples, labels: Array, state: Components, share: float
) -> tuple[Array, Array]:
    """Points of a block that should move, best first and not too much at once, and where to."""
    here = np.flatnonzero((labels >= 0) & (block.weights > 0))
    own, energies = labels[here], state.energies
    alpha = (block.multipliers()[:, None] * np.square(products))[here]
    targets, net = net_gains(alpha, block.weights[here], own, energies)
    better = np.flatnonzero(net > 1e-12 * block.weights[here])
    better = better[np.argsort(-net[better], kind="stable")]
    allowed = _not_too_much(
        block.weights[here[better]], own[better], targets[better], share * energies
    )
    better = better[allowed]
    return here[better], targets[better]


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
