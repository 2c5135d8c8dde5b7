"""Losses: how far a factorization is from a matrix, and which loadings are the best of new rows.

Every loss is a row of a table; who expresses rows or measures an error looks it up by its name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from orthonmf.certificate import DIVERGENCE
from orthonmf.engine.loadings import Projection
from orthonmf.engine.matrix import Matrix
from orthonmf.engine.profiles import express_by_profiles, measure_divergence
from orthonmf.typing import Array

FROBENIUS, KULLBACK_LEIBLER = "frobenius", "kullback-leibler"


@dataclass(frozen=True, slots=True)
class Loss:
    """One loss."""

    # What adds up of entries: their squares, or they themselves. A weight w of a row or a column is
    # the same as its entries times the root of w of this degree.
    power: int
    error_name: str  # the attribute of a result that holds the relative error
    quantity: str  # what is compared with the smallest possible, in words
    error: str  # the relative error in words
    amount: str  # what components share out, in a word
    about: str  # what that is
    # (k,) what the components (k, m) of a result are brought to: 1.
    lengths: Callable[[Array], Array]
    # (k,) the same of the scales (n,) of the rows of every group, by their labels (n,).
    group_sizes: Callable[[Array, Array, int], Array]
    # Rows expressed by components (k, m) over a setting: the one closed form.
    express: Callable[[Matrix, Array, str], Projection]
    # The relative error of rows so expressed: 0 is exact, and no component at all, or one that
    # tells nothing, has 1. Of (matrix, projection, components (k, m), setting), and for new rows
    # the average row (m,) of the fit, from which what they tell sets them apart.
    relative_error: Callable[..., float]


def _relative_squared_error(
    matrix: Matrix, projection: Projection, components: Array, *setting: Any
) -> float:
    if not matrix.total > 0:
        return 0.0
    return matrix.squared_error(components, projection)[0] / matrix.total


def group_lengths(labels: Array, scales: Array, k: int) -> Array:
    """(k,) lengths of the scales (n,) of every group, whatever their size."""
    places, scales = labels + 1, scales.astype(np.float64)  # who has no group comes first
    largest = np.zeros(k + 1)
    np.maximum.at(largest, places, scales)
    shares = scales / np.where(largest > 0, largest, 1.0)[places]
    np.square(shares, out=shares)
    return (largest * np.sqrt(np.bincount(places, shares, minlength=k + 1)))[1:]


def group_sums(labels: Array, scales: Array, k: int) -> Array:
    """(k,) sums of the scales (n,) of every group."""
    inside = labels >= 0
    return np.bincount(labels[inside], scales[inside].astype(np.float64), minlength=k)


LOSSES = {
    FROBENIUS: Loss(
        power=2,
        error_name="relative_squared_error",
        quantity="squared error",
        error="relative squared error",
        amount="energy",
        about="the sum of the squared entries of the table",
        lengths=lambda components: np.linalg.norm(components, axis=1),
        group_sizes=group_lengths,
        express=Matrix.express,
        relative_error=_relative_squared_error,
    ),
    KULLBACK_LEIBLER: Loss(
        power=1,
        error_name="relative_error",
        quantity=DIVERGENCE,
        error="share of the information lost",
        amount="information",
        about="what a row tells about which columns its counts are in, beyond what all rows share",
        lengths=lambda components: components.sum(axis=1),
        group_sizes=group_sums,
        express=express_by_profiles,
        relative_error=lambda *given: measure_divergence(*given).share,
    ),
}
