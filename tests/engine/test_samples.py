"""Products of points with each other are the same by their Gram matrix and by their coordinates."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from orthant.engine.samples import Products, Samples
from orthant.validation.data import as_matrix


def some_rows(n=40, m=6):
    X = np.random.default_rng(0).exponential(size=(n, m))
    X[3] = 0.0
    return X


@pytest.mark.parametrize("form", ["gram", "rows"])
def test_products_are_those_of_the_gram_matrix(form):
    X = some_rows()
    G = X @ X.T
    products = Products(gram=G) if form == "gram" else Products(rows=X)
    picks = np.array([5, 3, 5, 39])
    combinations = np.random.default_rng(1).random((len(X), 7))
    np.testing.assert_allclose(products.energies, np.diag(G))
    np.testing.assert_allclose(products.times(combinations), G @ combinations)
    np.testing.assert_allclose(products.columns(picks), G[:, picks])
    lengths = np.linalg.norm(X[picks], axis=1)
    unit = X[picks] / np.where(lengths > 0, lengths, 1.0)[:, None]
    np.testing.assert_allclose(products.unit_columns(picks), X @ unit.T)


@pytest.mark.parametrize("store", [np.asarray, csr_array])
@pytest.mark.parametrize(("n", "m"), [(40, 6), (8, 6)])
@pytest.mark.parametrize("exact", [True, False])
def test_points_give_the_products_of_weighted_rows(store, n, m, exact):
    X = some_rows(n, m)
    weights = np.random.default_rng(2).integers(0, 4, size=n).astype(float)
    points = Samples(as_matrix(store(X), sample_weight=weights))
    chosen = np.flatnonzero(points.weights > 0)
    found = points.products_of(chosen, exact)
    weighted = X[chosen] * np.sqrt(weights[chosen])[:, None]
    scale = found.energies.max() / np.square(weighted).sum(axis=1).max()  # units of a power of two
    expected = scale * weighted @ weighted.T
    assert found.dtype == (np.float64 if exact else np.float32)
    np.testing.assert_allclose(
        found.times(np.eye(len(chosen), dtype=found.dtype)), expected, rtol=1e-5
    )


@pytest.mark.parametrize("by_chance", [False, True])
def test_sums_over_a_sample_are_right_on_average(by_chance):
    X = some_rows(200, 5)
    points = Samples(as_matrix(X))
    # A point without weight is never drawn.
    drawn_by = (np.random.default_rng(3).random(200) + 0.05) * (points.weights > 0)
    chances = drawn_by if by_chance else None
    direction = np.ones(5) / np.sqrt(5)
    share = np.square(X @ direction).sum() / np.square(X).sum()
    shares = []
    for seed in range(400):
        sample = points.sample(30, np.random.default_rng(seed), chances)
        captured = np.square(sample.rough_cosines_with(direction[None])[:, 0])
        shares.append(sample.weights @ captured / 30)
    assert np.mean(shares) == pytest.approx(share, rel=0.02)
