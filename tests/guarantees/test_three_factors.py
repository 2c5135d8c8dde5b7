"""Three factors against all pairs of partitions of small matrices, and what is claimed of them."""

from functools import cache

import numpy as np
import pytest

import orthonmf
from orthonmf.bounds.allowance import Allowance
from orthonmf.bounds.table import Case, find_bounds
from orthonmf.inputs.data import as_matrix
from tests.guarantees.small_matrices import at_most, small_matrices
from tests.oracles.double_factor import best_double_factor_error
from tests.oracles.single_factor import best_single_factor_error
from tests.oracles.three_factors import best_three_factor_error
from tests.quick_cases import mostly_slow

pytestmark = pytest.mark.filterwarnings("ignore::orthonmf.errors.FewerComponentsWarning")
N_MATRICES = 24


@cache
def case(seed):
    """A matrix of up to 5 x 5 and its least squared error with two groups of each side."""
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(3, 6, 2))
    X = rng.exponential(size=shape) if seed % 3 else rng.integers(0, 4, shape).astype(float)
    X[0, 0] = 1.0
    return X, best_three_factor_error(X, 2, 2)


def fit(X, sizes=(2, 2), **options):
    return orthonmf.factorize(X, sizes, orthogonal="both", random_state=0, **options)


@pytest.mark.slow
def test_the_oracle_agrees_with_the_other_ones_at_its_limits():
    for seed in range(3):
        X = np.random.default_rng(seed).exponential(size=(4, 4))
        tail = np.sum(np.linalg.svd(X, compute_uv=False)[1:] ** 2)
        assert best_three_factor_error(X, 1, 3) == pytest.approx(tail, rel=1e-9)
        samples, features = best_single_factor_error(X, 2), best_single_factor_error(X.T, 2)
        assert best_three_factor_error(X, 2, 4) == pytest.approx(samples, rel=1e-9)
        assert best_three_factor_error(X, 4, 2) == pytest.approx(features, rel=1e-9)
        found = best_three_factor_error(X, 2, 2)
        assert max(samples, features) <= found * (1 + 1e-9)
        assert found <= best_double_factor_error(X, 2) * (1 + 1e-9)


@pytest.mark.parametrize(("n_init", "count"), mostly_slow([(1, N_MATRICES), (10, 4)], 0))
def test_an_answer_is_never_below_the_oracle_and_nearly_always_equal(n_init, count):
    excess = []
    for X, optimum in map(case, range(count)):
        found = fit(X, n_init=n_init).relative_squared_error
        least = optimum / np.sum(X**2)
        assert found >= least * (1 - 1e-9) - 1e-14
        excess.append(found - least * (1 + 1e-6))
        assert found <= 1.07 * least + 1e-14
    allowed = 0.05 if n_init == 1 else 0.0
    assert np.mean(np.array(excess) > 1e-14) <= allowed


def test_promises_hold_on_average_against_the_oracle():
    for X, optimum in map(case, range(12)):
        if optimum < 1e-9 * np.sum(X**2):
            continue
        results = [
            orthonmf.factorize(X, (2, 2), orthogonal="both", init="lines", random_state=seed)
            for seed in range(3)
        ]
        ratios = [r.relative_squared_error * np.sum(X**2) / optimum for r in results]
        # 5 (2 + H_1 + H_1), and what rounded draws add.
        assert all(20.0 <= r.promise.ratio <= 20.1 for r in results)
        assert all(r.promise.kind == "expected" for r in results)
        assert np.mean(ratios) <= results[0].promise.ratio


@pytest.mark.parametrize(
    ("certificate", "count"), mostly_slow([("svd", 20), ("tight", 20)], quick=1)
)
def test_no_bound_is_above_the_oracle(certificate, count):
    rng = np.random.default_rng(5)
    for X in small_matrices(rng, 4, 5, count):
        largest = X.max()
        X = X / largest
        optimum, total = best_three_factor_error(X, 2, 3), float(np.sum(X**2))
        case = Case(as_matrix(X), "both", (2, 3), optimum, allowance=Allowance(2.0))
        bounds = find_bounds(case, certificate)
        assert bounds
        assert all(at_most(bound.value, optimum, total) for bound in bounds)


def test_a_certificate_is_the_larger_bound_of_the_two_sides():
    X = np.random.default_rng(0).exponential(size=(20, 15))
    result = fit(X, (2, 5), certificate="tight", certificate_seconds=5.0)
    rows = orthonmf.factorize(X, 2, random_state=0, certificate="tight").certificate
    found = result.certificate
    assert found.lower_bound >= 0.98 * rows.lower_bound
    assert "groups of rows alone" in found.method
    assert "part of the gap" in str(found)
    assert found.ratio >= 1.0


@pytest.mark.parametrize("sizes", [(1, 3), (3, 1), (1, 1)])
def test_one_group_on_a_side_is_the_top_singular_pair(sizes):
    X = np.random.default_rng(3).exponential(size=(30, 20))
    result = fit(X, sizes)
    tail = 1.0 - np.linalg.svd(X, compute_uv=False)[0] ** 2 / np.sum(X**2)
    assert result.relative_squared_error == pytest.approx(tail, rel=1e-10)
    assert result.core.shape == (1, 1)
    assert result.certificate.ratio < 1.0 + 1e-9
    assert "part of the gap" not in str(result.certificate)


def test_as_many_groups_as_points_are_the_setting_of_the_other_side():
    X = np.random.default_rng(4).exponential(size=(12, 9))
    features = orthonmf.factorize(X, 3, orthogonal="features", random_state=0)
    samples = orthonmf.factorize(X, 3, orthogonal="samples", random_state=0)
    rows, columns = fit(X, (12, 3)), fit(X, (3, 9))
    assert rows.relative_squared_error == pytest.approx(features.relative_squared_error, rel=1e-6)
    assert columns.relative_squared_error == pytest.approx(samples.relative_squared_error, rel=1e-6)
    assert fit(X, (12, 9)).relative_squared_error < 1e-28
