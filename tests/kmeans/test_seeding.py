"""k-means++ draws by the exact law, weights included."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf.engine.points import Samples, StreamedColumns
from orthonmf.inputs.data import as_matrix
from orthonmf.kmeans.exchanges import choose_columns
from orthonmf.kmeans.seeding import draw_by_law, lines, plain

X = np.array([[3.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.1, 1.0], [0.0] * 3])


def seed(points, k, rng, **options):
    return draw_by_law(points, k, rng, **options).picks


def law_of_two_draws(X, distance):
    """The exact probability of every ordered pair."""
    weights = np.sum(X**2, axis=1)
    unit = np.divide(X, np.sqrt(weights)[:, None], out=np.zeros_like(X), where=weights[:, None] > 0)
    probability = np.zeros((len(X), len(X)))
    for first in np.flatnonzero(weights):
        chances = weights * distance(unit @ unit[first], 1.0)
        probability[first] = weights[first] / weights.sum() * chances / chances.sum()
    return probability


@pytest.mark.slow
@pytest.mark.parametrize("distance", [plain, lines])
@pytest.mark.parametrize("side", ["samples", "features"])
def test_pairs_are_drawn_with_the_probability_of_the_law(distance, side):
    points = (
        Samples(as_matrix(X)) if side == "samples" else StreamedColumns(as_matrix(csr_array(X.T)))
    )
    expected = law_of_two_draws(X, distance)
    counts = np.zeros_like(expected)
    rng = np.random.default_rng(0)
    draws = 2000
    for _ in range(draws):
        first, second = seed(points, 2, rng, distance=distance)
        counts[first, second] += 1
    spread = np.sqrt(expected * (1 - expected) / draws)
    assert np.all(np.abs(counts / draws - expected) <= 4.5 * spread + 1e-12)


@pytest.mark.slow
def test_weights_multiply_the_chances():
    weights = np.array([1.0, 0.0, 2.0, 1.0, 1.0])
    points = Samples(as_matrix(X, sample_weight=weights))
    rng = np.random.default_rng(1)
    first = [int(seed(points, 1, rng)[0]) for _ in range(3000)]
    expected = weights * np.sum(X**2, axis=1)
    expected /= expected.sum()
    found = np.bincount(first, minlength=5) / 3000
    assert found[1] == 0.0
    np.testing.assert_allclose(found, expected, atol=0.04)


def test_seeding_stops_when_only_rounding_is_left():
    repeated = (
        np.repeat([[1.0, 2.0, 3.0], [0.3, 0.1, 0.2]], 20, axis=0) * np.linspace(1, 9, 40)[:, None]
    )
    picks = seed(Samples(as_matrix(repeated)), 5, np.random.default_rng(0))
    assert len(picks) == 2


def test_no_candidate_is_chosen_twice_however_many_are_asked_for():
    rng = np.random.default_rng(0)
    for _ in range(100):
        points = rng.random((3, 2))
        distances = np.square(points[:, None] - points).sum(axis=2)
        chosen, _ = choose_columns(rng.random(3), distances, 7)
        assert len(set(chosen.tolist())) == len(chosen) <= 3
