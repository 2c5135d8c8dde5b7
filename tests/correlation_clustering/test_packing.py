"""The lower bound against the largest packing and the optimum; what every packing must be."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf.correlation_clustering.blocks import Blocks, count_disagreements
from orthonmf.correlation_clustering.packing import (
    bound_disagreements,
    exchange_squares,
    find_disagreements,
    pack_around,
    pack_over_columns,
    pack_over_rows,
)
from tests.correlation_clustering.graphs import random_graph
from tests.oracles.correlation_clustering import bad_squares, fewest_disagreements, largest_packing

EMPTY = np.zeros((0, 4), dtype=np.int64)
PACKINGS = {
    "rows": pack_over_rows,
    "columns": pack_over_columns,
    "around": pack_around,
    "exchanged": lambda matrix, keys, rng: exchange_squares(matrix, EMPTY, keys, rng),
}


def alone(n, m):
    return Blocks(np.full(n, -1), np.full(m, -1))


def check_packing(packing, M):
    assert {frozenset(keys) for keys in packing.tolist()} <= bad_squares(M)
    assert len(np.unique(packing)) == packing.size


def test_disagreements_are_found_by_their_numbers():
    M = random_graph(3)
    rng = np.random.default_rng(0)
    for _ in range(20):
        blocks = Blocks(rng.integers(-1, 3, size=5), rng.integers(-1, 3, size=6))
        inside = (blocks.rows[:, None] == blocks.columns) & (blocks.rows[:, None] >= 0)
        expected = np.flatnonzero(M.astype(bool) != inside)
        assert find_disagreements(csr_array(M), blocks).tolist() == expected.tolist()
        assert count_disagreements(csr_array(M), blocks) == len(expected)


@pytest.mark.parametrize("pack", PACKINGS)
@pytest.mark.parametrize("seed", range(3))
def test_a_packing_holds_bad_squares_that_share_no_entry(pack, seed):
    M, rng = random_graph(seed), np.random.default_rng(seed)
    matrix = csr_array(M)
    keys = find_disagreements(matrix, Blocks(rng.integers(-1, 3, size=5), np.arange(6) % 3))
    check_packing(PACKINGS[pack](matrix, keys, rng), M)


@pytest.mark.parametrize("seed", range(4))
def test_no_packing_is_larger_than_the_largest_and_that_is_below_the_optimum(seed):
    M = random_graph(seed, 4, 4)
    bound = bound_disagreements(csr_array(M), alone(4, 4), np.random.default_rng(seed))
    assert bound <= largest_packing(bad_squares(M)) <= fewest_disagreements(M)


def test_one_bad_square_is_found_by_all():
    M = np.array([[1, 1, 0], [1, 0, 0], [0, 0, 1]], dtype=np.uint8)
    keys = find_disagreements(csr_array(M), Blocks(np.array([0, 0, 1]), np.array([0, 0, 1])))
    assert keys.tolist() == [4]
    for pack in PACKINGS.values():
        squares = pack(csr_array(M), keys, np.random.default_rng(0))
        assert [sorted(square) for square in squares.tolist()] == [[0, 1, 3, 4]]


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
    matrix = csr_array(M.astype(np.uint8))
    assert bound_disagreements(matrix, alone(*M.shape), np.random.default_rng(0)) == 0


@pytest.mark.parametrize("seed", range(3))
def test_exchanges_never_lose_a_square(seed):
    M, rng = random_graph(seed, 8, 8), np.random.default_rng(seed)
    matrix = csr_array(M)
    keys = find_disagreements(matrix, alone(8, 8))
    packing = pack_over_rows(matrix, keys, rng)
    exchanged = exchange_squares(matrix, packing, keys, rng)
    check_packing(exchanged, M)
    assert len(exchanged) >= len(packing)


def test_a_square_that_would_cost_two_others_is_not_put_in():
    M = np.array([[1, 0, 1, 1, 1], [0, 1, 0, 1, 0], [1, 1, 0, 0, 1], [0, 0, 1, 1, 0]], np.uint8)
    packing = np.array([[0, 1, 10, 11], [2, 3, 7, 8]])
    # Both bad squares through the first entry of the last row share entries with both of these.
    through = [square for square in bad_squares(M) if 15 in square]
    assert all(square & {*other} for square in through for other in packing.tolist())
    kept = exchange_squares(csr_array(M), packing, np.array([15]), np.random.default_rng(0))
    assert sorted(kept.tolist()) == sorted(packing.tolist())
