"""What there is to tell about a factorization: shares, sizes, orders, the best and the worst."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from orthonmf.cost import projection_of
from orthonmf.engine.losses import KULLBACK_LEIBLER
from orthonmf.engine.matrix import Matrix
from orthonmf.engine.profiles import measure_divergence
from orthonmf.evidence import read_given
from orthonmf.factorization import Factorization, one_per_row
from orthonmf.inputs.data import Data
from orthonmf.measures import non_orthogonality
from orthonmf.typing import Array
from orthonmf.vectors import divide
from orthonmf.views import component_of_features, strongest


@dataclass(frozen=True, slots=True, eq=False)
class Findings:
    """Figures about a factorization of one matrix.

    Feature weights of the fit are the metric here as well; sample weights play no part. Over
    features, where a row has a loading on every component, its label is that of the strongest,
    each compared with what is usual for its component. Labels are -1 for none. Under the
    Kullback-Leibler divergence information takes the place of squared lengths and norms.
    """

    matrix: Matrix  # the data, ready for passes; zeros in place of missing entries
    row_labels: Array  # (n,) the component of every row
    row_scales: Array  # (n,) its loading there
    row_shares: Array  # (n,) how much of its squared length is captured; NaN for zero rows
    row_misses: Array  # (n,) what is not captured, as a share of the squared norm of the matrix
    column_labels: Array  # (m,) where every column weighs most; with a core its group
    column_weights: Array  # (m,) its weight there, or its scale
    energies: Array  # (k,) the share of the squared norm that each component captures

    @property
    def captured(self) -> float:
        """The share of the squared norm that all components capture."""
        return float(self.energies.sum())

    def rows_of(self, component: int) -> Array:
        """Rows of a component, ascending."""
        return np.flatnonzero(self.row_labels == component)

    def columns_of(self, component: int) -> Array:
        """Columns that weigh most in a component, with a core those of a group, ascending."""
        return np.flatnonzero(self.column_labels == component)


def find(
    X: Any, result: Factorization, *, average: Array | None = None, **options: Any
) -> Findings:
    """Go over the (n, m) matrix that was factorized once more and take the figures.

    ``options`` are those of the fit that say how it is read: missing values, threads, memory. For
    new rows ``average`` (m,) is the average row of the fit, from which what they tell sets them
    apart.
    """
    matrix = read_given(Data(X, feature_weight=result.feature_weight, **options), result)
    row_labels, row_scales = strongest(result), result.scales
    if row_scales is None:
        row_scales = _entries_at(row_labels, np.asarray(result.loadings))
    if result.beta_loss == KULLBACK_LEIBLER:
        squares, captured, energies = _keep(matrix, result, average)
    else:
        squares = matrix.row_squares
        captured, energies = _capture(matrix, result)
    total = squares.sum()
    column_labels, column_weights = result.feature_labels, result.feature_scales
    if column_labels is None or column_weights is None:
        column_labels = component_of_features(result)
        column_weights = _entries_at(column_labels, result.components.T)
    return Findings(
        matrix=matrix,
        row_labels=row_labels,
        row_scales=row_scales,
        row_shares=np.where(squares > 0, np.minimum(divide(captured, squares), 1.0), np.nan),
        row_misses=divide(np.maximum(squares - captured, 0.0), total),
        column_labels=column_labels,
        column_weights=column_weights,
        energies=divide(energies, total),
    )


def _capture(matrix: Matrix, result: Factorization) -> tuple[Array, Array]:
    """Squared length captured of every row (n,) and by every component (k,), in matrix units.

    It is the loading times the product of row and component. The two are equal unless entries
    are missing.
    """
    k = result.n_components_found
    directions = matrix.metric(result.components).directions
    products = None if matrix.complete else matrix.products(directions)
    with np.errstate(under="ignore"):
        lengths = matrix.captured_lengths(projection_of(result), result.components)
        if result.labels is None:
            each = lengths * (lengths if products is None else products)
            return each.sum(axis=1), each.sum(axis=0)
    used = np.flatnonzero(result.labels >= 0)
    own = lengths[used] if products is None else products[used, result.labels[used]]
    captured = np.zeros(len(lengths))
    captured[used] = lengths[used] * own
    return captured, np.bincount(result.labels[used], captured[used], minlength=k)


def _keep(
    matrix: Matrix, result: Factorization, average: Array | None
) -> tuple[Array, Array, Array]:
    """The information in every row (n,), what is kept of it, and what every component keeps (k,).

    A row of which more is lost than there is keeps nothing. Nothing can be told of a new row that
    holds a column which the fit has not seen.
    """
    lost = measure_divergence(
        matrix, projection_of(result), result.components, result.orthogonal, average
    )
    information = np.where(np.isfinite(lost.at_most), np.maximum(lost.at_most, 0.0), 0.0)
    kept = np.where(np.isfinite(lost.of_rows), information - lost.of_rows, 0.0)
    if result.labels is None:
        assert result.information_shares is not None
        energies = result.information_shares * information.sum()
    else:
        used, k = result.labels >= 0, result.n_components_found
        energies = np.bincount(result.labels[used], kept[used], minlength=k)
    return information, np.maximum(kept, 0.0), np.maximum(energies, 0.0)


def _entries_at(labels: Array, values: Array) -> Array:
    """(n,) the entry of every row of ``values`` (n, k) at its label; 0 without one."""
    entries = np.zeros(len(labels), dtype=values.dtype)
    used = np.flatnonzero(labels >= 0)
    entries[used] = values[used, labels[used]]
    return entries


def is_exactly_orthogonal(result: Factorization) -> bool:
    """Whether the factors that should be orthogonal are, to the last bit."""
    checked = [result.W] if result.orthogonal != "features" else []
    if isinstance(result.n_components, tuple):
        assert result.feature_labels is not None
        assert result.feature_scales is not None
        n_groups = int(result.feature_labels.max(initial=-1)) + 1
        groups = one_per_row(result.feature_labels, result.feature_scales, n_groups)
        checked.append(groups.T)  # the right factor around the core
    elif result.orthogonal != "samples":
        checked.append(result.A.T)
    return all(non_orthogonality(factor) == 0.0 for factor in checked)
