"""Tails of singular values, against the singular values themselves."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from orthonmf.bounds import eigenpairs, singular_values
from orthonmf.bounds.singular_values import (
    METHOD,
    METHOD_IN_GROUPS,
    tail_from_gram,
    tail_from_groups,
    tail_from_ritz,
)


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    with threadpool_limits(1):
        yield


def tail(X, k):
    return float(np.sum(np.linalg.svd(X, compute_uv=False)[k:] ** 2))


def data(seed, shape=(40, 25)):
    return np.random.default_rng(seed).exponential(size=shape)


@pytest.mark.parametrize("k", [1, 2, 5, 24])
@pytest.mark.parametrize("side", ["rows", "columns"])
def test_the_gram_matrix_of_either_side_gives_the_tail(side, k):
    X = data(0)
    gram, length = (X @ X.T, 25) if side == "rows" else (X.T @ X, 40)
    found = tail_from_gram(gram, k, length)
    assert found.method == METHOD
    assert found.value <= tail(X, k)
    assert found.value == pytest.approx(tail(X, k), rel=1e-6, abs=1e-9 * np.sum(X**2))


@pytest.mark.parametrize("k", [1, 3])
def test_iterations_give_the_tail_of_a_large_side(k, monkeypatch):
    monkeypatch.setattr(eigenpairs, "DIRECT_SIDE", 1)
    X = data(1, (300, 20))
    X[:, 0] *= 5.0
    found = tail_from_gram(X @ X.T, k, 20).value
    assert tail(X, k) * (1 - 1e-3) <= found <= tail(X, k)


def test_a_few_values_give_a_weaker_tail_and_more_a_better_one():
    X = data(2, (60, 60))
    few, more, all_of_them = (
        tail_from_ritz(X @ X.T, 2, 60, n_ritz=count).value for count in (2, 10, 59)
    )
    assert few <= more <= all_of_them <= tail(X, 2)
    assert all_of_them > 0.9 * tail(X, 2)


def test_groups_of_rows_add_up_to_no_more_than_the_whole():
    X = data(3)
    parts = np.array_split(X, 3)
    found = tail_from_groups((part @ part.T for part in parts), 2, 25)
    assert found.method == METHOD_IN_GROUPS
    assert found.value == pytest.approx(sum(tail(part, 2) for part in parts), rel=1e-6)
    assert found.value <= tail(X, 2)


def test_groups_are_made_one_after_the_other():
    X, made = data(4), []

    def grams():
        for part in np.array_split(X, 4):
            made.append(len(made))
            yield part @ part.T

    one_by_one = grams()
    assert not made
    tail_from_groups(one_by_one, 2, 25)
    assert made == [0, 1, 2, 3]


@pytest.mark.parametrize("find", [tail_from_gram, tail_from_ritz])
@pytest.mark.parametrize("exponent", [-800, 800])
def test_the_tail_follows_the_scale_of_the_matrix(find, exponent):
    X = data(5, (12, 8))
    at_one = find(X.T @ X, 2, 12).value
    scaled = find(np.ldexp(X.T @ X, exponent), 2, 12).value
    assert scaled == pytest.approx(np.ldexp(at_one, exponent), rel=1e-6)


@pytest.mark.parametrize("find", [tail_from_gram, tail_from_ritz])
def test_longer_products_prove_less(find):
    X = data(6, (12, 8))
    gram = X.T @ X
    values = [find(gram, 2, length).value for length in (12, 10**10, 10**14)]
    assert values[0] > values[1] > values[2]


@pytest.mark.parametrize("find", [tail_from_gram, tail_from_ritz])
@pytest.mark.parametrize("k", [5, 8])
def test_as_many_components_as_points_leave_no_tail(find, k):
    assert find(np.eye(5), k, 5).value == 0.0


def test_without_a_factor_the_norm_still_proves_something(monkeypatch):
    X = data(7, (30, 10))
    X[:, 0] *= 10.0
    monkeypatch.setattr(singular_values, "top_sum_upper_bound", lambda *given: None)
    found = tail_from_gram(X.T @ X, 1, 30).value
    assert 0.0 < found <= tail(X, 1)
    monkeypatch.setattr(singular_values, "top_sum_from_squares", lambda *given: None)
    assert tail_from_gram(X.T @ X, 1, 30).value == 0.0
