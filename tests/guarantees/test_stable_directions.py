"""`init="local-search"`: no exchange of a direction for a point helps, and what that promises."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import orthonmf
from orthonmf.certificate import ratio_text
from orthonmf.engine.points import Samples
from orthonmf.inputs.data import as_matrix
from orthonmf.onmf.options import Options
from orthonmf.onmf.search.local_search import search_locally, with_copies
from tests.guarantees.test_three_factors import case
from tests.oracles.single_factor import best_single_factor_error

pytestmark = pytest.mark.filterwarnings("ignore::orthonmf.FewerComponentsWarning")


def error_of(X, directions):
    """The squared error when every row of X goes to its best direction."""
    units = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    return np.sum(X**2) - np.square(X @ units.T).max(axis=1).sum()


@pytest.mark.parametrize("seed", range(8))
def test_no_exchange_of_a_stable_direction_lowers_the_error(seed):
    rng = np.random.default_rng(seed)
    X = rng.exponential(size=(12, 5)) ** 2
    k = 1 + seed % 4
    options = Options(asked=k, rng=rng, n_components=k)
    poor = rng.random((k, 5))
    directions, promise = search_locally(Samples(as_matrix(X)), poor, options)
    assert promise.kind == "always"
    assert ratio_text(promise.ratio) == "26.65"
    error = error_of(X, directions)
    for number in range(k):
        for row in X:
            exchanged = directions.copy()
            exchanged[number] = row
            assert error_of(X, exchanged) >= error * (1 - 1e-6)


def test_where_fewer_directions_are_in_use_adding_one_is_tried():
    padded = with_copies(np.array([[1.0, 0.0], [0.0, 0.0]]), 3)
    assert np.array_equal(padded, [[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]])
    X = np.array([[3.0, 0.0, 0.1], [0.0, 2.0, 0.1], [0.1, 0.0, 1.0], [2.0, 0.1, 0.0]])
    options = Options(asked=3, rng=np.random.default_rng(0), n_components=3)
    directions, _ = search_locally(Samples(as_matrix(X)), X[:1], options)
    assert error_of(X, directions) < 1.1 * best_single_factor_error(X, 3)


@pytest.mark.parametrize("store", [np.asarray, csr_array])
@pytest.mark.parametrize("orthogonal", ["samples", "features"])
def test_over_one_side_the_promise_is_kept_every_time(orthogonal, store):
    for seed in range(15):
        rng = np.random.default_rng(seed)
        X = rng.exponential(size=(7, 6)) ** rng.integers(1, 4) * (rng.random((7, 6)) < 0.7)
        X[0, 0] += 1.0
        options = {"orthogonal": orthogonal, "init": "local-search", "random_state": seed}
        result = orthonmf.factorize(store(X), 3, certificate=None, **options)
        optimum = best_single_factor_error(X if orthogonal == "samples" else X.T, 3)
        if result.promise.ratio is None:
            assert "rounding" in result.promise.reason
            continue
        assert result.promise.kind == "always"
        assert ratio_text(result.promise.ratio) == "26.65"
        assert result.error**2 <= result.promise.ratio * optimum


def test_with_a_core_the_ratios_of_both_sides_add_up():
    for X, optimum in map(case, range(6)):
        result = orthonmf.factorize(X, (2, 2), orthogonal="both", init="local-search")
        if result.promise.ratio is not None:
            assert result.promise.kind == "always"
            assert ratio_text(result.promise.ratio) in ("27.65", "53.30")
            error = result.relative_squared_error * np.sum(X**2)
            assert error <= result.promise.ratio * optimum


def test_a_fit_that_was_broken_off_keeps_the_promise(tmp_path):
    X = np.random.default_rng(0).exponential(size=(40, 6)) ** 2
    options = {"init": "local-search", "checkpoint": tmp_path / "fit.checkpoint", "random_state": 0}
    first = orthonmf.factorize(X, 3, **options)
    again = orthonmf.factorize(X, 3, **options)
    assert first.promise == again.promise
    assert again.promise.ratio is not None
