import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf.correlation_clustering.blocks import Blocks, count_disagreements, transpose
from orthonmf.correlation_clustering.local_search import (
    assign_rows,
    free_vertices,
    improve_blocks,
    merge_blocks,
    open_blocks,
)
from tests.oracles.correlation_clustering import fewest_disagreements


def random_graph(seed, n=5, m=6):
    rng = np.random.default_rng(seed)
    return (rng.random((n, m)) < rng.uniform(0.2, 0.8)).astype(np.uint8), rng


def alone(n, m):
    return Blocks(np.full(n, -1), np.full(m, -1))


@pytest.mark.parametrize("seed", range(15))
def test_rows_get_labels_that_no_other_choice_of_labels_beats(seed):
    M, rng = random_graph(seed)
    columns = rng.integers(-1, 2, size=6)
    found = count_disagreements(csr_array(M), Blocks(assign_rows(csr_array(M), columns), columns))
    choices = np.array(np.meshgrid(*[[-1, 0, 1]] * 5)).reshape(5, -1).T
    costs = [count_disagreements(csr_array(M), Blocks(rows, columns)) for rows in choices]
    assert found == min(costs)


def test_a_row_that_gains_nothing_is_on_its_own():
    M = csr_array(np.array([[1, 0], [0, 0], [1, 1]]))
    # Row 0 has one of two columns: in the block or out of it there is one disagreement.
    assert assign_rows(M, np.array([0, 0])).tolist() == [-1, -1, 0]


@pytest.mark.parametrize("seed", range(15))
def test_after_merging_no_pair_of_blocks_is_worth_a_merge(seed):
    M, rng = random_graph(seed, 12, 10)
    matrix = csr_array(M)
    merged = merge_blocks(
        matrix, Blocks(rng.integers(-1, 5, size=12), rng.integers(-1, 5, size=10))
    )
    cost = count_disagreements(matrix, merged)
    for a in range(merged.n_blocks):
        for b in range(a):
            rows = np.where(merged.rows == a, b, merged.rows)
            columns = np.where(merged.columns == a, b, merged.columns)
            assert count_disagreements(matrix, Blocks(rows, columns)) >= cost


def test_blocks_are_opened_among_lone_vertices_only():
    M = np.kron(np.eye(3, dtype=np.uint8), np.ones((2, 2), dtype=np.uint8))
    known = Blocks(np.array([0, 0, -1, -1, -1, -1]), np.array([0, 0, -1, -1, -1, -1]))
    opened = open_blocks(csr_array(M), known, np.random.default_rng(0))
    assert opened.rows[:2].tolist() == opened.columns[:2].tolist() == [0, 0]
    assert count_disagreements(csr_array(M), opened) == 0


@pytest.mark.parametrize("seed", range(10))
def test_improvement_from_nothing_is_near_the_optimum(seed):
    M, rng = random_graph(seed)
    matrix = csr_array(M)
    improved = improve_blocks(matrix, transpose(matrix), alone(5, 6), rng)
    cost = count_disagreements(matrix, improved)
    assert fewest_disagreements(M) <= cost <= 1.5 * fewest_disagreements(M) + 1


def test_freed_vertices_are_in_no_block_and_all_others_stay():
    blocks = Blocks(np.arange(50) % 5, np.arange(40) % 5)
    freed = free_vertices(blocks, np.random.default_rng(0))
    for before, after in ((blocks.rows, freed.rows), (blocks.columns, freed.columns)):
        assert np.all((after == before) | (after == -1))
        assert 0 < np.count_nonzero(after == -1) < len(after)
