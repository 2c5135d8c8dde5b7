"""The tail of the singular values from groups of rows."""

import numpy as np
import pytest

from orthonmf.bounds.singular_values import METHOD_IN_GROUPS, tail_from_groups


def tail(X, k):
    return float(np.sum(np.linalg.svd(X, compute_uv=False)[k:] ** 2))


def test_groups_of_rows_add_up_to_no_more_than_the_whole():
    X = np.random.default_rng(3).exponential(size=(40, 25))
    parts = np.array_split(X, 3)
    summed = tail_from_groups((part @ part.T for part in parts), 2, 25)
    assert summed.method == METHOD_IN_GROUPS
    assert summed.value == pytest.approx(sum(tail(part, 2) for part in parts), rel=1e-6)
    assert summed.value <= tail(X, 2)
