"""Starts from the relaxation of a tight certificate: there when asked for, and never a loss."""

import numpy as np
import pytest

from orthonmf import factorize
from orthonmf.onmf.search.escapes import RELAXATION_STEP
from tests.quick_cases import mostly_slow

X = np.random.default_rng(0).exponential(size=(40, 12))


def fit(X, k=3, certificate="tight", n_init=2, **options):
    return factorize(X, k, certificate=certificate, n_init=n_init, random_state=0, **options)


@pytest.mark.filterwarnings("ignore::orthonmf.errors.FewerComponentsWarning")
@pytest.mark.parametrize("orthogonal", ["samples", "features", "both"])
def test_a_fit_with_several_starts_and_a_tight_certificate_says_that_it_has_them(orthogonal):
    assert RELAXATION_STEP in fit(X, orthogonal=orthogonal).steps_run
    assert RELAXATION_STEP not in fit(X, orthogonal=orthogonal, certificate="svd").steps_run
    assert RELAXATION_STEP not in fit(X, orthogonal=orthogonal, n_init="auto").steps_run
    assert RELAXATION_STEP not in fit(X, orthogonal=orthogonal, algorithm="paper").steps_run


def test_data_that_are_read_from_elsewhere_have_none(tmp_path):
    np.save(tmp_path / "X.npy", X)
    result = fit(np.load(tmp_path / "X.npy", mmap_mode="r"))
    assert RELAXATION_STEP not in result.steps_run


@pytest.mark.parametrize("orthogonal", mostly_slow(["samples", "features"], quick=1))
def test_with_them_no_answer_is_worse(orthogonal):
    for seed in range(3):
        data = (np.random.default_rng(seed).random((30, 10)) < 0.5).astype(float)
        plain, relaxed = (
            fit(data, 4, one, orthogonal=orthogonal).relative_squared_error
            for one in ("svd", "tight")
        )
        assert relaxed <= plain * (1.0 + 1e-12)


def smallest_error_of_four(X):
    """By the leading eigenvalue of every set of rows, and all ways to split the whole twice."""
    sets = np.arange(2 ** len(X))
    inside = (sets[:, None] >> np.arange(len(X))) & 1
    captured = np.linalg.eigvalsh((X @ X.T) * inside[:, :, None] * inside[:, None, :])[:, -1]
    halves = np.empty(len(sets))
    for one in sets:
        part = sets[(sets & one) == sets]
        halves[one] = (captured[part] + captured[one ^ part]).max()
    return float(np.sum(X**2) - (halves + halves[sets[-1] ^ sets]).max())


def test_a_rugged_matrix_whose_smallest_error_ordinary_starts_do_not_find():
    data = (np.random.default_rng(357).random((12, 8)) < 0.5).astype(float)
    optimum = smallest_error_of_four(data) / np.sum(data**2)
    assert fit(data, 4, "svd").relative_squared_error > 1.01 * optimum
    assert fit(data, 4).relative_squared_error == pytest.approx(optimum, rel=1e-4)


def test_the_same_seed_gives_the_same_bits_for_any_number_of_threads():
    first, second = (fit(X, n_jobs=jobs) for jobs in (1, 2))
    assert first.relative_squared_error == second.relative_squared_error
    np.testing.assert_array_equal(first.components, second.components)
