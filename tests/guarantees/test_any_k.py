"""The default holds at any number of components, and however much its groups differ in weight."""

import numpy as np
import pytest

import orthonmf
from benchmarks.rivals import error_of, three_lines
from benchmarks.uneven import UNEVEN, planted
from orthonmf.kmeans.seeding import seeding_promise

SEEDS = range(2)


def errors(X, k, **options):
    options = {"certificate": None, **options}
    fits = [orthonmf.factorize(X, k, random_state=seed, **options) for seed in SEEDS]
    return np.array([fit.relative_squared_error for fit in fits])


def errors_of_three_lines(X, k):
    return np.array([error_of(X, three_lines(X, k, seed)) for seed in SEEDS])


@pytest.mark.parametrize("orthogonal", ["samples", "features"])
def test_many_groups_of_different_strength_are_found(orthogonal):
    rows = planted(1500, 40, 50, strength=1.0)
    X = rows if orthogonal == "samples" else np.ascontiguousarray(rows.T)
    ours = errors(X, 50, orthogonal=orthogonal)
    assert ours.max() <= 1.005 * np.median(errors_of_three_lines(rows, 50))
    assert ours.max() <= 1.03 * errors(X, 50, orthogonal=orthogonal, init="lines").min()


@pytest.mark.slow
@pytest.mark.parametrize("name", UNEVEN)
def test_the_default_is_never_behind_three_lines(name):
    X, k = UNEVEN[name].make(), UNEVEN[name].n_components
    ours, theirs = errors(X, k), np.median(errors_of_three_lines(X, k))
    assert np.median(ours) <= 1.005 * theirs
    assert ours.max() <= 1.03 * theirs


@pytest.mark.slow
@pytest.mark.parametrize("store", ["memory map", "Dask"])
@pytest.mark.parametrize("name", ["strengths-2000x40-k50", "zipf-600x30-k10"])
def test_data_that_are_streamed_leave_no_group_out_either(name, store, tmp_path):
    X, k = UNEVEN[name].make(), UNEVEN[name].n_components
    if store == "Dask":
        streamed = pytest.importorskip("dask.array").from_array(X, chunks=(500, X.shape[1]))
    else:
        np.save(tmp_path / "X.npy", X)
        streamed = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert np.median(errors(streamed, k)) <= 1.01 * np.median(errors(X, k))


@pytest.mark.parametrize("orthogonal", ["samples", "features"])
def test_candidates_keep_the_promise_of_draws_from_all_points(orthogonal):
    rows = planted(800, 20, 8, noise=0.2)
    X = rows if orthogonal == "samples" else np.ascontiguousarray(rows.T)
    found = orthonmf.factorize(X, 8, orthogonal=orthogonal, random_state=0, certificate=None)
    assert "tournament of candidates" in found.steps_run
    assert found.promise.kind == "expected"
    assert found.promise.ratio == pytest.approx(seeding_promise(8).ratio, rel=1e-3)
