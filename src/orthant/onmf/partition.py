"""The best factors of a partition that is given: one power iteration for every group."""

from __future__ import annotations

import numpy as np

from orthant.engine.features import columns_of
from orthant.engine.matrix import Matrix
from orthant.engine.points import Points
from orthant.engine.samples import Samples
from orthant.factorization import Factorization
from orthant.numerics.arrays import Array
from orthant.onmf.options import Options
from orthant.onmf.publish import publish_labels
from orthant.onmf.solution import Solution, errors_of

STEP = "refit of given labels"
MAX_STEPS = 1000
TOLERANCE = 1e-10


def refit_partition(
    matrix: Matrix, labels: Array | None, feature_labels: Array | None, options: Options
) -> Factorization:
    """The factorization with the smallest error among those with these labels.

    ``labels`` (n,) and ``feature_labels`` (m,) number groups from 0, -1 for none; one of the two
    may be left out. With both, rows and columns of the same number are a block.
    """
    rows = labels is not None
    points: Points = Samples(matrix) if rows else columns_of(matrix)
    held = labels if labels is not None else feature_labels
    assert held is not None
    support = None
    if rows and feature_labels is not None:
        support = np.arange(options.n_components)[:, None] == feature_labels
    directions, captured = _find_directions(points, held, support, options.n_components)
    solution = Solution(
        directions,
        captured[-1],
        errors_of(tuple(captured), points.total),
        n_sweeps=len(captured),
        steps=(STEP,),
        components=points.components_of(held, directions),
        unused="the labels name no more groups that hold anything",
    )
    return publish_labels(matrix, labels, solution, options)


def _find_directions(
    points: Points, labels: Array, support: Array | None, k: int
) -> tuple[Array, list[float]]:
    """Top singular directions (k, m) of the points of every label, and what each step captured.

    All groups take a power step in one read, from the weighted sum of their points: of
    non-negative points no top singular direction is orthogonal to it. With ``support`` (k, m) a
    direction has only the coordinates of its block.
    """
    directions = points.sums(labels, k)
    captured: list[float] = []
    while len(captured) < MAX_STEPS:
        if support is not None:
            directions = np.where(support, directions, 0.0)
        step = points.step(labels, directions)
        captured.append(float(step.captured.sum()))
        if len(captured) > 1:
            gained = captured[-1] - captured[-2]
            if gained <= TOLERANCE * max(points.total - captured[-1], 0.0):
                break
        directions = step.sums
    return directions, captured
