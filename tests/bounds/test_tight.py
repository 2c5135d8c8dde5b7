"""Which multipliers the tight bound seeks: by sizes, room and seconds, and true every time."""

from functools import partial

import numpy as np
import pytest
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

from orthonmf.bounds import all_pairs, blocks, grouped, tight
from orthonmf.bounds.all_pairs import all_pairs_bound
from orthonmf.bounds.allowance import Allowance
from orthonmf.bounds.tight import METHOD_IN_BATCHES, bound_blocks, bound_side, sum_of_batches
from orthonmf.engine.samples import Samples, columns_of
from orthonmf.inputs.data import as_matrix


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    with threadpool_limits(1):
        yield


@pytest.fixture(autouse=True)
def _short_searches(monkeypatch):
    """How near a search comes is not the point here."""
    monkeypatch.setattr(all_pairs, "SMALL_MAX_ITER", 30)
    monkeypatch.setattr(all_pairs, "MAX_ITER", 30)


X = np.random.default_rng(0).exponential(size=(120, 6)) ** 2
TOTAL = float(np.sum(X**2))
TAIL = float(np.sum(np.linalg.svd(X, compute_uv=False)[3:] ** 2))
ERROR = 1.001 * TOTAL  # of nobody in particular


def side_of(X, k=3, seconds=1e6, points=Samples, **weights):
    rng = np.random.default_rng(0)
    return bound_side(points(as_matrix(X, **weights)), k, ERROR, Allowance(seconds), rng)


def error_by_hand(X, k):
    """The squared error of groups by the largest entry of a row: no bound may be above it."""
    labels = X[:, :k].argmax(axis=1)
    return sum(np.sum(np.linalg.svd(X[labels == j], compute_uv=False)[1:] ** 2) for j in range(k))


@pytest.mark.parametrize("store", [np.asarray, csr_array])
def test_with_room_and_time_all_pairs_are_used(store):
    found = side_of(store(X))
    assert found.method == all_pairs.METHOD
    assert TAIL < found.value <= error_by_hand(X, 3)


def test_without_room_for_pairs_groups_are_used(monkeypatch):
    monkeypatch.setattr(tight, "N_GROUPS", (60, 40, 20))
    monkeypatch.setattr(tight, "LARGEST_SIDE", 100)
    found = side_of(X)
    assert found.method == grouped.METHOD
    assert TAIL * (1 - 1e-3) <= found.value <= error_by_hand(X, 3)


def test_without_room_for_groups_batches_are_used(monkeypatch):
    monkeypatch.setattr(tight, "LARGEST_SIDE", 10)
    monkeypatch.setattr(tight, "BATCH", 50)
    found = side_of(X)
    assert found.method == METHOD_IN_BATCHES
    assert 0.0 < found.value <= error_by_hand(X, 3)


def test_the_better_of_groups_and_pairs_is_kept_where_time_is_short(monkeypatch):
    monkeypatch.setattr(tight, "N_GROUPS", (40, 30, 20))
    needed = tight.FEW_ITERATIONS * tight.PER_ENTRY * 120**2 + tight.pairs_proof_seconds(120)
    seconds = 1.2 * needed  # enough, and not ample
    tried = []
    for name in ("grouped_bound", "all_pairs_bound"):
        honest = getattr(tight, name)

        def watched(*given, honest=honest, name=name, **options):
            tried.append(name)
            given = [Allowance() if isinstance(one, Allowance) else one for one in given]
            return honest(*given, **options)

        monkeypatch.setattr(tight, name, watched)
    found = side_of(X, seconds=seconds)
    assert tried[0] == "grouped_bound"
    assert found.value > TAIL
    tried.clear()
    side_of(X, seconds=2.0 * seconds)
    assert tried == ["all_pairs_bound"], "with ample time groups are not tried"


def test_columns_are_points_as_rows_are():
    of_rows = side_of(X)
    of_columns = side_of(X.T.copy(), points=columns_of)
    assert of_columns.value == pytest.approx(of_rows.value, rel=1e-6)


def test_points_of_weight_zero_take_no_part():
    weights = np.ones(120)
    weights[60:] = 0.0
    assert side_of(X, sample_weight=weights).value == pytest.approx(side_of(X[:60]).value, rel=1e-6)


def test_products_of_many_short_rows_are_not_stored(monkeypatch):
    monkeypatch.setattr(tight, "SINGLE_SIDE", 50)
    asked = []
    honest = tight.all_pairs_bound_of_rows

    def watched(rows, *given, **options):
        asked.append(rows.shape)
        return honest(rows, *given, **options)

    monkeypatch.setattr(tight, "all_pairs_bound_of_rows", watched)
    short, stored = side_of(X), side_of(np.hstack([X, np.zeros((120, 80))]))
    assert asked == [(120, 6)]
    assert short.value == pytest.approx(stored.value, rel=2e-2)


def test_batches_add_up_and_share_what_is_left_of_the_time():
    parts = np.array_split(X, 3)
    seen = []

    def gram(part):
        seen.append(len(part))
        return part @ part.T

    found = sum_of_batches((partial(gram, part) for part in parts), 3, 2, 6, Allowance())
    alone = [all_pairs_bound(part @ part.T, 2, 6, Allowance()).value for part in parts]
    assert seen == [40, 40, 40]
    assert found.value == pytest.approx(sum(alone), rel=1e-9)
    assert found.value <= sum(alone)
    stopped = sum_of_batches((partial(gram, part) for part in parts), 3, 2, 6, Allowance(0.0))
    assert stopped.method == f"{METHOD_IN_BATCHES}, stopped by its time limit"
    assert 0.0 < stopped.value <= found.value


@pytest.mark.parametrize("wide", [False, True])
def test_blocks_are_bounded_from_the_smaller_side(wide):
    data = X[:12].T.copy() if wide else X[:12]
    found = bound_blocks(as_matrix(data), 2, ERROR, Allowance(1.0))
    assert found.method.startswith(blocks.METHOD)
    tail = np.sum(np.linalg.svd(X[:12], compute_uv=False)[2:] ** 2)
    assert found.value > 0.9 * tail


def test_blocks_without_room_are_not_tried(monkeypatch):
    monkeypatch.setattr(tight, "has_room", lambda needed: False)
    assert bound_blocks(as_matrix(X[:12]), 2, ERROR, Allowance(1e6)) is None


def test_room_is_what_the_machine_has(monkeypatch):
    assert tight.has_room(1)
    assert not tight.has_room(2**60)
    monkeypatch.setattr(tight, "available_memory", lambda: None)
    assert tight.has_room(2**60), "where that is not known"
