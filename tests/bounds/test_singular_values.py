"""The tail of the singular values, from Gram matrices of either precision."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthonmf.bounds import singular_values
from orthonmf.bounds.singular_values import (
    METHOD_IN_GROUPS,
    tail_from_groups,
    tail_from_rough_gram,
)
from orthonmf.rounding import SINGLE_ROUNDOFF


def tail(X, k):
    return float(np.sum(np.linalg.svd(X, compute_uv=False)[k:] ** 2))


def data(seed, shape=(40, 25)):
    return np.random.default_rng(seed).exponential(size=shape)


def test_groups_of_rows_add_up_to_no_more_than_the_whole():
    X = data(3)
    parts = np.array_split(X, 3)
    found = tail_from_groups((part @ part.T for part in parts), 2, 25)
    assert found.method == METHOD_IN_GROUPS
    assert found.value == pytest.approx(sum(tail(part, 2) for part in parts), rel=1e-6)
    assert found.value <= tail(X, 2)


def planted(rng, n, m, k, noise):
    parts = rng.random((k, m)) ** 3
    return (parts[rng.integers(k, size=n)] + noise * rng.random((n, m))) / (1.0 + noise)


def tail_of(Y, k):
    return float(np.sum(np.linalg.svd(Y, compute_uv=False)[k:] ** 2))


def prove(Y, k, gram, summands):
    return tail_from_rough_gram(
        gram,
        k,
        max(Y.shape) + 8,
        summands=summands,
        total=float(np.sum(Y**2)),
        capture=lambda vectors: vectors @ Y.T @ Y @ vectors.T,
    )


def test_planted_data_are_proven_closely():
    Y = planted(np.random.default_rng(0), 3000, 60, 5, 0.3)
    short = Y.astype(np.float32)
    bound = prove(Y, 5, (short.T @ short).astype(float), 3000)
    exact = tail_of(Y, 5)
    assert exact * (1 - 5e-4) <= bound.value <= exact


@given(
    seed=st.integers(0, 10**6),
    k=st.integers(1, 6),
    noise=st.floats(0.0, 1.0),
    summands=st.integers(1, 3000),
    allowed=st.sampled_from([1e-4, 0.5]),
)
def test_the_unluckiest_float32_products_are_covered(seed, k, noise, summands, allowed):
    rng = np.random.default_rng(seed)
    Y = planted(rng, 80, 14, 4, noise)
    exact = Y.T @ Y
    # Errors as large as that many roundings can make them, in the directions that hurt most.
    vectors = np.linalg.eigh(exact)[1][:, -k:]
    worst = np.sign(vectors @ vectors.T) * (-1.0 if rng.random() < 0.5 else 1.0)
    gram = exact * (1.0 + (summands + 2) * SINGLE_ROUNDOFF * np.maximum(worst, worst.T))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(singular_values, "NEGLIGIBLE_LOSS", allowed)
        bound = prove(Y, k, gram, summands)
    if bound is not None:
        assert bound.value <= tail_of(Y, k) + 1e-12 * np.trace(exact)


def test_the_true_error_of_the_products_would_break_a_careless_bound():
    Y = planted(np.random.default_rng(1), 80, 14, 4, 0.05)
    exact, wrong = Y.T @ Y, 3000 * SINGLE_ROUNDOFF
    lowered = exact * (1.0 - wrong)
    careless = np.trace(exact) - np.linalg.eigvalsh(lowered)[-4:].sum()
    assert careless > tail_of(Y, 4) * 1.001
    bound = prove(Y, 4, lowered, 3000)
    assert bound is None or bound.value <= tail_of(Y, 4)


@pytest.mark.parametrize("kind", ["no gap", "exact", "overflow"])
def test_what_proves_little_is_left_to_float64(kind):
    rng = np.random.default_rng(2)
    Y = planted(rng, 400, 30, 4, 0.0) if kind == "exact" else np.eye(30)
    gram = Y.T @ Y
    if kind == "overflow":
        gram[0, 0] = np.inf
    assert prove(Y, 4, gram, 400) is None
