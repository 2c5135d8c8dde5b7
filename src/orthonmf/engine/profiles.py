"""Sweeps by profiles: which one every row is nearest to in divergence, and what the factors lose.

A component is a profile of any sum; given one, the best scale of a row x in the weights v of the
columns is ``<v, x> / <v, u>``, and of several profiles the nearest is that with the largest
``<v x, ln (v u / <v, u>)>``. What is published for a fit and what new rows get is the same code.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from orthonmf.engine.counts import (
    SMALLEST,
    Counts,
    entry_weights,
    fold_counts,
    reads_entries,
    sum_rows,
)
from orthonmf.engine.kernels.interface import Kernel
from orthonmf.engine.loadings import Projection
from orthonmf.engine.matrix import Matrix
from orthonmf.engine.placement import on_host
from orthonmf.typing import Array
from orthonmf.vectors import by_value, divide, unit_sums

# Divergences below this share of the sum of all entries are the rounding of their sums.
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class ProfileSweep:
    """Every row given to the nearest profile."""

    labels: Array  # (n,) int32, -1 for rows that hold nothing that any profile holds
    sums: Array  # (n,) of the rows, columns weighted
    pooled: Array  # (k, m) weighted sums of the rows of every label


def logarithms(profiles: Array) -> Array:
    """Logarithms of profiles (k, m) of any sum, brought to sum 1; never infinite."""
    return np.log(np.maximum(unit_sums(profiles), SMALLEST))


def sweep_profiles(matrix: Matrix, profiles: Array, pool: bool = True) -> ProfileSweep:
    """Give every row to the nearest profile (k, m, columns weighted), in one read.

    Row weights play no part in labels; the pooled sums, zeros unless ``pool``, have them.
    """
    n, m = matrix.shape
    row_weights, column_weights = entry_weights(matrix)
    labels, sums = np.zeros(n, dtype=np.int32), np.zeros(n)
    order = by_value(profiles)
    in_any = np.any(profiles, axis=0, keepdims=True)
    vectors = np.vstack([logarithms(profiles)[order], in_any, np.ones((1, m))])
    shared = {"directions": vectors * column_weights, "pool": pool}
    by_row = {"row_weights": row_weights}
    (pooled,) = matrix.fold(sweep_block, shared, by_row, rows=[labels, sums], sums=[profiles.shape])
    labels = np.take(np.append(order, np.int32(-1)), labels)
    labels[matrix.underflown], sums[matrix.underflown] = -1, 0.0
    return ProfileSweep(labels, sums, pooled[np.argsort(order)] * column_weights)


def sweep_block(
    kernel: Kernel[Any], rows: Any, directions: Array, pool: bool, row_weights: Array
) -> tuple[Array, Array, Array]:
    """Labels, sums of rows and pooled sums of one block.

    The last two directions tell what a row holds of the columns in any profile, and of all.
    """
    k = len(directions) - 2
    products = kernel.multiply_directions(rows, directions)
    labels = products[:, :k].argmax(axis=1)
    labels[products[:, k] <= 0] = -1
    pooled = np.zeros((k, rows.shape[1]))
    if pool:
        pooled = kernel.sum_members(rows, labels, row_weights, k, exact=True)
    return labels, products[:, k + 1], pooled


def pool_rows(matrix: Matrix, labels: Array, k: int) -> Array:
    """Weighted sums (k, m) of the rows of every label (n,); label -1 takes part in none."""
    row_weights, column_weights = entry_weights(matrix)
    shared = {"k": k, "exact": True}
    by_row = {"labels": labels, "coefficients": row_weights}
    (pooled,) = matrix.fold("sum_members", shared, by_row, sums=[(k, matrix.shape[1])])
    return pooled * column_weights


def group_rows(matrix: Matrix, labels: Array, k: int) -> Array:
    """(n, k) weighted sums of every row over the columns of every label (m,)."""
    row_weights, _ = entry_weights(matrix)
    members = (labels == np.arange(k)[:, None]).astype(np.float64)
    return row_weights[:, None] * on_host(matrix.products(matrix.weigh_columns(members)))


def express_by_profiles(matrix: Matrix, components: Array, orthogonal: str) -> Projection:
    """Express every row by components (k, m): the one closed form, for the fit and new data."""
    if len(components) == 0 or components.shape[1] != matrix.shape[1]:
        return matrix.express(components, orthogonal)  # nothing, or a refusal: of every loss
    profiles = components * entry_weights(matrix)[1]
    sizes = profiles.sum(axis=1)
    if orthogonal == "features":
        return Projection(_sum_groups(matrix, profiles, sizes))
    swept = sweep_profiles(matrix, profiles, pool=False)
    return _scaled(matrix, swept.labels, swept.sums, sizes)


def _scaled(matrix: Matrix, labels: Array, sums: Array, sizes: Array) -> Projection:
    """Rows of these labels (n,) and sums (n,), for components of these sizes (k,)."""
    scales = np.where(labels >= 0, divide(sums, np.append(sizes, 0.0)[labels]), 0.0)
    scales = matrix.publish_scales(scales)
    labels = np.where(scales > 0, labels, -1).astype(np.int32)
    return Projection(None, labels, scales, len(sizes))


def express_by_groups(matrix: Matrix, components: Array, labels: Array) -> Projection:
    """Every row expressed by the component (k, m) of its label (n,), -1 for none."""
    sizes = components @ entry_weights(matrix)[1]
    return _scaled(matrix, labels, sum_rows(matrix), sizes)


def _sum_groups(matrix: Matrix, profiles: Array, sizes: Array) -> Array:
    """(n, k) sums of every row over the columns of disjoint profiles, over the sizes of these."""
    order = by_value(profiles)
    shared = {"directions": (profiles[order] > 0) * entry_weights(matrix)[1]}
    return matrix.fill_loadings(
        order, "multiply_directions", shared, lambda block: divide(block, sizes[order])
    )


@dataclass(frozen=True)
class Lost:
    """What a factorization loses, in the units of `Matrix.amount`."""

    of_rows: Array  # (n,) divergence of every row; infinite where factors are zero and X is not
    at_most: Array  # (n,) what a single component loses of every row
    information: float  # N I(X; Y), their sum
    total: float  # N

    @cached_property
    def divergence(self) -> float:
        """That of all rows."""
        return float(self.of_rows.sum())

    @property
    def share(self) -> float:
        """Of the information; where there is none, 0 or infinity."""
        if self.information > ROUNDING * self.total and np.isfinite(self.divergence):
            return self.divergence / self.information
        return 0.0 if self.divergence <= ROUNDING * self.total else np.inf


def measure_divergence(
    matrix: Matrix,
    projection: Projection,
    components: Array,
    orthogonal: str,
    average: Array | None = None,
) -> Lost:
    """The divergence of stored factors, by entries, and the information there is.

    That takes two reads, or three of rows on a device.

    Loadings (n, k) that are zero in a row of X leave all of that row out of the fit. What rows tell
    is what sets them apart from an ``average`` row (m,) of any sum: that of X, where none is given.
    """
    feature_labels = None
    if orthogonal == "features":  # every entry is expressed by the component of its column
        winners = np.vstack([components, np.zeros(components.shape[1])]).argmax(axis=0)
        feature_labels = np.where(components.any(axis=0), winners, -1)
    weights, column_weights = entry_weights(matrix)
    together = sweep_profiles(matrix, column_weights[None, :])
    row_sums, column_sums = weights * together.sums, together.pooled[0]
    projection = projection.divide(matrix.exponent)
    loadings = projection.loadings
    profiles = components * column_weights
    fitted = weights * np.asarray(loadings @ profiles.sum(axis=1))
    total = float(column_sums.sum())
    compared = column_sums if average is None else average * column_weights
    shares, labels, scales = unit_sums(compared[None, :]), projection.labels, projection.scales
    if reads_entries(matrix) or feature_labels is not None:
        shared = {"shares": shares[0], "profiles": profiles, "feature_labels": feature_labels}
        by_row = {"row_sums": row_sums, "weights": weights, "labels": labels, "scales": scales}
        by_row["loadings"] = None if feature_labels is None else loadings
        lost, at_most = np.zeros((2, len(weights)))
        fold_counts(matrix, loss_block, shared, by_row, rows=[lost, at_most])
    else:
        lost = dense_losses(matrix, labels, scales, components)
        everyone, overall = np.zeros(len(weights), np.int32), divide(shares, column_weights)
        at_most = dense_losses(matrix, everyone, divide(row_sums, weights), overall)
    of_rows = np.maximum(fitted - row_sums + lost, 0.0)  # what is below zero is so by rounding
    return Lost(of_rows, at_most, max(float(at_most.sum()), 0.0), total)


def average_row(loadings: Any, components: Array) -> Array:
    """(m,) the sum of all fitted rows; that of the rows of X, where the divergence is smallest."""
    return np.asarray(loadings.sum(axis=0)).ravel() @ components


def dense_losses(matrix: Matrix, labels: Any, scales: Any, profiles: Array) -> Array:
    """(n,) ``sum x ln(x / fitted)`` of every row, from all entries of rows on a device.

    Profiles (k, m) are those of columns without weights.
    """
    row_weights, column_weights = entry_weights(matrix)
    lost = np.zeros(len(row_weights))
    shared = {"column_weights": column_weights, "profiles": profiles}
    matrix.fold("divergences", shared, {"labels": labels, "scales": scales}, rows=[lost])
    return row_weights * np.where(row_weights > 0, lost, 0.0)


def loss_block(
    counts: Counts,
    profiles: Array,
    shares: Array,
    feature_labels: Any,
    row_sums: Array,
    weights: Array,
    labels: Any,
    scales: Any,
    loadings: Any,
) -> tuple[Array, Array]:
    """(b,) ``sum x ln(x / fitted)`` of every row, and ``sum x ln(x / (r c / N))``.

    Rows are fitted by their labels and scales, or, by their loadings, with labels of the columns.
    """
    x, columns, owners = counts.rows.data, counts.rows.indices, counts.owners
    if labels is not None:
        component, loading = labels[owners], scales[owners]
    else:
        component = feature_labels[columns]
        loading = loadings[owners, component]
    fitted = np.where(component >= 0, weights[owners] * loading * profiles[component, columns], 0)
    expected = row_sums[owners] * shares[columns]
    with np.errstate(divide="ignore"):
        lost, most = x * np.log(x / fitted), x * np.log(x / expected)
    return counts.sum_entries(lost), counts.sum_entries(most)
