"""The bound against the largest packing and the optimum, and what all packings share."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf.correlation_clustering.blocks import Blocks
from orthonmf.correlation_clustering.packings.bound import bound_disagreements, pack_greedily
from orthonmf.correlation_clustering.packings.by_pairs import pack_over_columns, pack_over_rows
from orthonmf.correlation_clustering.packings.exchanges import exchange_squares
from orthonmf.correlation_clustering.packings.guided import find_disagreements, pack_around
from tests.correlation_clustering.packings.small_graphs import (
    EMPTY,
    NONE,
    check_packing,
    random_graph,
)
from tests.oracles.correlation_clustering import bad_squares, fewest_disagreements, largest_packing
from tests.quick_cases import mostly_slow

PACKINGS = {
    "rows": lambda matrix, keys, rng: pack_over_rows(matrix, keys, rng),
    "columns": lambda matrix, keys, rng: pack_over_columns(matrix, keys, rng),
    "around": lambda matrix, keys, rng: pack_around(matrix, keys, rng),
    "exchanged": lambda matrix, keys, rng: exchange_squares(matrix, EMPTY, keys, rng),
}


@pytest.mark.slow
@pytest.mark.parametrize("pack", PACKINGS)
@pytest.mark.parametrize("seed", mostly_slow(range(12), quick=4))
def test_a_packing_holds_bad_squares_that_share_no_entry(pack, seed):
    M, rng = random_graph(seed)
    matrix = csr_array(M)
    keys = find_disagreements(matrix, Blocks(rng.integers(-1, 3, size=5), np.arange(6) % 3))
    check_packing(PACKINGS[pack](matrix, keys, rng), M)


@pytest.mark.parametrize("seed", mostly_slow(range(12), quick=4))
def test_no_packing_is_larger_than_the_largest_and_that_is_below_the_optimum(seed):
    M, rng = random_graph(seed, 4, 4)
    blocks = Blocks(np.full(4, -1), np.full(4, -1))
    largest = largest_packing(bad_squares(M))
    assert bound_disagreements(csr_array(M), blocks, rng) <= largest <= fewest_disagreements(M)


def test_one_bad_square_is_found_by_all():
    M = np.array([[1, 1, 0], [1, 0, 0], [0, 0, 1]], dtype=np.uint8)
    keys = find_disagreements(csr_array(M), Blocks(np.array([0, 0, 1]), np.array([0, 0, 1])))
    assert keys.tolist() == [4]
    for pack in PACKINGS.values():
        found = pack(csr_array(M), keys, np.random.default_rng(0))
        assert [sorted(square) for square in found.tolist()] == [[0, 1, 3, 4]]


@pytest.mark.slow
def test_graphs_of_clusters_hold_no_bad_square():
    M = np.kron(np.eye(3, dtype=np.uint8), np.ones((3, 2), dtype=np.uint8))
    for pack in PACKINGS.values():
        assert len(pack(csr_array(M), np.arange(M.size), np.random.default_rng(0))) == 0


def test_a_graph_of_one_bad_square_per_disagreement_is_proven_optimal():
    # Three complete parts, each with one edge missing.
    M = np.kron(np.eye(3, dtype=np.uint8), np.ones((3, 3), dtype=np.uint8))
    M[0, 0] = M[4, 4] = M[8, 8] = 0
    blocks = Blocks(np.arange(9) // 3, np.arange(9) // 3)
    assert bound_disagreements(csr_array(M), blocks, np.random.default_rng(0)) == 3


@pytest.mark.parametrize(
    "M", [np.zeros((3, 2)), np.ones((3, 2)), np.ones((1, 5)), np.zeros((1, 1))]
)
def test_graphs_that_need_no_disagreement_are_bounded_by_zero(M):
    alone = Blocks(np.full(M.shape[0], -1), np.full(M.shape[1], -1))
    matrix = csr_array(M.astype(np.uint8))
    assert bound_disagreements(matrix, alone, np.random.default_rng(0)) == 0


def test_greedy_packing_stops_at_as_many_squares_as_there_are_disagreements():
    M, rng = random_graph(1)
    assert len(pack_greedily(csr_array(M), NONE, rng)) == 0
    blocks = Blocks(np.full(5, -1), np.full(6, -1))
    keys = find_disagreements(csr_array(M), blocks)
    found = pack_greedily(csr_array(M), keys, np.random.default_rng(0))
    check_packing(found, M)
    # Rows come first, with the same draws: no way that follows makes it smaller.
    assert len(found) >= len(pack_over_rows(csr_array(M), keys, np.random.default_rng(0))) > 0
