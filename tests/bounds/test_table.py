"""Which bounds a certificate tries, by sizes, room and seconds: true every time."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import csr_array

import orthonmf
from orthonmf.bounds import all_pairs, allowance, groups, table
from orthonmf.bounds.all_pairs import METHOD as METHOD_OF_PAIRS
from orthonmf.bounds.all_pairs import all_pairs_bound
from orthonmf.bounds.allowance import Allowance
from orthonmf.bounds.blocks import blocks_bound
from orthonmf.bounds.groups import grouped_bound
from orthonmf.bounds.pairs import pair_packing_bound
from orthonmf.bounds.singular_values import METHOD, tail_from_gram
from orthonmf.bounds.table import (
    ALONE,
    METHOD_IN_BATCHES,
    METHOD_IN_GROUPS,
    Case,
    Side,
    bound_side,
    find_bounds,
)
from orthonmf.certificate import CERTIFICATES, LowerBound
from orthonmf.engine.points import Samples, columns_of
from orthonmf.errors import InvalidInputError
from orthonmf.inputs.data import as_matrix
from tests.oracles.double_factor import best_double_factor_error
from tests.oracles.single_factor import best_single_factor_error

RNG = np.random.default_rng(0)
X = RNG.random((5, 90))[RNG.integers(5, size=60)] * (RNG.random((60, 90)) < 0.4)


@pytest.fixture
def small_limits(monkeypatch):
    monkeypatch.setattr(table, "LARGEST_SIDE", 50)
    monkeypatch.setattr(allowance, "LARGEST_GROUP", 25)


def bounds_of(matrix, k):
    case = Case(matrix, "samples", k, 1e300)
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
    (bound,) = bounds_of(matrix, 3)
    scaled = matrix.dense()
    tail = float(np.sum(np.linalg.svd(scaled, compute_uv=False)[3:] ** 2))
    assert bound.method == METHOD_IN_GROUPS
    assert bound.reason == ""
    assert 0.6 * tail < bound.value <= tail


def case_of(orthogonal, k=3, squared_error=1e300, seconds=1e6):
    matrix = as_matrix(X[:12, :10])
    return Case(matrix, orthogonal, k, squared_error, allowance=Allowance(seconds))


def methods(case, certificate):
    return [bound.method for bound in find_bounds(case, certificate)]


def test_with_a_core_each_side_is_bounded_alone_and_says_so():
    case = case_of("both", (2, 4))
    assert case.sizes == (2, 4)
    assert case.rank == 2
    assert not case.disjoint_blocks
    tail, rows, columns, *_ = methods(case, "tight")
    assert tail == METHOD + ALONE
    assert rows == f"{METHOD_OF_PAIRS} over the groups of rows{ALONE}"
    assert columns == f"{METHOD_OF_PAIRS} over the groups of columns{ALONE}"
    assert ALONE not in methods(case_of("both", (1, 4)), "svd")[0]


def test_bounds_over_samples_hold_for_samples_and_those_over_both_are_larger():
    data = as_matrix(X[:6, :4])
    best = {}
    for orthogonal in ("samples", "both"):
        case = Case(data, orthogonal, 2, 1e300, allowance=Allowance(1e6))
        best[orthogonal] = max(bound.value for bound in find_bounds(case, "tight"))
    optimum = best_single_factor_error(data.dense(), 2)
    assert best["samples"] <= optimum * (1 + 1e-12)
    assert best["both"] <= best_double_factor_error(data.dense(), 2) * (1 + 1e-12)
    assert best["both"] >= best["samples"] * (1 - 1e-3)


def test_data_that_are_not_in_memory_say_why_nothing_is_proven(tmp_path, monkeypatch):
    np.save(tmp_path / "wide.npy", X[:20])
    wide = as_matrix(np.load(tmp_path / "wide.npy", mmap_mode="r"))
    (bound,) = bounds_of(wide, 3)
    assert bound.value == 0.0
    assert "wide and not in memory" in bound.reason
    monkeypatch.setattr(table, "LARGEST_SIDE", 10)
    (bound,) = bounds_of(wide, 3)
    assert bound.value == 0.0
    assert "the smaller side of X is 20 and X is not in memory" in bound.reason


@pytest.fixture(autouse=True)
def _short_searches(monkeypatch):
    """How near a search comes is not the point here."""
    monkeypatch.setattr(all_pairs, "SMALL_MAX_ITER", 30)
    monkeypatch.setattr(all_pairs, "MAX_ITER", 30)


POINTS = np.random.default_rng(0).exponential(size=(120, 6)) ** 2
TOTAL = float(np.sum(POINTS**2))
TAIL = float(np.sum(np.linalg.svd(POINTS, compute_uv=False)[3:] ** 2))
ERROR = 1.001 * TOTAL  # of nobody in particular


def side_of(X, k=3, seconds=1e6, points=Samples, **weights):
    rng = np.random.default_rng(0)
    side = Side(points(as_matrix(X, **weights)), k, "rows")
    return bound_side(side, ERROR, Allowance(seconds), rng)


def error_by_hand(X, k):
    """The squared error of groups by the largest entry of a row: no bound may be above it."""
    labels = X[:, :k].argmax(axis=1)
    return sum(np.sum(np.linalg.svd(X[labels == j], compute_uv=False)[1:] ** 2) for j in range(k))


@pytest.mark.parametrize("store", [np.asarray, csr_array])
@pytest.mark.parametrize(
    ("largest", "method", "share_of_tail"),
    [
        (10_000, all_pairs.METHOD, 1.0),
        (100, groups.METHOD, 1 - 1e-3),
        (10, METHOD_IN_BATCHES, 0.0),
    ],
    ids=["all pairs", "groups", "batches"],
)
def test_the_bound_of_a_side_is_the_one_there_is_room_for(
    store, largest, method, share_of_tail, monkeypatch
):
    monkeypatch.setattr(allowance, "LARGEST_MATRIX", largest)
    monkeypatch.setattr(table, "N_GROUPS", (60, 40, 20))
    monkeypatch.setattr(table, "BATCH", 50)
    bound = side_of(store(POINTS))
    assert bound.method == method
    assert TAIL * share_of_tail < bound.value <= error_by_hand(POINTS, 3)


def test_columns_are_points_as_rows_are():
    of_rows = side_of(POINTS)
    of_columns = side_of(POINTS.T.copy(), points=columns_of)
    assert of_columns.value == pytest.approx(of_rows.value, rel=1e-6)


def test_points_of_weight_zero_take_no_part():
    weights = np.ones(120)
    weights[60:] = 0.0
    assert side_of(POINTS, sample_weight=weights).value == pytest.approx(
        side_of(POINTS[:60]).value, rel=1e-6
    )


@pytest.mark.parametrize("beta_loss", table.BOUNDS)
def test_a_bound_of_a_users_own_has_a_name_under_its_loss(beta_loss, monkeypatch):
    monkeypatch.setitem(CERTIFICATES, "mine", "by hand")
    other = next(loss for loss in table.BOUNDS if loss != beta_loss)
    mine = {"mine": (lambda case: [LowerBound(1e-3 * case.cost, "hand")],)}
    monkeypatch.setitem(table.BOUNDS, beta_loss, table.BOUNDS[beta_loss] | mine)
    result = orthonmf.factorize(X, 2, beta_loss=beta_loss, certificate="mine", random_state=0)
    assert result.certificate.method == "hand"
    of_other = orthonmf.factorize(X, 2, beta_loss=other, random_state=0)
    for ask in (
        lambda: orthonmf.factorize("not read", 2, beta_loss=other, certificate="mine"),
        lambda: orthonmf.certify("not read", [0, 1], beta_loss=other, method="mine"),
        lambda: of_other.certify("not read", "mine"),
    ):
        with pytest.raises(
            InvalidInputError, match=f"'{other}' .* 'mine'; there are 'svd', 'tight'"
        ):
            ask()


BOUNDS = {
    "all pairs": lambda X, k: all_pairs_bound(X @ X.T, k, X.shape[1], Allowance()),
    "groups of points": lambda X, k: grouped_bound(X, X.T @ X, k, Allowance(), n_groups=400),
    "blocks": lambda X, k: blocks_bound(X, X @ X.T, k, Allowance(), n_groups=[400], max_iter=20),
    "pairs": lambda X, k: pair_packing_bound(X, np.einsum("ij,ij->i", X, X)),
    "tail": lambda X, k: tail_from_gram(X @ X.T, k, X.shape[1]),
}
MATRICES = {
    "zeros": np.zeros((3, 4)),
    "one block": np.outer([1.0, 2.0, 3.0], [1.0, 1.0, 2.0, 0.5]),
    "disjoint blocks": np.array([[1.0, 2.0, 0, 0], [2.0, 4.0, 0, 0], [0, 0, 3.0, 1.0]]),
}


@pytest.mark.parametrize("matrix", MATRICES)
@pytest.mark.parametrize("name", BOUNDS)
def test_nothing_is_proven_where_the_error_can_be_zero_and_never_less_than_nothing(name, matrix):
    X = MATRICES[matrix]
    bound = BOUNDS[name](X, 2)
    assert isinstance(bound, LowerBound)
    assert 0.0 <= bound.value <= 1e-12 * np.sum(X**2)
