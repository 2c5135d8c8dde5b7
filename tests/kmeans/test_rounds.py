"""Candidates drawn in rounds stand for all points, and the centers are those that cost least."""

from itertools import combinations

import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf.engine.points import Samples
from orthonmf.inputs.data import as_matrix
from orthonmf.kmeans.rounds import CANDIDATES_PER_CENTER, draw_in_rounds, seed_in_rounds
from orthonmf.kmeans.seeding import lines, plain


def some_rows(seed=0, n=40, m=5):
    rng = np.random.default_rng(seed)
    X = rng.exponential(size=(n, m)) ** 2
    X[3] = 0.0
    return X, rng.integers(0, 3, n).astype(float)


def unit_rows(X):
    lengths = np.linalg.norm(X, axis=1)[:, None]
    return np.divide(X, lengths, out=np.zeros_like(X, dtype=float), where=lengths > 0)


@pytest.mark.parametrize("store", [np.asarray, csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_centers_are_points_with_weight(store, dtype):
    X, weights = some_rows()
    points = Samples(as_matrix(store(X.astype(dtype)), sample_weight=weights))
    units = unit_rows(X)
    for center in seed_in_rounds(points, 6, np.random.default_rng(0)):
        place = np.abs(units - center).max(axis=1).argmin()
        np.testing.assert_allclose(
            center, units[place], atol=1e-5 if dtype is np.float32 else 1e-10
        )
        assert weights[place] > 0
        assert X[place].any()


@pytest.mark.parametrize("distance", [plain, lines])
def test_every_different_direction_is_found_and_there_are_no_others(distance):
    X = np.repeat(np.array([[1.0, 0, 0], [0, 2.0, 0], [1.0, 1.0, 5.0]]), 10, axis=0)
    points = Samples(as_matrix(X))
    for seed in range(10):
        found = seed_in_rounds(points, 3, np.random.default_rng(seed), distance=distance)
        cosines = unit_rows(X[[0, 10, 20]]) @ found.T
        np.testing.assert_allclose(cosines.max(axis=1), 1.0)
        assert len(found) == 3
    more = seed_in_rounds(points, 7, np.random.default_rng(0), distance=distance)
    assert len(np.unique(more.round(9), axis=0)) == 3  # there are no more to choose from


def test_the_chosen_are_the_candidates_that_stand_for_the_others_at_the_least_cost():
    for seed in range(5):
        X, weights = some_rows(seed, n=25)
        points = Samples(as_matrix(X, sample_weight=weights))
        chosen = seed_in_rounds(points, 2, np.random.default_rng(seed))
        drawn = draw_in_rounds(points, 2 * CANDIDATES_PER_CENTER, np.random.default_rng(seed))
        candidates = unit_rows(drawn)
        energies = weights[:, None] * np.square(X @ candidates.T)
        captured = np.bincount(energies.argmax(axis=1), energies.max(axis=1), len(candidates))
        distances = lines(candidates @ candidates.T, np.ones(len(candidates)))

        def cost(pair, distances=distances, captured=captured):
            return captured @ distances[:, list(pair)].min(axis=1)

        places = [int(np.abs(candidates - one).max(axis=1).argmin()) for one in chosen]
        best = min(map(cost, combinations(range(len(distances)), 2)))
        # A local optimum of exchanges: with two centers it is the best or nearly so.
        assert best - 1e-12 <= cost(places) <= 1.2 * best + 1e-12
