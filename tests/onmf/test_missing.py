"""Components of observed entries: against all partitions of tiny matrices, and from any start."""

import numpy as np
import pytest

from orthonmf.inputs.data import as_matrix
from orthonmf.onmf.missing import factorize_masked
from tests.onmf.small_points import some_options


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
