import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf.correlation_clustering.blocks import (
    Blocks,
    choose_cheapest,
    count_disagreements,
    indicate,
    renumber,
    restrict_to_blocks,
    transpose,
)
from tests.oracles.correlation_clustering import disagreements


def random_case(seed, n=7, m=5):
    rng = np.random.default_rng(seed)
    M = (rng.random((n, m)) < 0.5).astype(np.uint8)
    return M, Blocks(rng.integers(-1, 4, size=n), rng.integers(-1, 4, size=m))


def inside(blocks):
    return (blocks.rows[:, None] == blocks.columns) & (blocks.rows[:, None] >= 0)


@pytest.mark.parametrize("seed", range(20))
def test_disagreements_are_counted_as_the_oracle_counts_them(seed):
    M, blocks = random_case(seed)
    # The oracle has no lone vertices: each gets a label that no other has.
    rows = np.where(blocks.rows < 0, 100 + np.arange(7), blocks.rows)
    columns = np.where(blocks.columns < 0, 200 + np.arange(5), blocks.columns)
    expected = disagreements(M, rows, columns)
    assert count_disagreements(csr_array(M), blocks) == expected
    assert count_disagreements(transpose(csr_array(M)), blocks.transposed) == expected


@pytest.mark.parametrize("seed", range(20))
def test_renumbering_keeps_the_entries_and_leaves_no_gap(seed):
    _, blocks = random_case(seed)
    found = renumber(blocks)
    assert np.array_equal(inside(found), inside(blocks))
    assert set(found.rows) - {-1} == set(found.columns) - {-1} == set(range(found.n_blocks))
    order = [blocks.rows[found.rows == s][0] for s in range(found.n_blocks)]
    assert order == sorted(order)


def test_a_restricted_matrix_has_the_entries_of_the_blocks():
    M, blocks = random_case(1)
    restricted = restrict_to_blocks(csr_array(M), blocks)
    assert np.array_equal(restricted.toarray(), M * inside(blocks))


def test_heights_and_widths_count_the_sides_of_every_block():
    blocks = Blocks(np.array([2, -1, 0, 2]), np.array([3, 3, -1]))
    assert blocks.n_blocks == 4
    assert blocks.heights.tolist() == [1, 0, 2, 0]
    assert blocks.widths.tolist() == [0, 0, 0, 2]
    assert renumber(blocks).n_blocks == 0


def test_an_indicator_has_a_one_at_every_label():
    assert indicate(np.array([1, -1, 0]), 3).toarray().tolist() == [[0, 1, 0], [0] * 3, [1, 0, 0]]


def test_of_equally_cheap_blocks_the_first_is_chosen():
    M = csr_array(np.array([[1, 0], [0, 0]]))
    lone, wrong = np.array([-1, -1]), Blocks(np.array([1, 1]), np.array([1, 1]))
    with_one, with_other = Blocks(lone, lone), Blocks(np.array([0, 0]), np.array([0, -1]))
    assert choose_cheapest(M, (wrong, with_one, with_other)) is with_one
    assert choose_cheapest(M, (wrong, with_other, with_one)) is with_other
