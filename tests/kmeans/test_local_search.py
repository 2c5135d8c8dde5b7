"""Exchanges gain what they say, none that helps is skipped, and stability is claimed rightly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthonmf.engine.points import Samples, StreamedColumns
from orthonmf.inputs.data import as_matrix
from orthonmf.kmeans.exchanges import (
    WORTHWHILE,
    Exchange,
    Nearest,
    best_exchanges,
    most_exchanges,
    random_exchanges,
)
from orthonmf.kmeans.local_search import best_exchange, stability_promise
from orthonmf.kmeans.seeding import lines, plain


def cost_of(points, form, distance):
    products, squares = points.cosines_with(form)
    return float(points.weights @ distance(products, squares).min(axis=1))


@given(
    seed=st.integers(0, 10_000),
    k=st.integers(1, 4),
    side=st.sampled_from([Samples, StreamedColumns]),
    distance=st.sampled_from([plain, lines]),
)
def test_gains_are_the_drop_of_the_cost(seed, k, side, distance):
    rng = np.random.default_rng(seed)
    points = side(as_matrix(rng.exponential(size=(9, 8)) ** 2))
    form = rng.random((k, 1)) * 0.5 + 0.5
    form = form * points.at(rng.choice(len(points.weights), size=k, replace=False))
    exchange = Exchange(points, form, distance)
    everyone = np.arange(len(points.weights))
    gains = exchange.gains(exchange.to_points(everyone))
    for center in range(k):
        for point in everyone:
            changed = form.copy()
            changed[center] = points.at(np.array([point]))[0]
            drop = exchange.cost - cost_of(points, changed, distance)
            assert gains[center, point] == pytest.approx(drop, abs=1e-9 * points.weights.sum())


@given(seed=st.integers(0, 10_000), distance=st.sampled_from([plain, lines]))
def test_no_exchange_that_helps_is_skipped(seed, distance):
    rng = np.random.default_rng(seed)
    points = Samples(as_matrix(rng.exponential(size=(10, 4)) ** 3))
    exchange = Exchange(points, points.at(rng.choice(10, size=3, replace=False)), distance)
    new = exchange.to_points(np.arange(10))
    helpful = exchange.gains(new).max(axis=0) > 1e-9 * exchange.cost
    assert np.all(exchange.hopeful(new)[helpful])


def test_the_exchange_that_a_rule_on_nearest_distances_would_skip_is_found():
    # Inserting the heavy first row also lowers the loss of removing the light second one.
    tiny = 1e-3
    X = np.array([[1.0, 0, 0], [tiny * np.sqrt(3) / 2, tiny / 2, 0], [0, 0, 1.0]])
    points = Samples(as_matrix(X))
    exchange = Exchange(points, points.at(np.array([1, 2])), lines)
    assert exchange.cost == pytest.approx(0.25)
    best = best_exchange(exchange)
    assert (best.center, best.point) == (0, 0)
    assert best.gain == pytest.approx(0.25, rel=1e-5)


def test_random_exchanges_never_raise_the_cost_and_mostly_lower_it():
    points = Samples(as_matrix(np.random.default_rng(1).exponential(size=(200, 10)) ** 2))
    exchange = Exchange(points, points.at(np.arange(8)))
    before = exchange.cost
    accepted = random_exchanges(exchange, 25, np.random.default_rng(0))
    assert accepted > 0
    assert exchange.cost < before
    assert exchange.cost == pytest.approx(cost_of(points, exchange.centers, plain))


def test_the_claim_of_a_stable_set_is_the_published_constant_or_slightly_more():
    points = Samples(as_matrix(np.random.default_rng(2).exponential(size=(40, 4))))
    exchange = Exchange(points, points.at(np.arange(3)))
    ratio = stability_promise(exchange, 0.0)
    assert (2 + np.sqrt(10)) ** 2 <= ratio.ratio <= 26.65
    assert stability_promise(exchange, 0.01 * exchange.cost).ratio > 27
    assert stability_promise(exchange, exchange.cost).ratio is None


def test_nothing_is_claimed_at_the_level_of_rounding():
    points = Samples(as_matrix(np.eye(3)))
    assert stability_promise(Exchange(points, points.at(np.arange(3))), 0.0).ratio is None


@given(
    seed=st.integers(0, 10_000),
    k=st.integers(1, 6),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_gains_that_are_kept_up_to_date_lead_where_those_computed_anew_do(seed, k, dtype):
    rng = np.random.default_rng(seed)
    places = rng.random((40, 2))
    squares = np.square(places[:, None] - places[None]).sum(axis=2).astype(dtype)
    weights, candidates = rng.exponential(size=40), squares[:, :25]
    first = rng.choice(25, size=k, replace=False)
    found = Nearest(weights, candidates[:, first])
    exchanged = best_exchanges(found, candidates)
    centers = [exchanged.get(s, int(first[s])) for s in range(k)]
    nearest = candidates[:, centers].min(axis=1)
    np.testing.assert_array_equal(found.nearest, nearest)
    assert found.cost == pytest.approx(weights @ nearest, rel=1e-5)
    assert found.gains(candidates).max() <= 1.1 * WORTHWHILE * found.cost
    if dtype == np.float64:
        anew = Nearest(weights, candidates[:, first])
        for _ in range(most_exchanges(k)):
            gains = anew.gains(candidates)
            center, number = divmod(int(gains.argmax()), 25)
            if not gains[center, number] > WORTHWHILE * anew.cost:
                break
            anew.replace(center, candidates[:, number])
        assert found.cost == pytest.approx(anew.cost, rel=1e-9)
