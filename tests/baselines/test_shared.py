"""What holds for every baseline, in one loop over all of them."""

from functools import cache

import numpy as np
import pytest
from scipy import sparse

from orthonmf.baselines import BASELINES, solve
from orthonmf.datasets import make_planted
from orthonmf.errors import InvalidInputError, ScaleOverflowError
from orthonmf.measures import non_orthogonality, reconstruction_error

every_baseline = pytest.mark.parametrize("name", BASELINES)


@cache
def solved(name, max_iter):
    """What a baseline finds in the sample matrix; shared, so never to be changed."""
    return solve(name, sample_matrix(), 3, random_state=0, max_iter=max_iter)


def sample_matrix():
    """Return X (40 x 12) with many zeros, a zero row and a zero column, which no method changes."""
    X = make_planted(40, 12, 3, 0.2, random_state=0).X
    X[X < 0.3] = 0
    X[7] = 0
    X[:, 5] = 0
    X.flags.writeable = False
    return X


def product(result):
    return result.left @ result.W


@every_baseline
def test_the_result_has_the_paper_s_orientation_its_error_and_a_whole_history(name):
    X = sample_matrix()
    result = solve(name, X, 3, random_state=0, max_iter=25, record_every=4)
    assert result.A.shape == (12, 3)
    assert result.W.shape == (3, 40)
    assert (result.S is not None) == (BASELINES[name].orthogonal == "both")
    error = reconstruction_error(X.T, result.left, result.W)
    assert result.error == pytest.approx(error, rel=1e-9, abs=1e-9)
    assert result.relative_squared_error == pytest.approx(error**2 / (X**2).sum(), rel=1e-9)
    history = result.history
    assert history.error[-1] == result.error
    assert history.seconds[-1] == result.seconds
    assert history.iterations[0] == 0
    assert history.iterations[-1] == result.iterations <= 25
    inner = history.iterations[1:-1]
    assert np.array_equal(inner, 4 * np.arange(1, len(inner) + 1))
    assert np.all(np.diff(history.seconds) >= 0)
    overlaps = (history.non_orthogonality, history.column_non_orthogonality)
    for figures in (history.error, history.seconds, *overlaps):
        assert len(figures) == len(history.iterations)
        assert np.isfinite(figures).all()
    assert result.stop_reason
    for factor in (result.A, result.W, result.left, result.hardened.A, result.hardened.W):
        assert np.isfinite(factor).all()
        assert factor.min() >= 0


@every_baseline
@pytest.mark.parametrize("exponent", [-900, 20])
def test_a_power_of_two_changes_the_scale_and_not_one_bit_more(name, exponent):
    first = solved(name, 15)
    second = solve(name, np.ldexp(sample_matrix(), exponent), 3, random_state=0, max_iter=15)
    assert np.array_equal(second.W, first.W)
    assert np.array_equal(second.left, np.ldexp(first.left, exponent))
    assert second.error == np.ldexp(first.error, exponent)
    assert np.array_equal(second.hardened.W, np.ldexp(first.hardened.W, exponent))
    assert second.relative_squared_error == first.relative_squared_error


@every_baseline
def test_sparse_input_gives_the_dense_answer_and_is_left_alone(name):
    dense, rows = solved(name, 10), sparse.csc_matrix(sample_matrix())
    second = solve(name, rows, 3, random_state=0, max_iter=10)
    assert np.array_equal(rows.toarray(), sample_matrix())
    np.testing.assert_allclose(product(second), product(dense), rtol=1e-6, atol=1e-8)
    assert second.hardened.error == pytest.approx(dense.hardened.error, rel=1e-8)


@every_baseline
def test_the_seed_decides_and_the_global_generator_is_left_alone(name):
    X = sample_matrix()
    np.random.seed(5)  # noqa: NPY002 - the global generator is what this test watches
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first = solve(name, X, 3, random_state=3, max_iter=10)
    again = solve(name, X, 3, random_state=np.random.default_rng(3), max_iter=10)
    assert np.array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    assert np.array_equal(first.A, again.A)
    assert np.array_equal(first.W, again.W)


@every_baseline
def test_a_time_limit_ends_the_run_after_the_iteration_that_passes_it(name):
    # tol=-1 keeps methods from converging; those that end by themselves may still do so.
    result = solve(name, sample_matrix(), 3, random_state=0, time_limit=0.0, tol=-1)
    assert result.iterations <= 1
    if result.iterations == 1:
        assert result.stop_reason == "time_limit"


@every_baseline
def test_exact_methods_return_disjoint_rows_and_hardening_always_does(name):
    X = make_planted(60, 12, 3, 0.5, random_state=2).X
    result = solve(name, X, 3, random_state=0, max_iter=50)
    if BASELINES[name].exact:
        assert non_orthogonality(result.W) == 0.0
        assert np.all(result.history.non_orthogonality == 0.0)
    assert non_orthogonality(result.hardened.W) == 0.0
    assert np.count_nonzero(result.hardened.W, axis=0).max() == 1
    if BASELINES[name].orthogonal == "both":
        assert non_orthogonality(result.hardened.A.T) == 0.0
    error = reconstruction_error(X.T, result.hardened.A, result.hardened.W)
    assert result.hardened.error == pytest.approx(error, rel=1e-12)


@every_baseline
def test_a_zero_matrix_has_zero_factors(name):
    result = solve(name, np.zeros((6, 4)), 2)
    assert result.stop_reason == "zero matrix"
    assert result.error == 0.0
    assert not result.A.any()
    assert not result.W.any()


@every_baseline
def test_tiny_shapes_work(name):
    for n, m in ((1, 5), (5, 1)):
        X = np.random.default_rng(0).exponential(size=(n, m))
        result = solve(name, X, min(2, n), random_state=0, max_iter=30)
        assert np.isfinite(product(result)).all()


# Methods that minimize something else than the squared error.
OTHER_OBJECTIVES: tuple[str, ...] = ()


@every_baseline
def test_one_component_finds_the_top_singular_pair(name):
    X = make_planted(30, 8, 2, 0.5, random_state=0).X
    values = np.linalg.svd(X, compute_uv=False)
    best = np.sqrt(np.sum(values[1:] ** 2))
    result = solve(name, X, 1, random_state=0, tol=1e-9)
    assert result.hardened.error >= best * (1 - 1e-12)
    if BASELINES[name].orthogonal != "both":
        assert result.hardened.error == pytest.approx(best, rel=1e-9)
        if name not in OTHER_OBJECTIVES:
            assert result.error == pytest.approx(best, rel=2e-3)


def test_bad_arguments_are_refused():
    X = sample_matrix()
    with pytest.raises(InvalidInputError, match="k must be a positive integer"):
        solve("nmf", X, 0)
    with pytest.raises(InvalidInputError, match=r"Negative values in data: the first is X\[0, 1\]"):
        solve("nmf", -X, 2)
    with pytest.raises(InvalidInputError, match="at least as many samples"):
        solve("onp-mf", X[:2], 3)


def test_a_factor_that_does_not_fit_is_named():
    X = np.full((40, 3), 1.7e308)
    with pytest.raises(ScaleOverflowError, match="Row 0"):
        solve("hals", X, 1, random_state=0, max_iter=5)
