"""Starts with a core: one side alone, then the other as the first sees it."""

import math

import numpy as np
import pytest

from orthonmf.certificate import Promise
from orthonmf.inputs.data import as_matrix
from orthonmf.kmeans.seeding import seeding_promise
from orthonmf.onmf.core.descent import descend_core
from orthonmf.onmf.core.starts import CoreStarts, core_starts
from orthonmf.onmf.promises import in_sequence
from orthonmf.onmf.search.loop import Search
from tests.onmf.small_points import some_options


def planted(k=3, n_groups=4, seed=0):
    """A matrix with groups on both sides, an empty row and an empty column."""
    rng = np.random.default_rng(seed)
    core = rng.exponential(size=(k, n_groups))
    X = core[np.arange(20) % k][:, np.arange(16) % n_groups]
    X = X * np.outer(rng.uniform(1, 3, 20), rng.uniform(1, 3, 16))
    X[3], X[:, 5] = 0.0, 0.0
    return X


def starts_of(X, k=3, n_groups=4, **options):
    matrix = as_matrix(X)
    given = some_options(k, asked=(k, n_groups), orthogonal="both", n_groups=n_groups, **options)
    search = Search(lambda start: descend_core(matrix, start, max_iter=1, tol=0.0))
    return CoreStarts(matrix, given, search), core_starts(matrix, given, search), search


def captured_share(X, start):
    groups, core = start.directions.groups, start.directions.core
    lengths = np.linalg.norm(core, axis=1)[:, None]
    units = np.divide(core, lengths, out=np.zeros_like(core), where=lengths > 0)
    return np.square(X @ groups.T @ units.T).max(axis=1).sum() / np.sum(X**2)


@pytest.mark.parametrize("side", ["rows_first", "columns_first"])
def test_planted_groups_are_found_whichever_side_comes_first(side):
    for seed in range(5):
        X = planted(seed=seed)
        starts, _, search = starts_of(X, rng=np.random.default_rng(seed))
        start = getattr(starts, side)()
        assert (start.directions.groups.shape, start.directions.core.shape) == ((4, 16), (3, 4))
        assert captured_share(X, start) == pytest.approx(1.0)
        assert start.step == side.replace("_", " ")
        assert search.n_sweeps > 0


def test_disjoint_blocks_are_a_diagonal_core():
    X = np.kron(np.eye(3), np.outer([1.0, 2.0, 1.5], [2.0, 1.0]))
    starts, _, search = starts_of(X, 3, 3)
    start = starts.from_blocks()
    np.testing.assert_allclose(start.directions.core, np.eye(3), atol=1e-12)
    assert captured_share(X, start) == pytest.approx(1.0)
    assert search.n_sweeps > 0


def test_ratios_of_one_side_after_the_other_add_up_and_are_rounded_up():
    found = in_sequence(Promise(2.0, "always"), Promise(3.5, "always"))
    assert (found.kind, found.ratio) == ("always", math.nextafter(5.5, math.inf))
    assert in_sequence(Promise(2.0, "always"), Promise(1.0, "expected")).kind == "expected"
    assert in_sequence(Promise(2.0, "expected"), Promise(1.0, "always")).kind == "expected"
    nothing, other = Promise(reason="why"), Promise(reason="other")
    assert in_sequence(nothing, Promise(1.0, "always")) is nothing
    assert in_sequence(Promise(1.0, "always"), nothing) is nothing
    assert in_sequence(nothing, other) is nothing


def test_each_point_on_its_own_adds_the_smallest_ratio_to_that_of_the_first_side():
    X = np.random.default_rng(0).exponential(size=(8, 4))
    starts, _, _ = starts_of(X, 2, 4, init="lines")
    found = starts.rows_first().promise
    assert found.ratio == pytest.approx(seeding_promise(2).ratio + 1.0)
    assert found.kind == "expected"
