"""The one answer of a partition: the top singular vector of every block, to rounding.

All blocks are iterated at once: one read of the data multiplies every block's matrix with its
own vector, so the cost of a step does not grow with their number.
"""

from __future__ import annotations

import numpy as np

from orthant.arrays import Array
from orthant.engine.points import Samples, divided, unit_lengths

# Krylov vectors kept before a restart, and restarts at most.
BASIS = 6
RESTARTS = 20
RESIDUAL = 1e-14
FLOOR = 1e-10
ROUNDS = 10
# More entries than this are not read a dozen times more for the last digits.
MOST_ENTRIES = 2**24


def canonical(points: Samples, form: Array, *, disjoint: bool = False) -> Array:
    """Directions that are the top singular vectors of the blocks they win, to rounding.

    Alternates exact directions and exact assignment until no label changes; the captured energy
    never falls. With ``disjoint`` every direction keeps to the coordinates it has. Data too large
    for that many reads are returned as they are.
    """
    if points.matrix.n_entries > MOST_ENTRIES:
        return form
    support = form > 0 if disjoint else None
    labels = None
    for _ in range(ROUNDS):
        sweep = points.sweep_directions(form)
        if labels is not None and np.array_equal(labels, sweep.labels):
            break
        labels = sweep.labels
        form = top_directions(points, labels, form, support)
    return form


def top_directions(
    points: Samples, labels: Array, form: Array, support: Array | None = None
) -> Array:
    """Top right singular vector of the rows of every label, (k, m), from a start near it.

    Restarted Lanczos for all labels together. ``support`` (k, m), if given, says which columns
    belong to the block. Directions whose label no row carries come out zero.
    """
    vectors = unit_lengths(form if support is None else np.where(support, form, 0.0))
    last = np.inf
    for _ in range(RESTARTS):
        vectors, residual = _krylov(points, labels, vectors, support)
        # Below the floor, standing still means that this arithmetic cannot tell any better.
        if residual <= RESIDUAL or (residual < FLOOR and residual > last / 4):
            break
        last = residual
    # Non-negative data have a non-negative top vector; rounding may leave a sign behind.
    return np.abs(vectors)


def _krylov(
    points: Samples, labels: Array, start: Array, support: Array | None
) -> tuple[Array, float]:
    """The Ritz vectors of one Krylov space per label, and the largest relative residual before."""
    basis = [start]
    images: list[Array] = []
    residual = 0.0
    for number in range(BASIS):
        # The block's matrix times its vector, which may have any sign.
        image = points.step(labels, basis[-1]).form
        if support is not None:
            image = np.where(support, image, 0.0)
        images.append(image)
        if number == 0:
            values = np.einsum("sh,sh->s", image, start)
            rest = np.linalg.norm(image - values[:, None] * start, axis=1)
            residual = float(divided(rest, values).max(initial=0.0))
            if residual <= RESIDUAL:
                return start, residual
        if number + 1 < BASIS:
            basis.append(_next(image, basis))
    stacked, multiplied = np.stack(basis), np.stack(images)  # (j, k, m)
    projected = np.einsum("ash,bsh->sab", stacked, multiplied)
    _, eigenvectors = np.linalg.eigh((projected + projected.transpose(0, 2, 1)) / 2)
    return unit_lengths(np.einsum("sa,ash->sh", eigenvectors[:, :, -1], stacked)), residual


def _next(image: Array, basis: list[Array]) -> Array:
    """The image with all earlier vectors taken out, twice, at length one (or zero)."""
    vector = image
    before = np.linalg.norm(image, axis=1, keepdims=True)
    for _ in range(2):
        for earlier in basis:
            vector = vector - np.einsum("sh,sh->s", earlier, vector)[:, None] * earlier
    length = np.linalg.norm(vector, axis=1, keepdims=True)
    # What is left of an invariant space is noise, not a direction.
    return np.where(length > 1e-10 * before, divided(vector, length), 0.0)
