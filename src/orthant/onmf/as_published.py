"""The error of the paper's own answer, which the final assignment of every fit can only lower.

The paper ends with the labels that its steps found. Here one more assignment follows, by the
published components, so that `transform` gives new rows what the fit gave the old ones. It is not
in the paper; the error before it is the last but one of the history.
"""

from __future__ import annotations

from orthant.engine.points import Points
from orthant.factorization import Factorization
from orthant.numerics.arrays import Array


def error_as_published(points: Points, directions: Array, labels: Array) -> float:
    """The relative squared error when every point keeps the label (N,) that the paper gives it.

    Scales are the best for these labels (the paper's theta); label -1 takes the scale 0. Costs
    one read of the data.
    """
    captured = float(points.step(labels, directions).captured.sum())
    return max(0.0, 1.0 - captured / points.total)


def published_error(result: Factorization) -> float | None:
    """The relative squared error before the final assignment of a fit by the paper's algorithm.

    None where the last step of the paper is that assignment itself (Theorem 9).
    """
    return result.history[-2] if len(result.history) > 1 else None
