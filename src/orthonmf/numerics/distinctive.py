"""What makes a component different: features that weigh more in it than in any other."""

from __future__ import annotations

import numpy as np

from orthonmf.numerics.arrays import Array


def compare_weights(components: Array) -> Array:
    """How much more every feature weighs in a component than in any other one, (k, m).

    The components (k, m) have unit length. With one component, and where components share no
    feature, it is the weight itself; below zero where another component has more of a feature.
    """
    weights = np.asarray(components, dtype=np.float64)
    return weights - heaviest_elsewhere(weights)


def heaviest_elsewhere(weights: Array) -> Array:
    """The largest weight (k, m) that every feature has in another component; 0 if there is none."""
    if len(weights) < 2:
        return np.zeros_like(weights)
    columns = np.arange(weights.shape[1])
    first = weights.argmax(axis=0)
    rest = weights.copy()
    rest[first, columns] = -np.inf
    largest, second = weights[first, columns], rest.max(axis=0)
    elsewhere = np.broadcast_to(largest, weights.shape).copy()
    elsewhere[first, columns] = second
    return elsewhere


def distinctive_columns(weights: Array, ahead: Array, count: int) -> Array:
    """Features of one component that make it different, the most distinctive first.

    ``weights`` (m,) are those of the component, ``ahead`` (m,) how much more they are than
    elsewhere. Features that weigh nothing are left out.
    """
    order = np.argsort(-ahead, kind="stable")[: 2 * count + 8]
    used = order[weights[order] > 0]
    if len(used) < min(count, int((weights > 0).sum())):
        order = np.argsort(np.where(weights > 0, -ahead, np.inf), kind="stable")
        used = order[weights[order] > 0]
    return used[:count]
