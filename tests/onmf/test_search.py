"""No sweep, no pass of moves and no escape ever raises the error."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import orthant
from orthant.datasets import make_planted
from orthant.engine.samples import Samples
from orthant.engine.streamed_columns import StreamedColumns
from orthant.onmf.blocks import descend_disjoint, split_by_energy
from orthant.onmf.escapes import breathe, prune, recombine
from orthant.onmf.exact_directions import find_exact_directions, find_top_directions
from orthant.onmf.moves import MoveBlocks, move_points, refit
from orthant.onmf.search import descend
from orthant.onmf.solution import Solution
from orthant.validation.data import as_matrix
from tests.oracles.single_factor import squared_error_of_partition


def some_points(seed, shape=(25, 10), sparse=False, weighted=False, side=Samples):
    rng = np.random.default_rng(seed)
    X = rng.exponential(size=shape) ** rng.choice([1, 2, 4]) * (rng.random(shape) < 0.8)
    X[:, 0] += 0.01
    weights = rng.exponential(size=shape[0]) if weighted else None
    return X, side(as_matrix(csr_array(X) if sparse else X, sample_weight=weights))


def drawn(points, k, seed):
    rng = np.random.default_rng(seed)
    return points.at(rng.choice(np.flatnonzero(points.weights > 0), size=k, replace=False))


cases = {
    "seed": st.integers(0, 10_000),
    "k": st.integers(1, 5),
    "sparse": st.booleans(),
    "weighted": st.booleans(),
}


def never_rises(history):
    return all(after <= before + 1e-12 for before, after in pairwise(history))


@given(**cases, side=st.sampled_from([Samples, StreamedColumns]))
def test_every_sweep_of_the_descent_captures_more(seed, k, sparse, weighted, side):
    _, points = some_points(seed, sparse=sparse, weighted=weighted, side=side)
    found = descend(points, drawn(points, k, seed), max_iter=30, tol=0.0)
    assert never_rises(found.history)
    # The form returned is one step further and cannot capture less.
    again = points.sweep_directions(found.directions).captured.sum()
    assert again >= found.captured * (1 - 1e-12)


@given(**cases)
def test_every_accepted_pass_of_moves_captures_more(seed, k, sparse, weighted):
    X, points = some_points(seed, sparse=sparse, weighted=weighted)
    start = descend(points, drawn(points, k, seed), max_iter=3, tol=0.0)
    moved = move_points(MoveBlocks(points), start, max_passes=10, tol=0.0)
    assert moved.captured >= start.captured * (1 - 1e-12)
    assert never_rises(moved.history)
    # What is claimed is what the directions capture, or a little less, and never too much.
    sweep = points.sweep_directions(moved.directions)
    Y = X if points.matrix.row_weights is None else X * np.sqrt(points.matrix.row_weights)[:, None]
    best = np.sum(Y**2) - squared_error_of_partition(Y, sweep.labels)
    assert moved.captured * (1 - 1e-12) <= sweep.captured.sum() <= best * (1 + 1e-12)


@given(**cases)
def test_every_sweep_of_the_double_descent_captures_more(seed, k, sparse, weighted):
    _, points = some_points(seed, sparse=sparse, weighted=weighted)
    found = descend_disjoint(points, drawn(points, k, seed), max_iter=30, tol=0.0)
    assert never_rises(found.history)
    assert np.all(np.count_nonzero(found.directions, axis=0) <= 1)


@pytest.mark.slow
@given(seed=st.integers(0, 10_000), orthogonal=st.sampled_from(["samples", "features", "both"]))
@pytest.mark.filterwarnings("ignore::orthant.FewerComponentsWarning")
def test_the_history_of_a_fit_never_rises_and_ends_near_its_error(seed, orthogonal):
    X, _ = some_points(seed, (20, 8))
    found = orthant.factorize(
        X, 3, orthogonal=orthogonal, n_init=2, random_state=seed, certificate=None
    )
    assert all(b <= a + 1e-12 for a, b in pairwise(found.history))
    assert found.relative_squared_error <= found.history[-1] + 1e-12


def test_moves_find_what_the_descent_cannot():
    gained = 0
    for seed in range(40):
        _, points = some_points(seed, (40, 12))
        start = descend(points, drawn(points, 4, seed), max_iter=200, tol=0.0)
        moved = move_points(MoveBlocks(points), start, max_passes=20, tol=0.0)
        gained += moved.captured > start.captured * (1 + 1e-9)
    assert gained > 10


def test_pruning_keeps_the_directions_that_are_missed_most():
    X = np.vstack([np.eye(4)[[0, 0, 1, 1, 2, 3]] * np.array([[5], [5], [4], [4], [3], [0.1]])])
    points = Samples(as_matrix(X))
    kept = prune(points, np.eye(4), 3)
    np.testing.assert_array_equal(kept, np.eye(4)[:3])


def test_recombining_two_halves_gives_the_whole():
    X = np.kron(np.eye(4), np.ones((5, 3))) + 1e-3
    points = Samples(as_matrix(X))
    rows = points.at(np.array([0, 5, 10, 15]))
    one, other = rows[[0, 1, 0, 1]], rows[[2, 3, 2, 3]]
    found = descend(points, recombine(points, one, other, 4), max_iter=5, tol=0.0)
    assert found.captured > 0.999 * points.weights.sum()


def test_breathing_gives_back_as_many_directions():
    _, points = some_points(1)
    form = drawn(points, 3, 0)
    assert breathe(points, form, 2, np.random.default_rng(0)).shape == form.shape


def test_idle_directions_are_put_to_use():
    _, points = some_points(2)
    same = np.repeat(points.at(np.array([0])), 4, axis=0)
    found = descend(points, same, max_iter=50, tol=0.0)
    assert len(np.unique(points.sweep_directions(found.directions).labels)) == 4


@pytest.mark.parametrize("k", [3, 30])
def test_top_directions_are_the_singular_vectors_of_the_blocks(k):
    X, points = some_points(3, (120, 15), weighted=True)
    labels = np.random.default_rng(0).integers(k, size=120).astype(np.int32)
    Y = X * np.sqrt(points.matrix.row_weights)[:, None]
    found = find_top_directions(Y, labels, points.sums(labels, k))
    for block in range(k):
        expected = np.abs(np.linalg.svd(Y[labels == block], full_matrices=False)[2][0])
        np.testing.assert_allclose(found[block], expected, atol=1e-10)


def test_top_directions_keep_to_their_support():
    X, points = some_points(4, (60, 12))
    labels = (np.arange(60) % 2).astype(np.int32)
    support = np.zeros((2, 12), dtype=bool)
    support[0, :5] = support[1, 5:] = True
    found = find_top_directions(X, labels, points.sums(labels, 2), support)
    for block in range(2):
        inside = X[labels == block][:, support[block]]
        expected = np.abs(np.linalg.svd(inside, full_matrices=False)[2][0])
        np.testing.assert_allclose(found[block, support[block]], expected, atol=1e-10)
        assert not found[block, ~support[block]].any()


@pytest.mark.parametrize("sparse", [False, True])
def test_the_canonical_answer_is_a_fixed_point(sparse):
    X, points = some_points(5, (80, 12), sparse=sparse)
    form = find_exact_directions(
        points, descend(points, drawn(points, 4, 0), max_iter=5, tol=0.0).directions
    )
    labels = points.sweep_directions(form).labels
    again = find_top_directions(X, labels, form)
    np.testing.assert_allclose(form, again, atol=1e-10)


def test_refitting_finds_the_best_directions_of_the_labels_it_is_given():
    X, points = some_points(6)
    labels = (np.arange(25) % 3).astype(np.int32)
    found = refit(points, Solution(points.sums(labels, 3), 0.0), labels, 200)
    best = np.square(X).sum() - squared_error_of_partition(X, labels)
    assert found.captured == pytest.approx(best, rel=1e-9)


def test_coordinates_go_where_they_capture_most():
    sums, squares = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 0.0]]), np.array([1.0, 4.0])
    split, captured = split_by_energy(sums, squares)
    np.testing.assert_allclose(split, [[2.0, 0.0, 0.0], [0.0, 0.75, 0.0]])
    assert captured == pytest.approx(4.0 + 9.0 / 4.0)


def test_a_weighted_sample_stands_for_the_points():
    X = make_planted(5000, 20, 3, 0.5, random_state=0).X
    points = Samples(as_matrix(X))
    sample = points.sample(1000, np.random.default_rng(0))
    assert sample.weights.sum() == pytest.approx(1000)
    form = points.at(np.array([0, 1, 2]))
    share = sample.sweep_directions(form).captured.sum() / sample.weights.sum()
    whole = points.sweep_directions(form).captured.sum() / points.weights.sum()
    assert share == pytest.approx(whole, rel=0.03)


@pytest.mark.parametrize("orthogonal", ["samples", "features", "both"])
def test_given_components_are_where_the_search_starts(orthogonal):
    data = make_planted(60, 30, 3, 0.1, orthogonal=orthogonal, random_state=0)
    first = orthant.factorize(data.X, 3, orthogonal=orthogonal, n_init=5, random_state=0)
    again = orthant.factorize(
        data.X, 3, orthogonal=orthogonal, seeding=first.components, random_state=1
    )
    assert again.relative_squared_error <= first.relative_squared_error * (1 + 1e-9)
    assert any("given" in step for step in again.steps_run)


@pytest.mark.parametrize(
    ("seeding", "message"),
    [
        ("magic", "seeding must be one of"),
        (np.ones((3, 4)), "at most 2 rows"),
        (np.ones((2, 3)), "rows of 4 numbers"),
        (np.array([[1.0, np.nan, 0, 0]]), r"seeding\[0, 1\]"),
        (np.array([[1.0, 0, 0, -1]]), r"seeding\[0, 3\]"),
        (np.zeros((1, 4)), r"seeding\[0\] is zero"),
    ],
)
def test_bad_seedings_are_refused(seeding, message):
    with pytest.raises(ValueError, match=message):
        orthant.factorize(np.ones((5, 4)), 2, seeding=seeding)
