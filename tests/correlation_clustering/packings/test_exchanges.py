"""Exchanges keep a packing valid, lose no square and fill places that are open."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf.correlation_clustering.blocks import Blocks
from orthonmf.correlation_clustering.packings import exchanges
from orthonmf.correlation_clustering.packings.by_pairs import pack_over_rows
from orthonmf.correlation_clustering.packings.exchanges import exchange_squares
from orthonmf.correlation_clustering.packings.guided import find_disagreements
from tests.correlation_clustering.packings.small_graphs import (
    EMPTY,
    NONE,
    check_packing,
    random_graph,
    sorted_squares,
)
from tests.oracles.correlation_clustering import bad_squares, largest_packing
from tests.quick_cases import mostly_slow


@pytest.mark.parametrize("seed", mostly_slow(range(10), quick=3))
def test_exchanges_never_lose_a_square(seed):
    M, rng = random_graph(seed, 8, 8)
    matrix = csr_array(M)
    packing = pack_over_rows(matrix, NONE, rng)
    keys = find_disagreements(matrix, Blocks(np.full(8, -1), np.full(8, -1)))
    exchanged = exchange_squares(matrix, packing, keys, rng)
    check_packing(exchanged, M)
    assert len(exchanged) >= len(packing)


@pytest.mark.parametrize("seed", range(3))
def test_from_nothing_exchanges_reach_the_largest_packing_of_a_tiny_graph(seed, monkeypatch):
    monkeypatch.setattr(exchanges, "EXCHANGES_EACH", 30)  # a tiny graph needs no more
    M, rng = random_graph(seed, 4, 4)
    alone = Blocks(np.full(4, -1), np.full(4, -1))
    keys = find_disagreements(csr_array(M), alone)
    found = exchange_squares(csr_array(M), EMPTY, keys, rng)
    check_packing(found, M)
    assert len(found) == largest_packing(bad_squares(M))


def test_a_square_that_stands_in_the_way_of_two_makes_room(monkeypatch):
    monkeypatch.setattr(exchanges, "EXCHANGES_EACH", 30)
    # Two parts with an edge missing in each, and a square across both that shares their entries.
    M = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 1, 1], [0, 0, 1, 0]], dtype=np.uint8)
    keys = find_disagreements(csr_array(M), Blocks(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1])))
    most = largest_packing(bad_squares(M))
    for square in sorted(map(sorted, bad_squares(M))):
        packing = np.array([square])
        found = exchange_squares(csr_array(M), packing, keys, np.random.default_rng(0))
        check_packing(found, M)
        assert 1 <= len(found) <= most


def test_without_an_open_disagreement_the_packing_stays_as_it_is():
    M = np.array([[1, 1], [1, 0]], dtype=np.uint8)
    packing = np.array([[0, 1, 2, 3]])
    found = exchange_squares(csr_array(M), packing, np.array([3]), np.random.default_rng(0))
    assert sorted_squares(found) == [[0, 1, 2, 3]]
    again = exchange_squares(csr_array(M), EMPTY, NONE, np.random.default_rng(0))
    assert again.shape == (0, 4)


def test_a_square_that_would_cost_two_others_is_not_put_in():
    M = np.array([[1, 0, 1, 1, 1], [0, 1, 0, 1, 0], [1, 1, 0, 0, 1], [0, 0, 1, 1, 0]], np.uint8)
    packing = np.array([[0, 1, 10, 11], [2, 3, 7, 8]])
    # Both bad squares through the first entry of the last row share entries with both of these.
    through = [square for square in bad_squares(M) if 15 in square]
    assert all(square & {*one} for square in through for one in packing.tolist())
    found = exchange_squares(csr_array(M), packing, np.array([15]), np.random.default_rng(0))
    assert sorted_squares(found) == sorted_squares(packing)
