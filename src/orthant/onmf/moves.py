"""Moving single points between components, judged by what both components become.

Assigning a point to its best direction ignores that directions follow their points. Here a point
moves when the energy that the component it enters is sure to gain exceeds the most that the
component it leaves can lose, both by the Ritz values of a two-dimensional subspace.
"""

from __future__ import annotations

import numpy as np

from orthant.engine.points import Samples
from orthant.numerics.arrays import Array, divided
from orthant.onmf.solution import Solution

# Within a block all moves are judged by the same directions. They stay right as long as little of
# a component comes or goes at once.
SHARE_MOVED_AT_ONCE = 0.1
SMALLEST_SHARE = 1e-4
MOVE_BLOCKS = 32
FEWEST_POINTS_IN_A_BLOCK = 32
REFITS = 3
# A component of fewer equal points than this turns when one of them moves.
DECISIVE_POINTS = 50


def single_points_matter(weights: Array, k: int) -> bool:
    """Whether a component has, on average, the weight of few points.

    Weights w are worth ``(sum w)^2 / sum w^2`` equal points. Where a component holds hundreds of
    them, moving one hardly turns its direction, and single moves find next to nothing.
    """
    return float(weights.sum()) ** 2 < DECISIVE_POINTS * k * float(weights @ weights)


class MoveBlocks:
    """The points of a fit cut into small blocks, ready for passes of single moves."""

    def __init__(self, points: Samples) -> None:
        self.points = points
        n = len(points.weights)
        size = max(FEWEST_POINTS_IN_A_BLOCK, -(-n // MOVE_BLOCKS))
        self.slices = [slice(start, min(start + size, n)) for start in range(0, n, size)]
        self.parts = [Samples(points.matrix.part(part)) for part in self.slices]


class Components:
    """Sums, directions and energies of the components while points move between them."""

    def __init__(self, sums: Array, squares: Array) -> None:
        self.sums, self.squares = sums, squares  # sum_i s_i x_i and sum_i s_i^2 per component
        self.units, self.energies = np.zeros_like(sums), np.zeros_like(squares)
        self.refresh(np.arange(len(sums)))

    def refresh(self, changed: Array) -> None:
        """Directions and energies of the components that changed."""
        squared_lengths = np.einsum("sh,sh->s", self.sums[changed], self.sums[changed])
        self.units[changed] = divided(self.sums[changed], np.sqrt(squared_lengths)[:, None])
        # |sum s_i x_i|^2 / sum s_i^2 is a Rayleigh quotient: at most the top squared singular
        # value, and close to it when the scales are.
        self.energies[changed] = divided(squared_lengths, self.squares[changed])


def move_points(blocks: MoveBlocks, solution: Solution, *, max_passes: int, tol: float) -> Solution:
    """Pass over all points, moving those that should, until a pass gains less than ``tol``.

    ``tol`` is relative to the error. A pass that does not raise the captured energy is undone,
    so the error never rises.
    """
    points = blocks.points
    total = float(points.weights.sum())
    labels = points.sweep_directions(solution.form).labels
    best = refit(points, solution, labels, REFITS)
    share = SHARE_MOVED_AT_ONCE
    for _ in range(max_passes):
        sums, moved_labels = _pass(blocks, best.form, labels, share)
        if moved_labels is None:
            break
        moved = refit(points, Solution(sums, 0.0), moved_labels, REFITS)
        gained = moved.captured - best.captured
        if gained <= 0:  # too much moved at once: try again with more care
            share /= 8
            if share < SMALLEST_SHARE:
                break
            continue
        best = Solution(moved.form, moved.captured, (*best.history, moved.captured))
        labels = moved_labels
        if gained <= tol * (total - best.captured):
            break
    return best


def refit(points: Samples, solution: Solution, labels: Array, n_steps: int) -> Solution:
    """Power steps with labels held fixed; captured energy is that of the labels kept."""
    form, captured = solution.form, 0.0
    for _ in range(n_steps):
        step = points.step(labels, form)
        form, captured = step.form, float(step.captured.sum())
    return Solution(form, captured, solution.history)


def _pass(
    blocks: MoveBlocks, form: Array, labels: Array, share: float
) -> tuple[Array, Array | None]:
    """One pass: directions that have followed their points, and labels; None if none moved."""
    points = blocks.points
    labels = labels.copy()
    step = points.step(labels, form)
    scales = step.products  # with which every point entered the sums
    state = Components(step.form.copy(), step.captured.copy())
    n_moved = 0
    for part, rows in zip(blocks.parts, blocks.slices, strict=True):
        products = part.raw_products(state.units)
        moving, targets = _chosen(products, part, labels[rows], state, share)
        if len(moving) == 0:
            continue
        n_moved += len(moving)
        everyone = rows.start + moving
        leaving = labels[everyone]
        entering_scales = products[moving, targets]
        weights = part.multipliers()[moving]
        k = len(state.sums)
        state.sums -= part.sums_of(moving, leaving, weights * scales[everyone], k)
        state.sums += part.sums_of(moving, targets, weights * entering_scales, k)
        state.squares -= np.bincount(leaving, weights * scales[everyone] ** 2, minlength=k)
        state.squares += np.bincount(targets, weights * entering_scales**2, minlength=k)
        np.maximum(state.sums, 0.0, out=state.sums)
        np.maximum(state.squares, 0.0, out=state.squares)
        labels[everyone], scales[everyone] = targets, entering_scales
        state.refresh(np.unique(np.concatenate([leaving, targets])))
    return state.sums, labels if n_moved else None


def _chosen(
    products: Array, part: Samples, labels: Array, state: Components, share: float
) -> tuple[Array, Array]:
    """Points of a block that should move, best first and not too much at once, and where to."""
    weights = part.multipliers()[:, None]
    alpha = weights * np.square(products)  # (b, k) energy along each direction
    beta = np.maximum(part.weights[:, None] - alpha, 0.0)
    energies = state.energies
    here = np.flatnonzero((labels >= 0) & (part.weights > 0))
    own = labels[here]
    # Gain of entering: top eigenvalue of [[e + a, sqrt(ab)], [sqrt(ab), b]] less e.
    half = (energies + alpha + beta) / 2
    gains = half + np.sqrt(np.square((energies + alpha - beta) / 2) + alpha * beta) - energies
    gains = gains[here]
    # Loss of leaving: e less the top eigenvalue of [[e - a, -sqrt(ab)], [-sqrt(ab), 0]].
    own_alpha, own_beta = alpha[here, own], beta[here, own]
    rest = np.maximum(energies[own] - own_alpha, 0.0)
    losses = energies[own] - (rest + np.sqrt(np.square(rest) + 4 * own_alpha * own_beta)) / 2
    gains[np.arange(len(here)), own] = -np.inf
    targets = gains.argmax(axis=1)
    net = gains[np.arange(len(here)), targets] - losses
    better = np.flatnonzero(net > 1e-12 * part.weights[here])
    better = better[np.argsort(-net[better], kind="stable")]
    kept = _not_too_much(part.weights[here[better]], own[better], targets[better], share * energies)
    better = better[kept]
    return here[better], targets[better]


def _not_too_much(weights: Array, leaving: Array, entering: Array, limits: Array) -> Array:
    """Which of the moves, best first, keep what leaves and enters each component in its limit."""
    kept = np.ones(len(weights), dtype=bool)
    for side in (leaving, entering):
        order = np.argsort(side, kind="stable")
        sums = np.cumsum(weights[order])
        starts = np.searchsorted(side[order], side[order], side="left")
        before = sums - weights[order] - (sums[starts] - weights[order][starts])
        # The first move of a component is always allowed.
        kept[order] &= (before == 0) | (before + weights[order] <= limits[side[order]])
    return kept
