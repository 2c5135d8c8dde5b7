import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array

import orthonmf
from orthonmf.inputs.data import Data
from orthonmf.onmf.heaviest_classes import (
    factorize_heaviest,
    solve_heaviest,
    solve_heaviest_columns,
)
from orthonmf.steps.weight_reduction import FULL_RANK_RATIO
from orthonmf.vectors import unit_lengths
from tests.oracles.double_factor import best_double_factor_error

ROUNDING = 1e-12


def squared_error(X, result):
    directions = np.vstack((result.directions.toarray(), np.zeros(X.shape[1])))
    return np.sum((X - result.scales[:, None] * directions[result.labels]) ** 2)


def tiny_matrix(seed):
    """Up to 6 x 6: heavy tails, integers, parallel rows, weights, mixtures and rows of any size."""
    rng = np.random.default_rng(seed)
    n, m = rng.integers(2, 7, 2)
    X = rng.exponential(size=(n, m)) ** rng.integers(1, 5)
    X *= rng.random((n, m)) < rng.uniform(0.3, 1)
    kind = seed % 6
    if kind == 1:
        X = rng.integers(0, 3, (n, m)).astype(float)
    elif kind == 2:
        X = X[rng.integers(n, size=n)] * rng.exponential(size=(n, 1))
    elif kind == 3:
        X = X * np.sqrt(rng.exponential(size=(n, 1)) ** 3 * rng.exponential(size=m) ** 3)
    elif kind == 4:
        X = rng.dirichlet([0.3, 0.3], n) @ rng.exponential(size=(2, m))
    elif kind == 5:
        X = X * 10.0 ** rng.integers(-6, 7, (n, 1))
    return X, rng


@pytest.mark.slow
def test_error_is_within_the_ratio_and_the_packing_never_above_the_optimum():
    worst = 0.0
    for seed in range(480):
        X, rng = tiny_matrix(seed)
        k = int(rng.integers(1, 5))
        optimum = best_double_factor_error(X, k)
        slack = ROUNDING * np.sum(X**2)
        rows = csr_array(X) if seed % 3 == 0 else X
        # Where all classes are kept rows stay in their order, and any will do.
        most = k if k < min(X.shape) else None
        for order in (np.arange(len(X)), rng.permutation(len(X))):
            result = factorize_heaviest(rows[order], most)
            assert result.directions.shape[0] <= min(k, *X.shape)
            error = squared_error(X[order], result)
            assert error <= FULL_RANK_RATIO * optimum + slack, seed
            assert result.lower_bound <= optimum + slack, seed
            worst = max(worst, error / optimum if optimum > 1e6 * slack else 0.0)
    print(f"the worst ratio is {worst:.2f}")
    assert worst > 1.5  # matrices that are easy for it would show nothing


@pytest.mark.parametrize("by_gram", [False, True])
@pytest.mark.parametrize("seed", range(30))
def test_rows_columns_and_gram_matrices_keep_the_ratio_with_weights(seed, by_gram):
    X, rng = tiny_matrix(seed)
    X[0, 0] += 1.0
    k = int(rng.integers(1, 5))
    weights = rng.exponential(size=len(X)), rng.exponential(size=X.shape[1])
    matrix = Data(X, *weights, None, 1, None).read()
    solve = solve_heaviest_columns if by_gram else solve_heaviest
    solution = solve(matrix, k)
    Y = np.sqrt(weights[0])[:, None] * X * np.sqrt(weights[1])
    units = unit_lengths(solution.directions)
    captured = np.square(Y @ units.T).max(axis=1, initial=0.0).sum()
    assert len(units) <= k
    assert np.all(np.count_nonzero(units, axis=0) <= 1)
    total = np.sum(Y**2)
    assert total - captured <= FULL_RANK_RATIO * best_double_factor_error(Y, k) + ROUNDING * total


entries = st.one_of(
    st.just(0.0), st.integers(0, 3).map(float), st.floats(0, 100), st.floats(0, 1e-300)
)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    arrays(float, (4, 5), elements=entries),
    st.integers(1, 4),
    st.sampled_from([1.0, 1e-300, 1e290]),
)
def test_the_answer_of_the_default_keeps_the_ratio_at_every_scale(X, k, scale):
    X = X * scale
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = orthonmf.factorize(X, k, orthogonal="both", certificate=None, random_state=0)
    if result.promise.ratio is None:
        assert result.promise.reason or not X.any()
        return
    assert result.promise.kind == "always"
    assert result.promise.ratio < 14.93
    unit = X / X.max()
    total = np.sum(unit**2)
    error = result.relative_squared_error * total
    assert error <= result.promise.ratio * best_double_factor_error(unit, k) + ROUNDING * total


@pytest.mark.parametrize("nudge", [-1, 0, 1])
@pytest.mark.parametrize("cosine", [0.5, np.sqrt(3) / 2])
def test_rows_at_exactly_30_and_60_degrees_lose_weight_and_keep_the_ratio(cosine, nudge):
    x = np.nextafter(cosine, np.inf * nudge) if nudge else cosine
    X = np.array([[1.0, 0.0], [x, np.sqrt(1 - cosine**2)]])
    result = factorize_heaviest(X)
    assert result.lower_bound > 0
    assert squared_error(X, result) <= FULL_RANK_RATIO * best_double_factor_error(X, 2) + ROUNDING


@pytest.mark.filterwarnings("ignore::orthonmf.FewerComponentsWarning")
def test_data_far_away_keep_the_ratio_by_the_gram_matrix_of_few_columns():
    dask_array = pytest.importorskip("dask.array")
    X = np.random.default_rng(0).exponential(size=(5, 4)) ** 2
    far = dask_array.from_array(X, chunks=(2, 4))
    result = orthonmf.factorize(far, 2, orthogonal="both", certificate=None, random_state=0)
    assert result.promise.kind == "always"
    assert result.promise.ratio < 14.93
    assert result.error**2 <= 14.93 * best_double_factor_error(X, 2)
    wide = dask_array.from_array(np.random.default_rng(0).random((700, 400)), chunks=(350, 400))
    nothing = orthonmf.factorize(wide, 2, orthogonal="both", certificate=None, random_state=0)
    assert nothing.promise.ratio is None
    assert "algorithm='paper'" in nothing.promise.reason
