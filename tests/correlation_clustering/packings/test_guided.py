"""Squares around the disagreements of a clustering: every one holds a disagreement."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf.correlation_clustering.blocks import Blocks, count_disagreements
from orthonmf.correlation_clustering.packings.guided import find_disagreements, pack_around
from tests.correlation_clustering.packings.small_graphs import NONE, check_packing, random_graph
from tests.oracles.correlation_clustering import bad_squares, largest_packing


def test_the_disagreements_of_blocks_are_found_by_number():
    M = random_graph(3)[0]
    rng = np.random.default_rng(0)
    for _ in range(20):
        blocks = Blocks(rng.integers(-1, 3, size=5), rng.integers(-1, 3, size=6))
        inside = (blocks.rows[:, None] == blocks.columns) & (blocks.rows[:, None] >= 0)
        expected = np.flatnonzero(M.astype(bool) != inside)
        assert find_disagreements(csr_array(M), blocks).tolist() == expected.tolist()
        assert count_disagreements(csr_array(M), blocks) == len(expected)


@pytest.mark.parametrize("seed", range(5))
def test_every_square_holds_a_disagreement_and_none_is_left_that_could_be_added(seed):
    M, rng = random_graph(seed, 4, 5)
    blocks = Blocks(np.array([0, 0, 1, -1]), np.array([0, 1, 1, 0, -1]))
    keys = find_disagreements(csr_array(M), blocks)
    found = pack_around(csr_array(M), keys, rng)
    check_packing(found, M)
    assert np.isin(found, keys).any(axis=1).all()
    assert len(found) <= largest_packing(bad_squares(M))
    # Rounds end only when nothing was drawn for a while: of a tiny graph every square was.
    taken = set(found.ravel().tolist())
    assert all(square & taken for square in bad_squares(M))


def test_squares_with_a_single_disagreement_come_first():
    # The middle entry is in all squares; those with it alone prove the one disagreement.
    M = np.ones((3, 3), dtype=np.uint8)
    M[1, 1] = 0
    together = Blocks(np.zeros(3, dtype=int), np.zeros(3, dtype=int))
    keys = find_disagreements(csr_array(M), together)
    assert keys.tolist() == [4]
    found = pack_around(csr_array(M), keys, np.random.default_rng(0))
    assert len(found) == 1
    assert 4 in found


def test_without_a_disagreement_there_is_nothing_to_pack():
    M = csr_array(np.ones((2, 3), dtype=np.uint8))
    assert pack_around(M, NONE, np.random.default_rng(0)).shape == (0, 4)
