"""The table of bounds: which are tried for which case, and groups beyond the largest side."""

import numpy as np
import pytest
from scipy import sparse

from orthonmf import factorize
from orthonmf.bounds import pair_packing, table, tight
from orthonmf.bounds.all_pairs import METHOD as METHOD_OF_PAIRS
from orthonmf.bounds.blocks import METHOD as METHOD_OF_BLOCKS
from orthonmf.bounds.singular_values import METHOD, METHOD_IN_GROUPS
from orthonmf.bounds.table import LEFT_OUT, Case, find_bounds
from orthonmf.certificate import CERTIFICATES
from orthonmf.inputs.data import as_matrix
from tests.oracles.double_factor import best_double_factor_error
from tests.oracles.single_factor import best_single_factor_error

RNG = np.random.default_rng(0)
X = RNG.random((5, 90))[RNG.integers(5, size=60)] * (RNG.random((60, 90)) < 0.4)


@pytest.fixture
def small_limits(monkeypatch):
    monkeypatch.setattr(table, "LARGEST_SIDE", 50)
    monkeypatch.setattr(table, "LARGEST_GROUP", 25)


def bounds_of(matrix, k):
    case = Case(matrix, "samples", k, 1e300, np.random.default_rng(1))
    return find_bounds(case, "svd")


@pytest.mark.usefixtures("small_limits")
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


@pytest.mark.usefixtures("small_limits")
def test_a_factorization_reports_the_groups():
    result = factorize(X, 3, random_state=0)
    assert result.certificate.method == METHOD_IN_GROUPS
    assert 1.0 <= result.certificate.ratio < 3.0
    small = factorize(X[:40], 3, random_state=0)
    assert small.certificate.method == METHOD


@pytest.mark.usefixtures("small_limits")
def test_too_much_work_is_not_begun(monkeypatch):
    monkeypatch.setattr(table, "GROUP_WORK", 1000)
    bounds, reason = bounds_of(as_matrix(X), 3)
    assert bounds == []
    assert "groups of 12 points" in reason


@pytest.mark.usefixtures("small_limits")
def test_more_components_than_groups_have_points_leave_nothing_to_prove():
    bounds, reason = bounds_of(as_matrix(X), 20)
    assert bounds == []
    assert reason


def case_of(orthogonal, k=3, squared_error=1e300, seconds=1e6):
    matrix = as_matrix(X[:12, :10])
    return Case(matrix, orthogonal, k, squared_error, np.random.default_rng(0), seconds=seconds)


def methods(case, certificate):
    return [bound.method for bound in find_bounds(case, certificate)[0]]


def test_every_certificate_that_may_be_asked_for_has_its_bounds():
    assert set(table.BOUNDS) == {name for name in CERTIFICATES if name is not None}


@pytest.mark.parametrize("orthogonal", ["samples", "features", "both"])
def test_pairs_and_blocks_are_for_disjoint_blocks_alone(orthogonal):
    packing = [pair_packing.METHOD] * 2 if orthogonal == "both" else []
    assert methods(case_of(orthogonal), "svd") == [METHOD, *packing]
    sides = [METHOD_OF_BLOCKS, *[METHOD_OF_PAIRS] * 2] if packing else [METHOD_OF_PAIRS]
    assert methods(case_of(orthogonal), "tight") == [METHOD, *sides, *packing]


def test_pairs_are_not_compared_where_the_singular_values_prove_enough():
    tail = find_bounds(case_of("both"), "svd")[0][0].value
    for factor, expected in ((1.1, 1), (1.3, 3)):
        close = case_of("both", squared_error=factor * tail)
        assert len(methods(close, "svd")) == expected


def test_with_a_core_each_side_is_bounded_alone_and_says_so():
    case = case_of("both", (2, 4))
    assert case.sizes == (2, 4)
    assert case.rank == 2
    assert not case.disjoint_blocks
    tail, rows, columns = methods(case, "tight")
    assert tail == METHOD + LEFT_OUT
    assert rows == f"{METHOD_OF_PAIRS} over the groups of rows alone{LEFT_OUT}"
    assert columns == f"{METHOD_OF_PAIRS} over the groups of columns alone{LEFT_OUT}"
    assert LEFT_OUT not in methods(case_of("both", (1, 4)), "svd")[0]


@pytest.mark.parametrize(
    ("orthogonal", "names", "counts"),
    [("samples", ["rows"], [12]), ("features", ["columns"], [10]),
     ("both", ["rows", "columns"], [12, 10])],
)  # fmt: skip
def test_the_sides_are_the_points_that_no_two_groups_share(orthogonal, names, counts):
    sides = case_of(orthogonal).sides()
    assert [side.name for side in sides] == names
    assert [len(side.points.weights) for side in sides] == counts


def test_bounds_over_samples_hold_for_samples_and_those_over_both_are_larger():
    data = as_matrix(X[:6, :4])
    found = {}
    for orthogonal in ("samples", "both"):
        case = Case(data, orthogonal, 2, 1e300, np.random.default_rng(0), seconds=1e6)
        found[orthogonal] = max(bound.value for bound in find_bounds(case, "tight")[0])
    optimum = best_single_factor_error(data.dense(), 2)
    assert found["samples"] <= optimum * (1 + 1e-12)
    assert found["both"] <= best_double_factor_error(data.dense(), 2) * (1 + 1e-12)
    assert found["both"] >= found["samples"] * (1 - 1e-3)


def test_data_that_are_not_in_memory_say_why_nothing_is_proven(tmp_path, monkeypatch):
    np.save(tmp_path / "wide.npy", X[:20])
    wide = as_matrix(np.load(tmp_path / "wide.npy", mmap_mode="r"))
    bounds, reason = bounds_of(wide, 3)
    assert bounds == []
    assert "wide and not in memory" in reason
    monkeypatch.setattr(table, "LARGEST_SIDE", 10)
    bounds, reason = bounds_of(wide, 3)
    assert bounds == []
    assert "the smaller side of X is 20 and X is not in memory" in reason


def test_blocks_have_the_larger_part_of_the_time(monkeypatch):
    shares = {}

    def bound_blocks(matrix, k, upper, allowance):
        shares["blocks"] = allowance.seconds

    def bound_side(points, k, upper, allowance, rng):
        shares[len(points.weights)] = allowance.seconds
        return table.LowerBound(0.0, "nothing")

    monkeypatch.setattr(table, "bound_blocks", bound_blocks)
    monkeypatch.setattr(table, "bound_side", bound_side)
    table.bound_by_multipliers(case_of("both", seconds=100.0))
    assert shares == pytest.approx({"blocks": 70.0, 12: 15.0, 10: 15.0})
    table.bound_by_multipliers(case_of("samples", seconds=100.0))
    assert shares[12] == pytest.approx(100.0)
    assert tight.LARGEST_SIDE >= table.LARGEST_SIDE
