"""Slices cover what they cut, in order."""

import pytest

from orthant.engine.vectors import slices


@pytest.mark.parametrize(("n", "size"), [(0, 3), (1, 3), (6, 3), (7, 3), (5, 0)])
def test_slices_cover_all_rows_once_and_none_is_longer_than_asked_for(n, size):
    found = list(slices(n, size))
    assert [row for some in found for row in range(some.start, some.stop)] == list(range(n))
    assert all(0 < some.stop - some.start <= max(1, size) for some in found)
