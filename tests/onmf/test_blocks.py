"""Descent, starts and escapes over both sides: blocks stay disjoint and nothing is lost."""

import numpy as np
import pytest
from hypothesis import given

from orthonmf.engine.points import Samples
from orthonmf.inputs.data import as_matrix
from orthonmf.onmf.blocks.both_sides import factorize_blocks
from orthonmf.onmf.blocks.descent import descend_disjoint
from orthonmf.onmf.blocks.starts import block_starts, spectral_components
from orthonmf.onmf.search.loop import Search
from tests.onmf.small_points import CASES, drawn, never_rises, some_options, some_points
from tests.oracles.double_factor import best_double_factor_error


@pytest.mark.slow
@given(**CASES)
def test_every_sweep_of_the_double_descent_captures_more(seed, k, sparse, weighted):
    _, points = some_points(seed, sparse=sparse, weighted=weighted)
    found = descend_disjoint(points, drawn(points, k, seed), max_iter=30, tol=0.0)
    assert never_rises(found.history)
    assert np.all(np.count_nonzero(found.directions, axis=0) <= 1)


def captured_by_blocks(Y, directions):
    """What the best scale of every row on its best direction captures, as a sum of squares."""
    lengths = np.linalg.norm(directions, axis=1)[:, None]
    units = np.divide(directions, lengths, out=np.zeros_like(directions), where=lengths > 0)
    return np.square(Y @ units.T).max(axis=1).sum()


def test_what_the_descent_claims_is_what_its_blocks_capture_at_least():
    for seed in range(10):
        X, points = some_points(seed, (4, 4), weighted=True)
        Y = X * np.sqrt(points.matrix.row_weights)[:, None]
        found = descend_disjoint(points, drawn(points, 3, seed), max_iter=4, tol=0.0)
        held = captured_by_blocks(Y, found.directions)
        assert found.captured <= held * (1 + 1e-12)
        assert held <= np.sum(Y**2) - best_double_factor_error(Y, 3) + 1e-9


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_on_tiny_matrices_no_blocks_are_better(dtype):
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X = (rng.exponential(size=(4, 4)) ** 2 * (rng.random((4, 4)) < 0.8)).astype(dtype)
        X[0, 0], X[3] = 1.0, 0.0
        options = some_options(2, orthogonal="both", n_init=2, rng=rng)
        found = factorize_blocks(as_matrix(X), options).components
        optimum = best_double_factor_error(X.astype(float), 2)
        assert np.all(np.count_nonzero(found, axis=0) <= 1)
        error = np.sum(np.square(X, dtype=float)) - captured_by_blocks(X.astype(float), found)
        assert error == pytest.approx(optimum, rel=1e-4, abs=1e-6)


def test_with_as_many_blocks_as_rows_the_packing_of_theorem_9_comes_along():
    X = np.random.default_rng(0).exponential(size=(3, 5))
    found = factorize_blocks(as_matrix(X), some_options(3, orthogonal="both"))
    assert 0 < found.packed <= best_double_factor_error(X, 3)
    fewer = factorize_blocks(as_matrix(X), some_options(2, orthogonal="both"))
    assert fewer.packed == 0


def blocks_with_gaps():
    """Three blocks of rank one, an empty row and an empty column."""
    X = np.kron(np.eye(3), np.outer([1.0, 2.0, 1.5], [2.0, 1.0]))
    return np.pad(X, ((1, 0), (0, 1)))


def test_spectral_components_are_the_blocks_and_leave_empty_columns_out():
    X = blocks_with_gaps()
    points = Samples(as_matrix(X))
    found = spectral_components(points, 3, np.random.default_rng(0))
    assert not found[:, -1].any()
    assert captured_by_blocks(X, found) == pytest.approx(np.sum(X**2))
    supports = {tuple(np.flatnonzero(one)) for one in found}
    assert supports == {(0, 1), (2, 3), (4, 5)}


def names_of_starts(X, **options):
    points = Samples(as_matrix(X))
    given = some_options(2, orthogonal="both", **options)
    starts = list(block_starts(points, given, Search(None), None))
    assert all(start.directions.shape[1] == X.shape[1] for start in starts)
    return [start.step for start in starts], starts


def test_given_components_start_first_and_data_that_lie_far_away_get_few_starts(tmp_path):
    X = np.random.default_rng(0).exponential(size=(12, 6))
    given = np.eye(2, 6)
    names, starts = names_of_starts(X, init=given, n_init=2)
    assert names[0] == "given components"
    np.testing.assert_array_equal(starts[0].directions, given)
    assert {"one block", "features answer", "spectral start", "other pair orders"} <= {*names}
    # Twice from means, once from the answer over samples.
    assert names.count("published steps") == names.count("no weight reduction") == 3
    assert [one.promise.ratio is not None for one in starts if one.step == "published steps"] == [
        True,
        True,
        False,
    ]
    np.save(tmp_path / "X.npy", X)
    few, _ = names_of_starts(np.load(tmp_path / "X.npy", mmap_mode="r"))
    assert few == ["published steps", "no weight reduction"] * 2 + ["one block"]
