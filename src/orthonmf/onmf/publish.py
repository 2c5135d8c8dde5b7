"""The last steps of every fit: assign all rows, order the components, take the error.

Labels, scales and error are those of one assignment by the published components, so projecting
the same data again gives the same bits. That assignment can only lower the error. It is also said
why components are missing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from itertools import accumulate

import numpy as np

from orthonmf.engine.loadings import Projection
from orthonmf.engine.matrix import Matrix
from orthonmf.engine.placement import on_host
from orthonmf.engine.points import DirectionSweep
from orthonmf.factorization import Factorization
from orthonmf.onmf.options import Options
from orthonmf.onmf.solution import Solution
from orthonmf.rounding import UNIT_ROUNDOFF
from orthonmf.typing import Array
from orthonmf.vectors import divide, winners_only


def publish(matrix: Matrix, solution: Solution, options: Options) -> Factorization:
    """A Factorization from the components (k, m) of a solution.

    Over features and both every column is given to one component, and components are made of
    those labels and one value per column: no two can share a column, whatever came in. With a core
    a component is made of groups of columns that share none, each with a scale of its own. A
    sweep that was made by these components, over points whose sweeps are final, saves the final
    assignment.
    """
    orthogonal = options.orthogonal
    groups, components = _separate(solution)
    if groups is None and orthogonal != "samples":
        components = winners_only(components)
    unit = unit_rows(components).astype(matrix.dtype)
    unit = unit[unit.any(axis=1)]
    expressed = _of_sweep(matrix, unit, solution.sweep) or matrix.express(unit, orthogonal)
    # Without components that won nothing the products of the others may round differently.
    while not ((energies := matrix.energies_of(unit, expressed)) > 0).all():
        unit = unit[energies > 0]
        del expressed  # it may be as large as the result
        expressed = matrix.express(unit, orthogonal)
    steps = (*solution.steps, "final assignment", *matrix.remarks)
    solution = replace(solution, steps=steps, n_sweeps=solution.n_sweeps + 1)
    return _assemble(matrix, unit, expressed, energies, solution, options, groups)


def _separate(solution: Solution) -> tuple[Array | None, Array]:
    """Groups of columns (l, m) that share none, where there are any, and components (k, m) of them.

    Without groups the components are as they were found.
    """
    if solution.groups is None:
        return None, solution.components
    groups = unit_rows(winners_only(solution.groups))
    return groups, (solution.components @ groups.T) @ groups


def publish_labels(
    matrix: Matrix, labels: Array | None, solution: Solution, options: Options
) -> Factorization:
    """The same with the rows' labels (n,) held fixed; over features there are none.

    Every row keeps its label, unless its product with that component is zero.
    """
    groups, components = _separate(solution)
    components = unit_rows(components).astype(matrix.dtype)
    used = np.flatnonzero(components.any(axis=1))
    unit = components[used]
    if labels is None:
        expressed = matrix.express(unit, "features")
    else:
        numbers = np.full(len(components) + 1, -1, dtype=np.int32)  # the last one for label -1
        numbers[used] = np.arange(len(used))
        labels = numbers[labels]
        inside = np.flatnonzero(labels >= 0)
        scales = np.zeros(len(labels), dtype=matrix.dtype)
        scales[inside] = on_host(matrix.loadings(unit))[inside, labels[inside]]
        labels[scales == 0] = -1
        expressed = Projection(None, labels, scales, len(unit))
    energies = matrix.energies_of(unit, expressed)
    return _assemble(matrix, unit, expressed, energies, solution, options, groups)


def _assemble(
    matrix: Matrix,
    unit: Array,
    expressed: Projection,
    energies: Array,
    solution: Solution,
    options: Options,
    groups: Array | None,
) -> Factorization:
    """Components by the energy they capture, and the error of rows expressed by them."""
    orthogonal = options.orthogonal
    order = np.argsort(-energies, kind="stable")
    unit, energies = unit[order], energies[order]
    projection = expressed.in_order(order)
    squared, _ = matrix.squared_error(unit, projection, energies)
    projection = projection.on_host()
    feature_labels, feature_scales = None, None
    if groups is not None:
        feature_labels, feature_scales = winners_of_columns(_in_use(groups, unit, energies))
    elif orthogonal != "samples":
        feature_labels, feature_scales = winners_of_columns(unit)
    total = matrix.total
    error = squared / total if total > 0 else 0.0
    return Factorization(
        orthogonal=orthogonal,
        n_components=options.asked,
        components=unit,
        loadings=projection.loadings,
        labels=projection.labels,
        scales=projection.scales,
        feature_labels=feature_labels,
        feature_scales=feature_scales,
        error=matrix.in_units_of_x(math.sqrt(squared)),
        relative_squared_error=error,
        history=fall_to(solution.history, error),
        n_sweeps=solution.n_sweeps,
        steps_run=solution.steps,
        shortage=shortage_of(unit, feature_labels, options.asked, solution.unused),
    )


def _in_use(groups: Array, unit: Array, energies: Array) -> Array:
    """Groups of columns (l, m) that components (k, m) make use of, by the energy they capture."""
    captured = energies @ np.square(unit @ groups.T)
    order = np.argsort(-captured, kind="stable")
    used = groups[order[captured[order] > 0]].astype(unit.dtype)
    return np.where(unit.any(axis=0), used, 0)


def fall_to(errors: Iterable[float], last: float) -> tuple[float, ...]:
    """Errors of a fit as what was accepted so far, never rising, and ``last`` at the end.

    A step is accepted only if it loses nothing, so an error that seems to rise, or to lie below the
    one that was published, does so by the rounding of the pass that measured it.
    """
    return (*(max(error, last) for error in accumulate(errors, min)), last)


def unit_rows(components: Array) -> Array:
    """Rows at length 1; scaled by their largest entry first, so that squares cannot underflow.

    Rows (k, m) whose squared length is within the rounding of m products of 1 stay as they are.
    """
    rounding = 2.0 * (components.shape[1] + 5) * UNIT_ROUNDOFF
    near = np.abs(np.einsum("sh,sh->s", components, components) - 1.0) <= rounding
    if near.all():
        return components + 0.0  # no negative zeros
    peaks = components.max(axis=1, initial=0.0, keepdims=True)
    scaled = divide(components, peaks)
    unit = divide(scaled, np.linalg.norm(scaled, axis=1, keepdims=True))
    unit[near] = components[near]
    return unit + 0.0


def _of_sweep(matrix: Matrix, unit: Array, sweep: DirectionSweep | None) -> Projection | None:
    """What a final sweep by these components has found; None if it was made by others."""
    if sweep is None or sweep.unit is None:
        return None
    if not np.array_equal(sweep.unit.astype(matrix.dtype), unit):
        return None
    projected = matrix.project_sweep(sweep.labels, sweep.products)
    return None if projected is None else Projection(None, *projected, len(unit))


def winners_of_columns(components: Array) -> tuple[Array, Array]:
    """Which component every column belongs to, and with what scale; -1 and 0 for none."""
    if len(components) == 0:
        n_columns = components.shape[1]
        return np.full(n_columns, -1, dtype=np.int32), np.zeros(n_columns, components.dtype)
    labels = components.argmax(axis=0).astype(np.int32)
    scales = components[labels, np.arange(components.shape[1])]
    return np.where(scales > 0, labels, np.int32(-1)), scales


def shortage_of(
    unit: Array, feature_labels: Array | None, asked: int | tuple[int, int], reason: str
) -> str:
    """A sentence when fewer components, or groups, than asked for are in use; else empty."""
    if isinstance(asked, tuple):
        assert feature_labels is not None
        n_groups = int(feature_labels.max(initial=-1)) + 1
        sides = [("groups of rows", len(unit), asked[0]), ("groups of columns", n_groups, asked[1])]
    else:
        sides = [("components", len(unit), asked)]
    said = [
        f"{in_use} of the {wanted} {what} asked for are in use"
        for what, in_use, wanted in sides
        if in_use < wanted
    ]
    return f"{', '.join(said)}: {reason}" if said else ""
