"""Segments, one after the other in Python."""

from itertools import pairwise

import numpy as np
import pytest

from orthonmf.engine.segments import first_largest, spread


@pytest.mark.parametrize("seed", range(20))
def test_the_first_of_the_largest_of_every_segment_is_found(seed):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 5, 8)
    indptr = np.r_[0, np.cumsum(lengths)]
    scores = rng.integers(-2, 3, indptr[-1]).astype(float)  # many are equal
    expected = {
        number: int(start + np.argmax(scores[start:stop]))
        for number, (start, stop) in enumerate(pairwise(indptr))
        if stop > start
    }
    segments, positions = first_largest(indptr, scores)
    assert dict(zip(segments.tolist(), positions.tolist(), strict=True)) == expected


@pytest.mark.parametrize("indptr", [[0], [0, 0, 0]])
def test_without_entries_there_is_nothing_to_find(indptr):
    segments, positions = first_largest(np.array(indptr), np.zeros(0))
    assert len(segments) == len(positions) == 0


@pytest.mark.parametrize("seed", range(5))
def test_ranges_are_joined_in_order(seed):
    rng = np.random.default_rng(seed)
    starts, lengths = rng.integers(0, 50, 6), rng.integers(0, 4, 6)
    expected = [
        place
        for start, length in zip(starts.tolist(), lengths.tolist(), strict=True)
        for place in range(start, start + length)
    ]
    assert spread(starts, lengths).tolist() == expected


def test_no_ranges_are_nothing():
    assert len(spread(np.zeros(0, dtype=int), np.zeros(0, dtype=int))) == 0
