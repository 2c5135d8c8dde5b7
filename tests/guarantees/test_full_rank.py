from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array

from orthonmf.onmf.full_rank import (
    BY_COSINE,
    AngleTests,
    factorize_full_rank,
)
from orthonmf.steps.weight_reduction import FULL_RANK_RATIO
from tests.oracles.double_factor import best_double_factor_error

ROUNDING = 1e-12


def dense(directions):
    return directions if isinstance(directions, np.ndarray) else directions.toarray()


def squared_error(X, result):
    directions = np.vstack((dense(result.directions), np.zeros(X.shape[1])))
    return np.sum((X - result.scales[:, None] * directions[result.labels]) ** 2)


def in_any_order(rng):
    """The tests of the library, with all pairs at once and shuffled."""

    def shuffled(rows):
        pairs = np.concatenate([np.zeros((0, 2), dtype=int), *BY_COSINE.middling(rows)])
        yield rng.permutation(pairs)

    return AngleTests(shuffled, BY_COSINE.close)


def tiny_matrix(seed):
    rng = np.random.default_rng(seed)
    shape = [(2, 3), (3, 3), (3, 4), (4, 3)][seed % 4]
    X = rng.exponential(size=shape) ** rng.integers(1, 4) * (
        rng.random(shape) < rng.uniform(0.4, 1)
    )
    return X, rng


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(10))
def test_error_is_within_the_ratio_and_the_packing_never_above_the_optimum(batch):
    for seed in range(batch * 200, batch * 200 + 200):
        X, rng = tiny_matrix(seed)
        optimum = best_double_factor_error(X, k=min(X.shape))
        slack = ROUNDING * np.sum(X**2)
        rows = csr_array(X) if seed % 3 == 0 else X
        for angles in (None, in_any_order(rng)):
            result = factorize_full_rank(rows, angles=angles)
            assert squared_error(X, result) <= FULL_RANK_RATIO * optimum + slack, seed
            assert result.lower_bound <= optimum + slack, seed


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(arrays(float, (5, 6), elements=st.floats(0, 100).map(partial(np.round, decimals=3))))
def test_both_factors_are_exactly_orthogonal(X):
    result = factorize_full_rank(X)
    assert np.all(np.count_nonzero(result.directions, axis=0) <= 1)
    assert np.all(result.directions >= 0)
    assert np.array_equal(result.labels < 0, result.scales == 0)
    assert np.array_equal(result.labels < 0, ~X.any(axis=1)) or len(result.directions)


@pytest.mark.parametrize("as_rows", [np.asarray, csr_array])
def test_planted_blocks_are_recovered_with_shuffling_and_zero_rows_and_columns(as_rows):
    rng = np.random.default_rng(4)
    X = np.zeros((20, 14))
    labels = np.r_[np.zeros(8), np.ones(6), np.full(6, -1)].astype(int)
    for label, columns in enumerate((slice(0, 5), slice(5, 12))):
        inside = labels == label
        X[inside, columns] = np.outer(
            rng.uniform(1, 5, inside.sum()), rng.uniform(1, 2, 14)[columns]
        )
    order = rng.permutation(20)
    X, labels = X[order][:, rng.permutation(14)], labels[order]
    result = factorize_full_rank(as_rows(X))
    assert squared_error(X, result) <= 1e-25 * np.sum(X**2)
    assert len(dense(result.directions)) == 2
    found = np.unique(np.stack((labels, result.labels)), axis=1)
    assert found.shape[1] == 3
    assert np.array_equal(result.labels == -1, labels == -1)


@pytest.mark.parametrize("nudge", [-1, 0, 1])
@pytest.mark.parametrize("cosine", [0.5, np.sqrt(3) / 2])
def test_rows_at_exactly_30_and_60_degrees_lose_weight_and_keep_the_ratio(cosine, nudge):
    x = np.nextafter(cosine, np.inf * nudge) if nudge else cosine
    X = np.array([[1.0, 0.0], [x, np.sqrt(1 - cosine**2)]])
    result = factorize_full_rank(X)
    assert result.lower_bound > 0
    assert squared_error(X, result) <= FULL_RANK_RATIO * best_double_factor_error(X, 2) + ROUNDING
