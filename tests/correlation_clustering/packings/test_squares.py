"""Squares drawn through an entry: what they hold, and which of them are bad."""

from itertools import product

import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf.correlation_clustering.packings.squares import (
    BinaryEntries,
    Squares,
    contains,
    number_entries,
)
from tests.correlation_clustering.packings.small_graphs import NONE, random_graph
from tests.oracles.correlation_clustering import bad_squares


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


def test_of_all_squares_the_bad_ones_are_those_with_two_rows_two_columns_and_three_ones():
    M, _ = random_graph(2, 3, 4)
    M[2] = 0  # an empty row
    numbers = np.array(list(product(range(3), range(-1, 3), range(4), range(-1, 4))))
    squares = Squares(*numbers.T)
    found = BinaryEntries(csr_array(M)).are_bad(squares)
    for (i, j, h, g), bad in zip(numbers.tolist(), found, strict=True):
        proper = j >= 0 and g >= 0 and i != j and h != g
        assert bad == (proper and M[np.ix_([i, j], [h, g])].sum() == 3)


def test_the_key_of_the_first_corner_comes_first():
    squares = Squares(*(np.array([one]) for one in (2, 0, 1, 3)))
    assert squares.keys(5).tolist() == [[11, 13, 1, 3]]
    assert squares[np.array([False])].keys(5).shape == (0, 4)


def test_through_an_entry_of_an_empty_row_no_square_is_bad():
    M = np.array([[1, 1], [0, 0]], dtype=np.uint8)
    entries = BinaryEntries(csr_array(M))
    squares = entries.draw_squares(np.array([2, 3] * 20), np.random.default_rng(0))
    assert not entries.are_bad(squares).any()
