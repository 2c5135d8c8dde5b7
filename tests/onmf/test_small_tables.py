"""Small tables: what one default call finds next to many starts, and on tables that are hard."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import orthonmf
from benchmarks.tables import make_table
from orthonmf.errors import FewerComponentsWarning
from orthonmf.onmf.small_tables import STEP
from tests.oracles.double_factor import best_double_factor_error
from tests.oracles.three_factors import best_three_factor_error
from tests.quick_cases import mostly_slow
from tests.same_bits import assert_same_bits

pytestmark = pytest.mark.filterwarnings("ignore::orthonmf.errors.FewerComponentsWarning")


def fit(X, asked, **options):
    options = {"random_state": 0, "certificate": None, **options}
    return orthonmf.factorize(X, asked, orthogonal="both", **options)


def error(X, asked, **options):
    return fit(X, asked, **options).relative_squared_error


@pytest.mark.slow
@pytest.mark.parametrize("number", range(5))
def test_one_call_is_within_one_percent_of_many_starts(number):
    table = make_table(number)
    asked = table.sizes if number % 2 else min(table.sizes)
    once = error(table.counts, asked)
    many = error(table.counts, asked, n_init=4, random_state=9)
    assert once <= 1.01 * min(many, once) + 1e-12


@pytest.mark.parametrize("seed", mostly_slow(range(8), quick=1))
def test_the_best_blocks_and_the_best_core_are_found_on_tiny_tables(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, rng.integers(3, 6, 2)).astype(float)
    X[0, 0] = 1.0
    total = np.sum(X**2)
    assert error(X, 2) == pytest.approx(best_double_factor_error(X, 2) / total, abs=1e-9)
    assert error(X, (2, 2)) == pytest.approx(best_three_factor_error(X, 2, 2) / total, abs=1e-9)


@pytest.mark.parametrize("number", mostly_slow(range(4), quick=1))
def test_a_core_is_not_above_blocks_of_the_same_number(number):
    table = make_table(number)
    k = min(table.sizes)
    assert error(table.counts, (k, k)) <= error(table.counts, k) * (1 + 1e-9)


def test_what_is_missing_doubled_or_weighted_changes_nothing_else():
    X = make_table(2).counts[:20, :16]
    padded = np.zeros((24, 19))
    padded[:20, :16] = X
    doubled = np.concatenate([X, X])
    for asked in (4, (4, 5)):
        plain = error(X, asked)
        result = fit(padded, asked)
        assert result.relative_squared_error == pytest.approx(plain, rel=1e-3)
        assert (result.labels[20:] == -1).all()
        assert (result.feature_labels[16:] == -1).all()
        assert error(doubled, asked) == pytest.approx(plain, rel=1e-3)
        assert error(X, asked, sample_weight=np.full(20, 2.0)) == pytest.approx(plain, rel=1e-3)
        assert error(X.astype(np.float32), asked) == pytest.approx(plain, rel=1e-3)
        assert error(csr_array(X), asked) == pytest.approx(plain, rel=1e-3)
        assert error(np.ldexp(X, 900), asked) == error(X, asked)


@pytest.mark.parametrize("asked", [30, (30, 40), (2, 40), (30, 2), (1, 5), 1])
def test_more_groups_than_points_and_one_group_are_answered(asked):
    X = np.random.default_rng(0).poisson(2.0, (12, 9)).astype(float)
    result = fit(X, asked)
    fitted = np.asarray(result.loadings @ result.components)
    squared = np.sum((X - fitted) ** 2) / np.sum(X**2)
    assert result.relative_squared_error == pytest.approx(squared, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("asked", [4, (4, 5)])
def test_the_same_seed_gives_the_same_bits_and_a_file_goes_on_with_them(asked, tmp_path):
    X = make_table(0).counts
    plain = fit(X, asked, n_jobs=1)
    assert STEP in plain.steps_run
    kept = tmp_path / "fit.checkpoint"
    others = [fit(X, asked, n_jobs=2)]
    others += [fit(X, asked, checkpoint=kept) for _ in range(2)]
    for other in others:
        assert_same_bits(other, plain)


def test_a_start_that_was_given_and_a_rough_answer_are_left_alone():
    X = make_table(0).counts
    given = np.random.default_rng(0).random((4, X.shape[1]))
    for options in ({"init": given}, {"max_iter": 1}, {"tol": 0.1}):
        for asked in (4, (4, 4)):
            assert STEP not in fit(X, asked, **options).steps_run


def test_blocks_that_do_not_help_stay_unused():
    X = np.outer(np.arange(1.0, 20.0), np.arange(1.0, 15.0))
    with pytest.warns(FewerComponentsWarning):
        result = fit(X, 4)
    assert result.n_components_found == 1
    assert result.relative_squared_error < 1e-12
