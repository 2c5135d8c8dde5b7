"""The last steps of every fit: order the components, assign once more, take the error.

Labels, scales and error are those of one assignment by the published components, so projecting
the same data again gives the same bits. That assignment can only lower the error; except with
feature weights, which shape the components but not how rows are expressed by them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from orthant.arrays import Array
from orthant.engine.matrix import Matrix
from orthant.engine.points import divided
from orthant.factorization import Factorization, Projection, project

# Below this share of the squared norm the difference "norm minus captured" has lost its digits.
CANCELLATION = {np.dtype(np.float64): 1e-8, np.dtype(np.float32): 1e-2}


@dataclass(frozen=True, slots=True)
class Trace:
    """What a fit did on the way, for the record."""

    history: tuple[float, ...] = ()
    n_sweeps: int = 0
    steps_run: tuple[str, ...] = ()


def publish(
    matrix: Matrix,
    components: Array,
    orthogonal: str,
    n_components: int,
    trace: Trace,
    reason: str,
) -> Factorization:
    """A Factorization from components (k, m) of any length, in the geometry of X.

    Over features and both the supports of the components must be disjoint already. ``reason``
    says why, when fewer components than asked for are in use.
    """
    unit = unit_rows(components).astype(matrix.dtype)
    unit = unit[unit.any(axis=1)]
    projection, energies = _projected(matrix, unit, orthogonal)
    # Dropping and reordering may change who wins a tie: assign again until nothing moves.
    for _ in range(len(unit) + 1):
        order = np.argsort(-energies, kind="stable")
        order = order[energies[order] > 0]
        if np.array_equal(order, np.arange(len(unit))):
            break
        unit = unit[order]
        del projection  # it may be as large as the result
        projection, energies = _projected(matrix, unit, orthogonal)
    squared = squared_error(matrix, unit, projection, energies)
    feature_labels, feature_scales = None, None
    if orthogonal != "samples":
        feature_labels, feature_scales = winners_of_columns(unit)
    total = matrix.total
    return Factorization(
        orthogonal=orthogonal,
        n_components=n_components,
        components=unit,
        loadings=projection.loadings,
        labels=projection.labels,
        scales=projection.scales,
        feature_labels=feature_labels,
        feature_scales=feature_scales,
        error=matrix.in_units_of_x(math.sqrt(squared)),
        relative_squared_error=squared / total if total > 0 else 0.0,
        history=trace.history,
        n_sweeps=trace.n_sweeps + 1,
        steps_run=(*trace.steps_run, "final assignment"),
        shortage=shortage(len(unit), n_components, reason),
    )


def unit_rows(components: Array) -> Array:
    """Rows at length 1; scaled by their largest entry first, so that squares cannot underflow."""
    peaks = components.max(axis=1, initial=0.0, keepdims=True)
    scaled = divided(components, peaks)
    unit = divided(scaled, np.linalg.norm(scaled, axis=1, keepdims=True))
    return unit + 0.0  # no negative zeros


def _projected(matrix: Matrix, unit: Array, orthogonal: str) -> tuple[Projection, Array]:
    projection = project(matrix, unit, orthogonal)
    return projection, matrix.energies(projection.loadings, projection.labels, len(unit))


def squared_error(matrix: Matrix, unit: Array, projection: Projection, energies: Array) -> float:
    """Squared error in the units of Y, without cancellation."""
    total = matrix.total
    squared = total - float(energies.sum())
    # The short formula needs the products of the error's own geometry.
    weighted = matrix.column_factors is not None
    accurate = scales_are_accurate(projection.loadings)
    if weighted or not accurate or squared < CANCELLATION[matrix.dtype] * total:
        return matrix.residual(projection.loadings, unit)
    return squared


def scales_are_accurate(loadings: Any) -> bool:
    """Whether no stored scale is so small that it has lost digits to underflow."""
    values = loadings if isinstance(loadings, np.ndarray) else loadings.data
    limits = np.finfo(values.dtype)
    smallest = np.min(values, initial=np.inf, where=values > 0)
    return bool(smallest > limits.tiny / limits.eps)


def winners_of_columns(components: Array) -> tuple[Array, Array]:
    """Which component every column belongs to, and with what scale; -1 and 0 for none."""
    if len(components) == 0:
        n_columns = components.shape[1]
        return np.full(n_columns, -1, dtype=np.int32), np.zeros(n_columns, components.dtype)
    labels = components.argmax(axis=0).astype(np.int32)
    scales = components[labels, np.arange(components.shape[1])]
    return np.where(scales > 0, labels, np.int32(-1)), scales


def shortage(found: int, n_components: int, reason: str) -> str:
    """A sentence when fewer components than asked for are in use; empty otherwise."""
    if found >= n_components:
        return ""
    return f"{found} of the {n_components} components asked for are in use: {reason}"
