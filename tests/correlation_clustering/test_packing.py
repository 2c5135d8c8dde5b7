"""The lower bound against the largest packing and the optimum; what every packing must be."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf.correlation_clustering.blocks import Blocks
from orthonmf.correlation_clustering.packing import (
    bound_disagreements,
)
from tests.correlation_clustering.graphs import random_graph
from tests.oracles.correlation_clustering import bad_squares, fewest_disagreements, largest_packing


def alone(n, m):
    return Blocks(np.full(n, -1), np.full(m, -1))


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
