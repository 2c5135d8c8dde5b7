"""Components of observed entries: against all partitions of tiny matrices, and from any start."""

import numpy as np
import pytest

from orthonmf.inputs.data import as_matrix
from orthonmf.onmf.masked import factorize_masked
from tests.onmf.small_points import some_options
from tests.oracles.masked import best_masked_error


def with_holes(seed, shape=(5, 4), share=0.25):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random(shape) < share, np.nan, rng.exponential(size=shape))
    X[0, 0], X[-1, -1] = np.nan, 1.0
    return X


def solve(X, k, orthogonal="samples", **options):
    rows, columns = options.pop("sample_weight", None), options.pop("feature_weight", None)
    matrix = as_matrix(X, sample_weight=rows, feature_weight=columns, missing_values=np.nan)
    given = {"n_init": 6, "tol": 1e-9, "max_iter": 200, "orthogonal": orthogonal, **options}
    return factorize_masked(matrix, some_options(k, **given))


def least_error(X, components):
    """The squared error of the best scales of rows over their observed entries, by definition."""
    error = 0.0
    for row in X:
        seen = ~np.isnan(row)
        errors = [np.sum(row[seen] ** 2)]
        for one in components[:, seen]:
            if one.any():
                errors.append(np.sum((row[seen] - (row[seen] @ one) / (one @ one) * one) ** 2))
        error += min(errors)
    return error


@pytest.mark.parametrize("orthogonal", ["samples", "features"])
def test_more_components_than_points_leave_no_error_and_hurt_nobody(orthogonal):
    X = with_holes(2, (3, 3))
    found = solve(X, 5, orthogonal)
    assert found.history[-1] < 1e-12
    assert np.isfinite(found.components).all()


@pytest.mark.parametrize("orthogonal", ["samples", "features"])
def test_rows_and_columns_of_which_nothing_is_observed_are_left_out(orthogonal):
    X = with_holes(4, (6, 5))
    X[2], X[:, 3] = np.nan, np.nan
    found = solve(X, 2, orthogonal)
    assert np.isfinite(found.components).all()
    assert not found.components[:, 3].any()
    without = solve(np.delete(np.delete(X, 2, axis=0), 3, axis=1), 2, orthogonal)
    assert found.history[-1] == pytest.approx(without.history[-1], rel=1e-3)


@pytest.mark.parametrize(
    ("orthogonal", "dtype"), [("samples", np.float64), ("features", np.float32)]
)
def test_tiny_matrices_are_fitted_as_well_as_by_trying_every_partition(orthogonal, dtype):
    X = with_holes(0)
    found = solve(X.astype(dtype), 2, orthogonal)
    best = best_masked_error(X if orthogonal == "samples" else X.T, 2, np.random.default_rng(0))
    assert found.history[-1] * np.nansum(X**2) == pytest.approx(best, rel=1e-3, abs=1e-6)
    assert np.isfinite(found.components).all()
    if orthogonal == "features":
        assert np.all(np.count_nonzero(found.components, axis=0) <= 1)


def test_the_error_counts_rows_as_often_as_they_weigh():
    X, weights = with_holes(1, (7, 4)), np.array([1, 2, 0, 1, 3, 1, 1])
    found = solve(X, 2, sample_weight=weights.astype(float), n_init=2)
    repeated = np.repeat(X, weights, axis=0)
    wanted = least_error(repeated, found.components) / np.nansum(repeated**2)
    assert found.history[-1] == pytest.approx(wanted, rel=1e-4)
