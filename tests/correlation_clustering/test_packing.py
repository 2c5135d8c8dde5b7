"""The lower bound against the largest packing and the optimum; what every packing must be."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf.correlation_clustering.blocks import Blocks, count_disagreements
from orthonmf.correlation_clustering.packing import (
    bound_disagreements,
    find_disagreements,
)
from tests.correlation_clustering.graphs import random_graph
from tests.oracles.correlation_clustering import bad_squares, fewest_disagreements, largest_packing


def alone(n, m):
    return Blocks(np.full(n, -1), np.full(m, -1))


def test_disagreements_are_found_by_their_numbers():
    M = random_graph(3)
    rng = np.random.default_rng(0)
    for _ in range(20):
        blocks = Blocks(rng.integers(-1, 3, size=5), rng.integers(-1, 3, size=6))
        inside = (blocks.rows[:, None] == blocks.columns) & (blocks.rows[:, None] >= 0)
        expected = np.flatnonzero(M.astype(bool) != inside)
        assert find_disagreements(csr_array(M), blocks).tolist() == expected.tolist()
        assert count_disagreements(csr_array(M), blocks) == len(expected)


@pytest.mark.parametrize("seed", range(4))
def test_no_packing_is_larger_than_the_largest_and_that_is_below_the_optimum(seed):
    M = random_graph(seed, 4, 4)
    bound = bound_disagreements(csr_array(M), alone(4, 4), np.random.default_rng(seed))
    assert bound <= largest_packing(bad_squares(M)) <= fewest_disagreements(M)


def test_a_graph_of_one_bad_square_per_disagreement_is_proven_optimal():
    # Three complete parts, each with one edge missing.
    M = np.kron(np.eye(3, dtype=np.uint8), np.ones((3, 3), dtype=np.uint8))
    M[0, 0] = M[4, 4] = M[8, 8] = 0
    blocks = Blocks(np.arange(9) // 3, np.arange(9) // 3)
    assert bound_disagreements(csr_array(M), blocks, np.random.default_rng(0)) == 3
