"""Squares of pairs of rows: which pairs come first, and how many squares each gives."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf.correlation_clustering.packings import by_pairs
from orthonmf.correlation_clustering.packings.by_pairs import (
    pack_by_pairs,
    pack_over_columns,
    pack_over_rows,
    rank_pairs,
)
from tests.correlation_clustering.packings.small_graphs import (
    NONE,
    check_packing,
    random_graph,
    sorted_squares,
)


def test_pairs_are_ranked_by_similarity_and_equal_rows_left_out():
    M = csr_array(np.array([[1, 1, 1, 0], [1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 1], [0, 0, 0, 0]]))
    pairs = rank_pairs(M).tolist()
    # Shared over all: 2/3 for rows 0 and 1 with row 2, then 1/3 for 2 with 3, and 1/4.
    assert pairs == [[0, 2], [1, 2], [2, 3], [0, 3], [1, 3]]


def test_a_pair_of_rows_gives_as_many_squares_as_the_rarer_kind_of_column():
    M = np.array([[1, 1, 1, 1, 0], [1, 1, 0, 0, 1]], dtype=np.uint8)
    assert len(pack_by_pairs(csr_array(M), np.array([[0, 1]]))) == 2


def jaccard(one, other):
    return np.sum(one & other) / np.sum(one | other)


@pytest.mark.parametrize("seed", range(5))
def test_all_pairs_that_share_a_column_are_ranked_by_their_similarity(seed):
    M = random_graph(seed, 7, 6)[0]
    found = rank_pairs(csr_array(M))
    scores = [jaccard(M[i], M[j]) for i, j in found]
    assert scores == sorted(scores, reverse=True)
    wanted = {
        (i, j)
        for i in range(7)
        for j in range(i + 1, 7)
        if (M[i] & M[j]).any() and (M[i] != M[j]).any()
    }
    assert {tuple(sorted(pair)) for pair in found.tolist()} == wanted
    assert len(found) == len(wanted)


@pytest.mark.parametrize("seed", range(5))
def test_columns_are_packed_as_the_rows_of_the_transposed_matrix(seed):
    M, _ = random_graph(seed, 4, 7)
    across = pack_over_columns(csr_array(M), NONE, np.random.default_rng(0))
    check_packing(across, M)
    down = pack_over_rows(csr_array(M.T), NONE, np.random.default_rng(0))
    columns, rows = np.divmod(down, 4)
    assert sorted_squares(across) == sorted_squares(rows * 7 + columns)


def test_an_entry_that_an_earlier_pair_took_is_taken():
    M = np.array([[1, 1, 0], [1, 0, 0], [1, 0, 0]], dtype=np.uint8)
    both = np.array([[0, 1], [0, 2]])
    assert sorted_squares(pack_by_pairs(csr_array(M), both)) == [[0, 1, 3, 4]]
    assert sorted_squares(pack_by_pairs(csr_array(M), both[::-1])) == [[0, 1, 6, 7]]
    assert pack_by_pairs(csr_array(M), np.zeros((0, 2), dtype=np.int64)).shape == (0, 4)


def test_a_side_with_too_many_pairs_is_left_out(monkeypatch):
    monkeypatch.setattr(by_pairs, "WEDGES", 5)
    M = np.array([[1, 1], [1, 0], [1, 0]], dtype=np.uint8)  # 9 + 1 pairs of ones in a column
    assert len(pack_over_rows(csr_array(M), NONE, np.random.default_rng(0))) == 0
    monkeypatch.setattr(by_pairs, "WEDGES", 10)
    assert len(pack_over_rows(csr_array(M), NONE, np.random.default_rng(0))) == 1
