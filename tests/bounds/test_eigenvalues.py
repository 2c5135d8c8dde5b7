"""Sums of eigenvalues from above: never too small, whatever is proposed, and close."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthonmf.bounds.eigenvalues import SINGLE_SIDE, Eigenpairs, top_sum_upper_bound
from orthonmf.bounds.singular_values import tail_from_gram


def with_spectrum(values, seed=0):
    """A symmetric matrix with these eigenvalues, by two reflections."""
    rng = np.random.default_rng(seed)
    matrix = np.diag(np.asarray(values, dtype=float))
    for _ in range(2):
        axis = rng.standard_normal(len(values))
        axis /= np.linalg.norm(axis)
        matrix -= 2.0 * np.outer(axis, axis @ matrix)
        matrix -= 2.0 * np.outer(matrix @ axis, axis)
    return (matrix + matrix.T) / 2.0


SPECTRA = {
    "decay": lambda p: 1.0 / np.arange(1, p + 1),
    "gap": lambda p: np.where(np.arange(p) < 6, 10.0, 1.0) * np.linspace(1.0, 0.9, p),
    "cluster at k": lambda p: np.where(np.arange(p) < 40, 2.0, 0.5),
    "all equal": np.ones,
    "low rank": lambda p: np.where(np.arange(p) < 9, 3.0 - np.arange(p) / 9.0, 0.0),
    "negative ones are larger": lambda p: np.r_[5.0, 4.0, 3.0, np.linspace(1.0, -9.0, p - 3)],
    "one dominates": lambda p: np.where(np.arange(p) < 1, 1e6, 1.0 + 1.0 / np.arange(1, p + 1)),
}


@pytest.mark.slow
@pytest.mark.parametrize("spectrum", sorted(set(SPECTRA) - {"negative ones are larger"}))
@pytest.mark.parametrize("p", [60, SINGLE_SIDE + 10])
def test_the_sum_is_never_too_small_and_close(spectrum, p):
    values = np.sort(SPECTRA[spectrum](p))[::-1]
    matrix = with_spectrum(values)
    for k in (1, 6, 20):
        top, rest = values[:k].sum(), values[k:].sum()
        bound = top_sum_upper_bound(matrix, k)
        rounding = 1e-12 * values[0] * k
        assert top - rounding <= bound <= top + 3e-4 * rest + 1e-9 * values[0] * k


@pytest.mark.parametrize("exponent", [-600, -150, 150, 600])
def test_float32_follows_the_scale_of_the_matrix(exponent):
    X = np.random.default_rng(2).integers(0, 3, (SINGLE_SIDE, 80)).astype(float)
    X[:, 0] += 5.0
    gram = X @ X.T
    gram[np.diag_indices(len(gram))] += np.arange(len(gram))
    at_one = tail_from_gram(gram, 3, 80).value
    assert at_one > 0
    scaled = tail_from_gram(np.ldexp(gram, exponent), 3, 80).value
    assert scaled == pytest.approx(np.ldexp(at_one, exponent), rel=1e-5)


@given(
    p=st.integers(2, 9),
    seed=st.integers(0, 10**6),
    noise=st.floats(-14.0, 0.5),
    data=st.data(),
)
def test_any_pairs_of_any_symmetric_matrix_of_whole_numbers(p, seed, noise, data):
    rng = np.random.default_rng(seed)
    k = data.draw(st.integers(1, p - 1))
    half = rng.integers(-3, 4, (p, p)).astype(float)
    matrix = half + half.T
    if not matrix.any():
        return
    values, vectors = (a[..., ::-1][..., : k + 1] for a in np.linalg.eigh(matrix))
    top = values[:k].sum()
    vectors = vectors + 10.0**noise * rng.standard_normal(vectors.shape)
    values = np.sort(values + 10.0**noise * rng.standard_normal(k + 1))[::-1]
    residuals = matrix @ vectors - vectors * values
    bound = top_sum_upper_bound(matrix, k, Eigenpairs(values, vectors, residuals.T @ residuals))
    assert bound >= top - 1e-12
