"""Exchanges gain what they say, and stability is claimed rightly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthonmf.engine.points import Samples, StreamedColumns
from orthonmf.inputs.data import as_matrix
from orthonmf.kmeans.exchanges import Exchange
from orthonmf.kmeans.local_search import stability_promise
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


def test_nothing_is_claimed_at_the_level_of_rounding():
    points = Samples(as_matrix(np.eye(3)))
    assert stability_promise(Exchange(points, points.at(np.arange(3))), 0.0).ratio is None
