"""Every number of a certificate against exact arithmetic, on matrices made to be awkward.

No tolerance anywhere: smallest errors are known to 2**-2600 of the squared norm, errors of the
stored factors exactly. Rows and columns lie up to 2**600 apart, so squares underflow; weights
differ and may be zero; data are dense or sparse of any kind, float32 or float64.
"""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import orthonmf
from orthonmf.inputs.data import as_matrix
from tests.arrays import to_array
from tests.oracles.exact import exact_error, exact_total, smallest_error

pytestmark = pytest.mark.filterwarnings("ignore::orthonmf.FewerComponentsWarning")
RESOLUTION = Fraction(1, 2**2590)
STORES = [np.asarray, np.asfortranarray, sparse.csr_array, sparse.csc_matrix, sparse.coo_array]
STORES += [sparse.lil_matrix, sparse.dok_array, sparse.bsr_array]
WEIGHTS = [0.0, 1.0, 1.0, 0.1, 3.0, 2.0**-50, 2.0**50]


@st.composite
def problems(draw):
    """A tiny matrix, weights or none, and how it is to be factorized."""
    orthogonal = draw(st.sampled_from(["samples", "features", "both"]))
    largest = 4 if orthogonal == "both" else 6
    n, m = draw(st.integers(1, largest)), draw(st.integers(1, min(largest, 5)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    X = KINDS[draw(st.sampled_from(sorted(KINDS)))](rng, n, m)
    reach = draw(st.sampled_from([0, 0, 30, 90, 150, 300]))
    X = np.ldexp(X, rng.integers(-reach, reach + 1, n)[:, None])
    X = np.ldexp(X, rng.integers(-reach, reach + 1, m))
    if draw(st.booleans()):
        X[-1] = X[0]
    if draw(st.integers(0, 4)) == 0 and reach <= 30:
        X = X.astype(np.float32)

    def weights(size, share):
        if draw(st.integers(0, share)):
            return None
        drawn = rng.choice(WEIGHTS, size)
        return drawn if reach <= 90 and drawn.any() else rng.exponential(size=size)

    return X, draw(st.integers(1, 3)), orthogonal, weights(n, 3), weights(m, 5)


KINDS = {
    "random": lambda rng, n, m: rng.exponential(size=(n, m)),
    "sparse": lambda rng, n, m: rng.exponential(size=(n, m)) * (rng.random((n, m)) < 0.6),
    "integers": lambda rng, n, m: rng.integers(0, 4, (n, m)).astype(float),
    "rank one": lambda rng, n, m: np.outer(rng.integers(1, 9, n), rng.integers(1, 9, m)) * 1.0,
    "nearly rank one": lambda rng, n, m: (
        np.outer(rng.random(n), rng.random(m)) * (1 + 1e-12 * rng.random((n, m)))
    ),
    "identity": lambda rng, n, m: np.eye(n, m)[rng.permutation(n)],
    "subnormal": lambda rng, n, m: rng.integers(0, 6, (n, m)) * 5e-324,
    "blocks": lambda rng, n, m: 1.0 * (rng.integers(2, size=n)[:, None] == rng.integers(2, size=m)),
}


def check(problem, **options):
    """Compare all that a fit claims with what is so; the kinds of claims that were made."""
    X, k, orthogonal, rows, columns = problem
    store = options.pop("store")
    result = orthonmf.factorize(
        store(X), k, orthogonal=orthogonal, sample_weight=rows, feature_weight=columns, **options
    )
    underflown = as_matrix(X, sample_weight=rows, feature_weight=columns).underflown
    assert ("underflow" in result.certificate.quantity) == (len(underflown) > 0)
    X = X.copy()
    X[underflown] = 0.0  # which is what claims are about, as they say
    total = exact_total(X, rows, columns)
    smallest = smallest_error(X, k, orthogonal, rows, columns)
    slack = total * RESOLUTION
    error = exact_error(X, result.loadings, result.components, rows, columns)
    assert error + slack >= smallest
    claim, made = result.certificate, set()
    assert "nan" not in str(claim)
    if claim.lower_bound is not None:
        made.add("lower bound")
        assert Fraction(claim.lower_bound) * total <= smallest + slack
    if claim.upper_bound is not None:
        made.add("upper bound")
        assert error <= Fraction(claim.upper_bound) * total
    if claim.ratio is not None:
        made.add("ratio")
        assert error <= Fraction(claim.ratio) * (smallest + slack)
        bounds = Fraction(claim.ratio) * Fraction(claim.lower_bound) * total
        # The relative bound is rounded down once more than the ratio it stands beside.
        assert error <= bounds * (1 + Fraction(1, 10**12))
    if claim.a_priori_kind == "always":
        made.add("promise")
        assert error <= Fraction(claim.a_priori_ratio) * (smallest + slack)
    tolerance = 1e-9 if X.dtype == np.float64 else 1e-4
    assert abs(float(error / total) - result.relative_squared_error) <= tolerance
    assert result.history[-1] == result.relative_squared_error
    assert list(result.history) == sorted(result.history, reverse=True)
    check_shape_and_orthogonality(X, result)
    return made


def check_shape_and_orthogonality(X, result):
    assert np.isfinite(result.components).all()
    assert (result.components >= 0).all()
    assert np.isfinite(to_array(result.loadings)).all()
    if result.orthogonal != "features":
        assert (np.count_nonzero(to_array(result.loadings), axis=1) <= 1).all()
        np.testing.assert_array_equal(result.labels < 0, result.scales == 0)
    if result.orthogonal != "samples":
        assert (np.count_nonzero(result.components, axis=0) <= 1).all()
        np.testing.assert_array_equal(result.feature_labels < 0, result.feature_scales == 0)
    squares = [sum(Fraction(float(value)) ** 2 for value in row) for row in result.components]
    rounding = (X.shape[1] + 8) * float(np.finfo(X.dtype).eps)
    assert all(abs(square - 1) <= rounding for square in squares)


@pytest.mark.slow
@settings(max_examples=250, deadline=None)
@given(
    problem=problems(),
    algorithm=st.sampled_from(["paper", "best"]),
    certificate=st.sampled_from(["svd", "tight"]),
    store=st.sampled_from(STORES),
    seed=st.integers(0, 100),
)
def test_no_claim_is_false(problem, algorithm, certificate, store, seed):
    if exact_total(problem[0], *problem[3:]):
        check(problem, algorithm=algorithm, certificate=certificate, store=store, random_state=seed)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    problem=problems(),
    store=st.sampled_from(STORES),
    max_iter=st.sampled_from([1, 300]),
    tol=st.sampled_from([0.0, 0.5]),
)
def test_no_promise_of_local_search_is_false(problem, store, max_iter, tol):
    X, k, orthogonal = problem[:3]
    full_rank = orthogonal == "both" and k >= min(X.shape)  # Theorem 9 has no k-means
    kmeans = {"kmeans": "local-search", "max_iter": max_iter, "tol": tol}
    if exact_total(X, *problem[3:]):
        check(
            problem, algorithm="paper", store=store, random_state=0, **({} if full_rank else kmeans)
        )


@pytest.mark.parametrize("orthogonal", ["samples", "features", "both"])
def test_claims_of_every_kind_are_made_where_nothing_is_awkward(orthogonal):
    made = set()
    for seed in range(10):
        X = np.random.default_rng(seed).exponential(size=(4, 4))
        options = {"algorithm": "paper", "kmeans": "local-search", "store": np.asarray}
        made |= check((X, 2, orthogonal, None, None), random_state=seed, **options)
    assert made == {"lower bound", "upper bound", "ratio", "promise"}


@pytest.mark.parametrize("orthogonal", ["samples", "features", "both"])
@pytest.mark.parametrize("algorithm", ["best", "paper"])
def test_nothing_is_promised_where_scales_are_rounded_to_subnormal_numbers(orthogonal, algorithm):
    """The optimum is 0, and no scale can be stored that reaches it."""
    X = np.outer([1, 2, 3, 5], [1, 2, 3, 4]) * 5e-324
    options = {"orthogonal": orthogonal, "algorithm": algorithm, "random_state": 0}
    result = orthonmf.factorize(X, 4, **options)
    assert result.relative_squared_error > 1e-4
    assert result.promise.ratio is None
    assert "subnormal" in result.promise.reason
    assert result.certificate.ratio is None
    assert result.certificate.a_priori_ratio is None
    small = np.random.default_rng(0).random((5, 4)) * 1e-300
    assert orthonmf.factorize(small, 2, **options).promise.ratio > 1
