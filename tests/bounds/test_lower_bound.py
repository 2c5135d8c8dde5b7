"""The record of a bound, and what every function that makes one keeps to."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from orthonmf.bounds.all_pairs import all_pairs_bound
from orthonmf.bounds.allowance import Allowance
from orthonmf.bounds.blocks import blocks_bound
from orthonmf.bounds.grouped import grouped_bound
from orthonmf.bounds.lower_bound import LowerBound
from orthonmf.bounds.pair_packing import pair_packing_bound
from orthonmf.bounds.singular_values import tail_from_gram, tail_from_groups, tail_from_ritz

BOUNDS = {
    "all pairs": lambda X, k: all_pairs_bound(X @ X.T, k, X.shape[1], Allowance()),
    "groups of points": lambda X, k: grouped_bound(X, X.T @ X, k, Allowance()),
    "blocks": lambda X, k: blocks_bound(X, X @ X.T, k, Allowance(), max_iter=20),
    "pairs": lambda X, k: pair_packing_bound(X, np.einsum("ij,ij->i", X, X)),
    "tail": lambda X, k: tail_from_gram(X @ X.T, k, X.shape[1]),
    "tails of groups": lambda X, k: tail_from_groups([X @ X.T], k, X.shape[1]),
    "cheap tail": lambda X, k: tail_from_ritz(X @ X.T, k, X.shape[1]),
}
MATRICES = {
    "zeros": np.zeros((3, 4)),
    "one block": np.outer([1.0, 2.0, 3.0], [1.0, 1.0, 2.0, 0.5]),
    "disjoint blocks": np.array([[1.0, 2.0, 0, 0], [2.0, 4.0, 0, 0], [0, 0, 3.0, 1.0]]),
}


def test_a_bound_is_what_was_proven_and_stays_it():
    bound = LowerBound(0.5, "its singular values")
    assert bound == LowerBound(0.5, "its singular values")
    assert bound != LowerBound(0.5, "another way")
    with pytest.raises(FrozenInstanceError):
        bound.value = 1.0


@pytest.mark.parametrize("matrix", MATRICES)
@pytest.mark.parametrize("name", BOUNDS)
def test_nothing_is_proven_where_the_error_can_be_zero_and_never_less_than_nothing(name, matrix):
    X = MATRICES[matrix]
    found = BOUNDS[name](X, 2)
    assert isinstance(found, LowerBound)
    assert 0.0 <= found.value <= 1e-12 * np.sum(X**2)


@pytest.mark.parametrize("name", BOUNDS)
def test_the_method_completes_a_sentence(name):
    method = BOUNDS[name](np.random.default_rng(0).random((5, 6)), 2).method
    assert f"proven by {method}" == f"proven by {method.strip()}"
    assert method[0].islower()
    assert not method.endswith(".")
