"""Starts from the relaxation of a tight certificate: there when asked for, and never a loss."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf import factorize
from orthonmf.bounds import primal
from orthonmf.bounds.primal import relaxed_rows
from orthonmf.engine.samples import Samples
from orthonmf.inputs.data import as_matrix
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


def test_a_fit_that_goes_on_from_a_checkpoint_ends_with_the_same_bits(tmp_path, monkeypatch):
    whole = fit(X)
    path = tmp_path / "fit.checkpoint"
    honest = primal.relaxed_rows

    def broken_off(*given):
        raise RuntimeError

    monkeypatch.setattr(primal, "relaxed_rows", broken_off)
    with pytest.raises(RuntimeError):
        fit(X, checkpoint=path)
    monkeypatch.setattr(primal, "relaxed_rows", honest)
    again = fit(X, checkpoint=path)
    np.testing.assert_array_equal(again.components, whole.components)
    assert again.steps_run == whole.steps_run


def parts(n, m, k):
    """Rows of k kinds that share no column, and the kind of every row."""
    rng = np.random.default_rng(0)
    kinds = rng.integers(k, size=n)
    return rng.uniform(0.5, 1.5, (n, m)) * (np.arange(m) % k == kinds[:, None]), kinds


@pytest.mark.parametrize("make", [np.asarray, csr_array])
@pytest.mark.parametrize(("n", "m"), [(30, 40), (90, 12), (500, 12)])
def test_rows_of_one_part_lie_on_one_axis(n, m, make):
    data, kinds = parts(n, m, 3)
    data[4] = 0.0
    # By count, so many seconds allow groups only for the largest.
    rows = relaxed_rows(Samples(as_matrix(make(data))), 3, seconds=0.08)
    assert not rows[4].any()
    rest = np.delete(np.arange(n), 4)
    unit = rows[rest] / np.linalg.norm(rows[rest], axis=1, keepdims=True)
    same = kinds[rest][:, None] == kinds[rest]
    np.testing.assert_allclose(unit @ unit.T, same, atol=0.05)


@pytest.mark.parametrize(("k", "seconds"), [(1, 10.0), (40, 10.0), (3, 1e-6)])
def test_where_there_is_nothing_to_solve_or_no_time_there_are_no_rows(k, seconds):
    assert relaxed_rows(Samples(as_matrix(X)), k, seconds) is None
    assert RELAXATION_STEP not in fit(X, 3, certificate_seconds=1e-6).steps_run
