import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf.correlation_clustering.pivot import cluster_by_pivots


@pytest.mark.parametrize("seed", range(20))
def test_every_cluster_is_a_pivot_with_columns_of_its_own_and_rows_that_share_half(seed):
    rng = np.random.default_rng(seed)
    M = rng.random((12, 9)) < 0.3
    blocks = cluster_by_pivots(csr_array(M.astype(np.uint8)), rng)
    assert set(blocks.rows) - {-1} == set(blocks.columns) - {-1}
    for s in range(blocks.n_blocks):
        shared = M[blocks.rows == s][:, blocks.columns == s]
        assert shared.all(axis=1).any()  # the pivot
        assert np.all(2 * shared.sum(axis=1) >= shared.shape[1])


def test_rows_and_columns_without_ones_are_in_no_cluster():
    M = np.zeros((4, 5), dtype=np.uint8)
    M[1, 2] = 1
    blocks = cluster_by_pivots(csr_array(M), np.random.default_rng(0))
    assert blocks.rows.tolist() == [-1, 0, -1, -1]
    assert blocks.columns.tolist() == [-1, -1, 0, -1, -1]


@pytest.mark.slow
def test_a_row_decides_with_the_probability_of_the_publication():
    # Row 1 shares s = 1 column with the pivot and has b = 3 beyond it: it decides in a third of
    # the cases, joins then since it has half of the pivot's two, and stays in play otherwise.
    M = csr_array(np.array([[1, 1, 0, 0, 0], [1, 0, 1, 1, 1]], dtype=np.uint8))
    joined = []
    for seed in range(3000):
        rng = np.random.default_rng(seed)
        blocks = cluster_by_pivots(M, rng)
        if blocks.columns[0] == blocks.columns[1]:  # row 0 was the first pivot
            joined.append(blocks.rows[0] == blocks.rows[1])
    assert len(joined) > 1000
    assert abs(np.mean(joined) - 1 / 3) < 0.05


def test_the_same_seed_gives_the_same_clusters_and_the_matrix_is_left_alone():
    M = csr_array((np.random.default_rng(0).random((20, 15)) < 0.3).astype(np.uint8))
    before = M.copy()
    first, again = (cluster_by_pivots(M, np.random.default_rng(7)) for _ in range(2))
    assert np.array_equal(first.rows, again.rows)
    assert np.array_equal(first.columns, again.columns)
    assert np.array_equal(M.toarray(), before.toarray())
