"""Beyond the largest side groups of points prove a bound, or the reason says why not."""

import numpy as np
import pytest
from scipy import sparse

from orthant import factorize
from orthant.bounds import table
from orthant.bounds.singular_values import METHOD, METHOD_IN_GROUPS
from orthant.bounds.table import Case, find_bounds
from orthant.validation.data import as_matrix

RNG = np.random.default_rng(0)
X = RNG.random((5, 90))[RNG.integers(5, size=60)] * (RNG.random((60, 90)) < 0.4)


@pytest.fixture(autouse=True)
def _small_limits(monkeypatch):
    monkeypatch.setattr(table, "LARGEST_SIDE", 50)
    monkeypatch.setattr(table, "LARGEST_GROUP", 25)


def bounds_of(matrix, k):
    case = Case(matrix, "samples", k, 1e300, np.random.default_rng(1))
    return find_bounds(case, "svd")


@pytest.mark.parametrize("kind", ["dense", "sparse", "float32"])
@pytest.mark.parametrize("wide", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
def test_groups_prove_most_of_the_tail(kind, wide, weighted):
    data = X if wide else X.T
    rows, columns = (RNG.random(size) for size in data.shape) if weighted else (None, None)
    kept = data.astype(np.float32) if kind == "float32" else data
    given = sparse.csr_array(kept) if kind == "sparse" else kept
    matrix = as_matrix(given, sample_weight=rows, feature_weight=columns)
    (bound,), reason = bounds_of(matrix, 3)
    scaled = matrix.dense()
    tail = float(np.sum(np.linalg.svd(scaled, compute_uv=False)[3:] ** 2))
    assert bound.method == METHOD_IN_GROUPS
    assert reason == ""
    assert 0.6 * tail < bound.value <= tail


def test_a_factorization_reports_the_groups():
    result = factorize(X, 3, random_state=0)
    assert result.certificate.method == METHOD_IN_GROUPS
    assert 1.0 <= result.certificate.ratio < 3.0
    small = factorize(X[:40], 3, random_state=0)
    assert small.certificate.method == METHOD


def test_too_much_work_is_not_begun(monkeypatch):
    monkeypatch.setattr(table, "GROUP_WORK", 1000)
    bounds, reason = bounds_of(as_matrix(X), 3)
    assert bounds == []
    assert "groups of 12 points" in reason


def test_more_components_than_groups_have_points_leave_nothing_to_prove():
    bounds, reason = bounds_of(as_matrix(X), 20)
    assert bounds == []
    assert reason
