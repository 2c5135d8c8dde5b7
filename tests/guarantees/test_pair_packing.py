"""Packings of row pairs: never above the double-factor optimum, whatever the components."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf.bounds.pairs import pair_packing_bound
from orthonmf.bounds.singular_values import tail_from_gram
from tests.guarantees.small_matrices import at_most, block_diagonal, small_matrices
from tests.oracles.double_factor import best_double_factor_error


def unit_rows(X):
    weights = np.einsum("ij,ij->i", X, X)
    return X / np.sqrt(np.where(weights > 0.0, weights, 1.0))[:, None], weights


def packing(X, **options):
    return pair_packing_bound(*unit_rows(X), **options).value


def scaled_to_one(X):
    largest = X.max()
    return X if largest == 0.0 else np.ldexp(X, -np.frexp(largest)[1])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("shape", "k"), [((3, 3), 3), ((4, 3), 2), ((3, 4), 2), ((5, 3), 2)])
def test_packings_never_exceed_the_optimum(seed, shape, k):
    rng = np.random.default_rng(seed)
    for X in map(scaled_to_one, small_matrices(rng, *shape, 30)):
        optimum, total = best_double_factor_error(X, k), float(np.sum(X**2))
        # This oracle subtracts what is captured from the whole, so it is off by its rounding.
        optimum += 1e-14 * total
        for sides in (X, X.T):
            assert at_most(packing(sides), optimum, total)


def test_blocks_that_fit_exactly_get_no_bound_though_careless_rounding_finds_one():
    rng = np.random.default_rng(0)
    careless = 0
    for _ in range(200):
        X = block_diagonal(rng, 8, 7, 3)
        assert packing(X) == 0.0
        rows, _ = unit_rows(X)
        cosines = rows @ rows.T
        overlap = np.sum(np.minimum(rows[:, None], rows) ** 2, axis=2)
        careless += np.minimum(1.0 - cosines, overlap)[np.triu_indices(8, 1)].max() > 0.0
    assert careless > 20


def test_sparse_rows_give_the_dense_value():
    rng = np.random.default_rng(3)
    X = rng.exponential(size=(40, 30)) * (rng.random((40, 30)) < 0.2)
    rows, weights = unit_rows(X)
    dense = pair_packing_bound(rows, weights).value
    assert dense > 0.0
    assert pair_packing_bound(csr_array(rows), weights).value == pytest.approx(dense, rel=1e-12)


def test_more_partners_give_a_larger_bound_and_it_can_beat_the_tail():
    X = np.random.default_rng(5).exponential(size=(12, 8))
    few, all_of_them = packing(X, n_partners=1), packing(X, n_partners=12)
    assert few <= all_of_them * (1 + 1e-9)
    assert all_of_them > tail_from_gram(X @ X.T, 6, 8).value


@pytest.mark.parametrize("X", [np.zeros((3, 4)), np.eye(3), np.ones((1, 4)), np.zeros((0, 4))])
def test_rows_without_a_conflict_cost_nothing(X):
    assert packing(X) == 0.0
