"""Leading eigenpairs by iterations, against the direct eigenproblem of NumPy."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from orthonmf.bounds import eigenpairs
from orthonmf.bounds.eigenpairs import leading_eigenpairs, new_directions


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    with threadpool_limits(1):
        yield


def with_spectrum(values, seed=0):
    rng = np.random.default_rng(seed)
    vectors = np.linalg.qr(rng.standard_normal((len(values), len(values))))[0]
    matrix = (vectors * values) @ vectors.T
    return (matrix + matrix.T) / 2.0


SPECTRA = {
    "decay": 1.0 / np.arange(1, 301),
    "negative ones are larger": np.r_[5.0, 4.0, 3.0, np.linspace(1.0, -9.0, 297)],
    "gap": np.where(np.arange(300) < 6, 10.0, 1.0) * np.linspace(1.0, 0.9, 300),
}


@pytest.fixture(params=["direct", "iterated"])
def way(request, monkeypatch):
    if request.param == "iterated":
        monkeypatch.setattr(eigenpairs, "DIRECT_SIDE", 1)
    return request.param


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", SPECTRA)
def test_the_leading_pairs_are_those_of_the_matrix(name, dtype, way):
    matrix, k = with_spectrum(SPECTRA[name]).astype(dtype), 3
    found = leading_eigenpairs(matrix, k)
    expected = np.linalg.eigvalsh(matrix.astype(np.float64))[::-1]
    assert len(found.values) >= k + 1
    np.testing.assert_allclose(found.values[:k], expected[:k], rtol=1e-6)
    assert (np.diff(found.values) <= 1e-12).all(), "largest first"
    V = found.vectors
    np.testing.assert_allclose(V.T @ V, np.eye(V.shape[1]), atol=1e-10)
    assert V.dtype == found.values.dtype == np.float64


def test_the_errors_are_the_products_of_the_residuals(way):
    matrix = with_spectrum(SPECTRA["gap"])
    found = leading_eigenpairs(matrix, 4, max_cycles=1)
    left = matrix @ found.vectors - found.vectors * found.values
    np.testing.assert_allclose(found.errors, left.T @ left, atol=1e-12)


def test_values_of_iterations_are_from_below(monkeypatch):
    monkeypatch.setattr(eigenpairs, "DIRECT_SIDE", 1)
    matrix = with_spectrum(np.linspace(1.0, 0.0, 300))
    found = leading_eigenpairs(matrix, 5, max_cycles=1).values
    expected = np.linalg.eigvalsh(matrix)[::-1][: len(found)]
    assert (found <= expected + 1e-12).all()
    assert found[0] < expected[0] - 1e-9, "one cycle does not get there"


def test_cycles_go_on_until_the_pairs_are_good_enough(monkeypatch):
    monkeypatch.setattr(eigenpairs, "DIRECT_SIDE", 1)
    matrix = with_spectrum(np.linspace(1.0, 0.0, 300))
    seen = []

    def at_the_third(pairs):
        seen.append(pairs.values[:3].sum())
        return len(seen) == 3

    leading_eigenpairs(matrix, 2, good_enough=at_the_third)
    assert len(seen) == 3
    assert seen == sorted(seen), "every cycle comes closer"
    leading_eigenpairs(matrix, 2, good_enough=lambda pairs: bool(seen.append(0)), max_cycles=2)
    assert len(seen) == 5


def test_a_start_near_the_vectors_saves_cycles_and_one_of_no_numbers_is_ignored(monkeypatch):
    monkeypatch.setattr(eigenpairs, "DIRECT_SIDE", 1)
    matrix = with_spectrum(np.linspace(1.0, 0.0, 300))
    exact, vectors = (part[..., ::-1] for part in np.linalg.eigh(matrix))
    near = leading_eigenpairs(matrix, 4, start=vectors[:, :5].astype(np.float32), max_cycles=1)
    np.testing.assert_allclose(near.values[:5], exact[:5], rtol=1e-12)
    plain = leading_eigenpairs(matrix, 4, max_cycles=1)
    spoiled = leading_eigenpairs(matrix, 4, start=np.full((300, 5), np.nan), max_cycles=1)
    np.testing.assert_array_equal(spoiled.values, plain.values)


def test_equal_eigenvalues_are_all_found():
    found = leading_eigenpairs(np.eye(50), 30)
    np.testing.assert_allclose(found.values, np.ones(31))
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(31), atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_new_directions_are_orthonormal_and_away_from_the_past(dtype):
    rng = np.random.default_rng(0)
    past = np.linalg.qr(rng.standard_normal((40, 6)))[0].astype(dtype)
    block = rng.standard_normal((40, 4)).astype(dtype)
    block[:, 3] = past[:, 0] + past[:, 3]  # adds nothing
    found = new_directions(past, block, rng)
    close = 1e-12 if dtype == np.float64 else 1e-5
    np.testing.assert_allclose(found.T @ found, np.eye(4), atol=close)
    np.testing.assert_allclose(past.T @ found, 0.0, atol=close)
    # What the others added is in their span.
    whole = np.hstack([past, found])
    np.testing.assert_allclose(whole @ (whole.T @ block), block, atol=10 * close)
