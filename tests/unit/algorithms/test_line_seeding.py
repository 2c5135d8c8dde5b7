"""First directions: every planted component is found, and the last sweep is what is published."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import orthant
from orthant.algorithms.descent import descend
from orthant.algorithms.line_seeding import Pool, chosen_for_sample, weighted_sample
from orthant.datasets import make_planted
from orthant.engine.points import Samples, unit_lengths
from orthant.validation import as_matrix


@pytest.mark.parametrize("store", [np.asarray, csr_array])
@pytest.mark.parametrize("seed", range(3))
def test_a_pool_holds_every_planted_component(seed, store):
    planted = make_planted(4000, 60, 25, 0.5, random_state=seed)
    rng = np.random.default_rng(seed)
    sample = weighted_sample(Samples(as_matrix(store(planted.X))), 500, rng)
    found = unit_lengths(Pool(sample, 100, rng).chosen(25))
    cosines = found @ unit_lengths(planted.A_truth.T).T
    # Every planted component has a direction of its own.
    assert cosines.max(axis=0).min() > 0.9
    assert len(np.unique(cosines.argmax(axis=0))) == 25


def test_a_pool_of_few_different_points_is_no_larger_than_they_are():
    X = np.repeat(np.eye(3), 200, axis=0)
    points = Samples(as_matrix(X))
    pool = Pool(points, 40, np.random.default_rng(0))
    assert len(pool.chosen(5)) == 3


def test_groups_stand_for_components_better_than_single_points_do():
    planted = make_planted(2000, 100, 5, 1.0, random_state=0)
    points = Samples(as_matrix(planted.X))
    form = chosen_for_sample(points, 5, np.random.default_rng(0))
    fitted = points.sweep_directions(form, by_point=False).captured.sum()
    best = descend(points, planted.A_truth.T, max_iter=50, tol=1e-8).captured
    total = points.weights.sum()
    assert total - fitted <= 1.05 * (total - best)


@pytest.mark.parametrize("store", [np.asarray, csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_settled_fit_is_published_as_it_was_swept_last(store, dtype):
    X = make_planted(3000, 40, 12, 0.5, random_state=0).X.astype(dtype)
    X[5] = 0.0
    found = orthant.factorize(store(X), 12, random_state=0, certificate=None)
    assert found.n_sweeps == len(found.history)
    assert found.history[-1] == pytest.approx(found.relative_squared_error, rel=1e-4)
    again = found.transform(store(X))
    np.testing.assert_array_equal(again.toarray(), found.loadings.toarray())
    energies = np.square(found.loadings.toarray().astype(float)).sum(axis=0)
    assert np.all(np.diff(energies) <= 0)
    assert found.labels[5] == -1


def test_a_fit_cut_short_is_assigned_by_its_last_step():
    X = make_planted(3000, 40, 12, 0.5, random_state=0).X
    short = orthant.factorize(X, 12, max_iter=1, tol=0.0, random_state=0, certificate=None)
    assert (len(short.history), short.n_sweeps) == (1, 2)
    assert short.relative_squared_error < short.history[-1]


def test_rows_too_light_for_the_common_scale_are_published_as_transform_gives_them():
    X = make_planted(3000, 40, 12, 0.5, random_state=0).X
    X[7] *= 1e-300
    found = orthant.factorize(X, 12, random_state=0, certificate=None)
    assert found.labels[7] >= 0
    np.testing.assert_array_equal(found.transform(X).toarray(), found.loadings.toarray())
