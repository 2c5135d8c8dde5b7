"""How far a cover may lie below a matrix: a true number whatever the factor and its precision."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthonmf.bounds.semidefinite import PANEL, Cover, how_far_below

PRECISIONS = [np.float64, np.float32]


def a_case(seed, p, count, spread=0.0):
    """A symmetric matrix with these leading eigenvectors and a cover just above it."""
    rng = np.random.default_rng(seed)
    vectors = np.linalg.qr(rng.standard_normal((p, count)))[0]
    rest = rng.standard_normal((p, p)) * 0.3 / np.sqrt(p)
    rest -= vectors @ (vectors.T @ rest)
    rest -= (rest @ vectors) @ vectors.T
    values = np.sort(1.0 + 10.0 ** rng.uniform(-2, 3, count))[::-1]
    matrix = (vectors * values) @ vectors.T + rest + rest.T
    vectors = vectors + spread * rng.standard_normal(vectors.shape)
    return np.maximum(matrix, matrix.T), Cover(1.0, values - 1.0 + 1e-3, vectors)


def of_cover(cover, matrix):
    """t I + V diag(c) V^T - B in extended precision."""
    wide = cover.vectors.astype(np.longdouble)
    return cover.level * np.eye(len(matrix)) + (wide * cover.excess) @ wide.T - matrix


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("p", [1, 2, 3, PANEL - 1, PANEL, PANEL + 1, 2 * PANEL + 40])
def test_a_factor_is_found_and_costs_little_more_than_its_rounding(p, dtype):
    matrix, cover = a_case(p, p, min(p, 4))
    below = how_far_below(matrix, cover, dtype)
    assert np.linalg.eigvalsh(of_cover(cover, matrix).astype(float)).min() >= -below - 1e-11
    assert below <= (1e-10 if dtype is np.float64 else 1e-3)


@given(
    seed=st.integers(0, 10**6),
    p=st.integers(1, 12),
    raised=st.floats(-1.0, 1.0),
    exponent=st.integers(-90, 90),
    dtype=st.sampled_from(PRECISIONS),
)
def test_a_cover_that_lies_below_is_refused_or_lies_below_by_less(seed, p, raised, exponent, dtype):
    rng = np.random.default_rng(seed)
    half = rng.integers(-4, 5, (p, p)).astype(float)
    matrix = half + half.T
    level = float(np.linalg.eigvalsh(matrix)[-1]) * (1.0 + 1e-6 * raised) + raised * 1e-6
    if dtype is np.float32 and level <= 0.0:
        return
    scale = 2.0**exponent
    cover = Cover(level * scale, np.zeros(0), np.zeros((p, 0)))
    below = how_far_below(matrix * scale, cover, dtype)
    least = level - np.linalg.eigvalsh(matrix)[-1]
    assert least >= -below / scale - 1e-12


def test_numbers_too_large_for_float32_prove_nothing():
    cover = Cover(1.0, np.array([1e60]), np.ones((3, 1)))
    assert how_far_below(np.eye(3), cover, np.float32) == np.inf
