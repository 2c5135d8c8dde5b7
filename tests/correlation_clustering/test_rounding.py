import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf.correlation_clustering.blocks import Blocks, count_disagreements, restrict_to_blocks
from orthonmf.correlation_clustering.rounding import (
    choose_best_patterns,
    choose_nearest_patterns,
    round_to_patterns,
)


def one_block(M):
    return Blocks(np.zeros(M.shape[0], dtype=int), np.zeros(M.shape[1], dtype=int))


@pytest.mark.parametrize("seed", range(40))
def test_the_pattern_row_is_the_one_lemma_1_names(seed):
    rng = np.random.default_rng(seed)
    M = (rng.random((6, 5)) < 0.6).astype(float)
    a, w = rng.uniform(0.1, 2, size=5), rng.uniform(0.1, 2, size=6)
    distances = np.linalg.norm(M / w[:, None] - a, axis=1)
    chosen = choose_nearest_patterns(csr_array(M), one_block(M), a, w)
    assert distances[chosen[0]] <= distances.min() * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(40))
def test_the_cheapest_pattern_is_found_and_rows_are_chosen_best(seed):
    rng = np.random.default_rng(seed)
    M = (rng.random((6, 5)) < 0.5).astype(int)
    costs = [sum(min(row.sum(), np.sum(row != pattern)) for row in M) for pattern in M]
    matrix, blocks = csr_array(M), one_block(M)
    rounded = round_to_patterns(matrix, blocks, choose_best_patterns(matrix, blocks))
    assert count_disagreements(matrix, rounded) == min(costs)


def test_all_blocks_are_rounded_as_each_would_be_alone():
    rng = np.random.default_rng(3)
    M = (rng.random((12, 10)) < 0.5).astype(int)
    blocks = Blocks(np.arange(12) % 3, np.arange(10) % 3)
    inside = restrict_to_blocks(csr_array(M), blocks)
    together = round_to_patterns(inside, blocks, choose_best_patterns(inside, blocks))
    for s in range(3):
        part = csr_array(M[np.ix_(blocks.rows == s, blocks.columns == s)])
        whole = one_block(part)
        alone = round_to_patterns(part, whole, choose_best_patterns(part, whole))
        assert np.array_equal(together.rows[blocks.rows == s] >= 0, alone.rows >= 0)
        assert np.array_equal(together.columns[blocks.columns == s] >= 0, alone.columns >= 0)


def test_a_row_with_exactly_half_of_the_pattern_stays():
    M = csr_array(np.array([[1, 1, 0], [1, 0, 1], [0, 0, 1]]))
    rounded = round_to_patterns(M, one_block(M), np.array([0]))
    assert rounded.rows.tolist() == [0, 0, -1]
    assert rounded.columns.tolist() == [0, 0, -1]


def test_an_empty_pattern_leaves_no_block():
    M = csr_array(np.zeros((2, 3), dtype=int))
    rounded = round_to_patterns(M, one_block(M), np.array([0]))
    assert np.all(rounded.rows == -1)
    assert np.all(rounded.columns == -1)
