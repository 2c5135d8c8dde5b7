"""Every packing against all bad squares of a small matrix, found by looking at each."""

from itertools import combinations

import numpy as np
import pytest
from scipy.sparse import csr_array

from orthant.correlation_clustering.blocks import Blocks
from orthant.correlation_clustering.packings.bound import bound_disagreements
from orthant.correlation_clustering.packings.by_pairs import (
    pack_by_pairs,
    pack_over_columns,
    pack_over_rows,
    rank_pairs,
)
from orthant.correlation_clustering.packings.exchanges import exchange_squares
from orthant.correlation_clustering.packings.guided import find_disagreements, pack_around
from orthant.correlation_clustering.packings.squares import BinaryEntries, contains, number_entries
from tests.oracles.correlation_clustering import fewest_disagreements
from tests.quick_cases import mostly_slow

NONE = np.zeros(0, dtype=np.int64)
EMPTY = np.zeros((0, 4), dtype=np.int64)


def random_graph(seed, n=5, m=6):
    rng = np.random.default_rng(seed)
    return (rng.random((n, m)) < rng.uniform(0.3, 0.7)).astype(np.uint8), rng


def bad_squares(M):
    """The sets of keys of all 2 x 2 submatrices with exactly three ones."""
    n, m = M.shape
    pairs = [(r, c) for r in combinations(range(n), 2) for c in combinations(range(m), 2)]
    squares = ((np.ix_(r, c), frozenset(i * m + h for i in r for h in c)) for r, c in pairs)
    return {keys for place, keys in squares if M[place].sum() == 3}


def largest_packing(squares):
    """The most squares that share no entry, by trying every choice."""
    squares = sorted(squares, key=sorted)
    if not squares:
        return 0
    first, others = squares[0], squares[1:]
    with_it = 1 + largest_packing([one for one in others if not one & first])
    return max(with_it, largest_packing(others))


def check_packing(packing, M):
    found = {frozenset(keys) for keys in packing.tolist()}
    assert found <= bad_squares(M)
    assert len(np.unique(packing)) == packing.size


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


def test_graphs_of_clusters_hold_no_bad_square():
    M = np.kron(np.eye(3, dtype=np.uint8), np.ones((3, 2), dtype=np.uint8))
    for pack in PACKINGS.values():
        assert len(pack(csr_array(M), np.arange(M.size), np.random.default_rng(0))) == 0


def test_pairs_are_ranked_by_similarity_and_equal_rows_left_out():
    M = csr_array(np.array([[1, 1, 1, 0], [1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 1], [0, 0, 0, 0]]))
    pairs = rank_pairs(M).tolist()
    # Shared over all: 2/3 for rows 0 and 1 with row 2, then 1/3 for 2 with 3, and 1/4.
    assert pairs == [[0, 2], [1, 2], [2, 3], [0, 3], [1, 3]]


def test_a_pair_of_rows_gives_as_many_squares_as_the_rarer_kind_of_column():
    M = np.array([[1, 1, 1, 1, 0], [1, 1, 0, 0, 1]], dtype=np.uint8)
    assert len(pack_by_pairs(csr_array(M), np.array([[0, 1]]))) == 2


@pytest.mark.parametrize("seed", mostly_slow(range(10), quick=3))
def test_exchanges_never_lose_a_square(seed):
    M, rng = random_graph(seed, 8, 8)
    matrix = csr_array(M)
    packing = pack_over_rows(matrix, NONE, rng)
    keys = find_disagreements(matrix, Blocks(np.full(8, -1), np.full(8, -1)))
    exchanged = exchange_squares(matrix, packing, keys, rng)
    check_packing(exchanged, M)
    assert len(exchanged) >= len(packing)


@pytest.mark.parametrize("seed", range(5))
def test_drawn_squares_hold_their_entry_and_all_bad_ones_can_be_drawn(seed):
    M, rng = random_graph(seed, 4, 4)
    entries = BinaryEntries(csr_array(M))
    expected = bad_squares(M)
    for key in range(M.size):
        squares = entries.draw_squares(np.full(4000, key), rng)
        drawn = squares[entries.are_bad(squares)].keys(4)
        assert np.all(drawn[:, 0] == key)
        assert {frozenset(one) for one in drawn.tolist()} == {one for one in expected if key in one}


def test_keys_are_numbers_of_entries():
    M = np.array([[0, 1, 1], [1, 0, 0]])
    keys = number_entries(csr_array(M))
    assert keys.tolist() == [1, 2, 3]
    assert contains(keys, np.array([[0, 1], [3, 9]])).tolist() == [[False, True], [True, False]]
    assert not contains(NONE, keys).any()
