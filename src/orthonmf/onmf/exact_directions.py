"""The one answer of a partition: the top singular vector of every block, to rounding."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from orthonmf.engine.points import Points
from orthonmf.onmf.solution import Solution
from orthonmf.typing import Array
from orthonmf.vectors import unit_lengths

ROUNDS = 10


def find_exact_directions(points: Points, directions: Array, *, disjoint: bool = False) -> Array:
    """Directions (k, m) that are the top singular vectors of the blocks they win, to rounding.

    Alternates exact directions and exact assignment until no label changes; the captured energy
    never falls. With ``disjoint`` every direction keeps to the coordinates it has. For points in
    memory, and few of them.
    """
    assert points.at_hand is not None
    support = directions > 0 if disjoint else None
    rows, labels = points.at_hand.whole(), None
    for _ in range(ROUNDS):
        sweep = points.sweep_directions(directions)
        if labels is not None and np.array_equal(labels, sweep.labels):
            break
        labels = sweep.labels
        directions = find_top_directions(rows, labels, directions, support)
    return directions


def find_top_directions(
    rows: Array, labels: Array, near: Array, support: Array | None = None
) -> Array:
    """Top right singular vector of the rows (n, m) of every label, (k, m).

    ``support`` (k, m), if given, says which columns belong to the block. Where singular values
    are equal the vector nearest to ``near`` (k, m) stands for all. Directions whose label no row
    carries come out zero.
    """
    vectors = np.zeros_like(near)
    for s in range(len(near)):
        block = rows[labels == s]
        if support is not None:
            block = block * support[s]
        if block.any():
            vectors[s] = _top_vector(block, near[s])
    return unit_lengths(vectors)


def _top_vector(block: Array, near: Array) -> Array:
    """The top right singular vector, by the eigenvectors of the smaller Gram matrix."""
    wide = len(block) < block.shape[1]
    values, vectors = np.linalg.eigh(block @ block.T if wide else block.T @ block)
    top = vectors[:, values >= values[-1] * (1 - 1e-12)]
    right = block.T @ top if wide else top
    chosen = right @ (right.T @ near) if right.shape[1] > 1 else right[:, 0]
    # Non-negative data have a non-negative top vector; signs are arbitrary or rounding.
    return np.abs(chosen)


def may_be_exact(points: Points, most_entries: int = 2**14) -> bool:
    """Whether the data are so few that exact directions cost next to nothing.

    With more data a descent to the tolerance is enough.
    """
    return points.at_hand is not None and math.prod(points.matrix.shape) <= most_entries


def with_exact_directions(points: Points, solution: Solution, disjoint: bool = False) -> Solution:
    """The solution with the top singular vectors of the blocks that its directions win."""
    exact = find_exact_directions(points, solution.directions, disjoint=disjoint)
    steps = (*solution.steps, "exact directions")
    return replace(solution, directions=exact, sweep=None, steps=steps)
