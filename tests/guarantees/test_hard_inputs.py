"""Whatever is put in, what is said about it is true: generated inputs, exact arithmetic.

Entries, rows, columns and weights differ by powers of two; some weights are zero, some rows and
columns are; data are dense or sparse of any kind, float32 or float64.
"""

import tempfile
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import orthonmf
from orthonmf.errors import ScaleOverflowError
from tests.oracles.exact import exact_error, exact_total, smallest_error

pytestmark = pytest.mark.filterwarnings("ignore::orthonmf.FewerComponentsWarning")

STORES = {
    "array": np.asarray,
    "fortran": np.asfortranarray,
    "csr": sparse.csr_array,
    "csc": sparse.csc_matrix,
    "coo": sparse.coo_array,
    "lil": sparse.lil_matrix,
    "dok": sparse.dok_array,
    "bsr": sparse.bsr_array,
}
# Powers of two of rows and columns: near each other and apart; with weights no squared length
# underflows next to the largest entry.
POWERS = st.sampled_from([0, 0, 0, 1, -3, 30, -30, 60, -60, 90, -90])
NARROW_POWERS = st.sampled_from([0, 0, 0, 1, -3, 20, -20, 55, -55])
WEIGHTS = st.sampled_from([0.0, 1.0, 1.0, 0.1, 3.0, 2.0**-50, 2.0**50])
ENTRIES = st.sampled_from([0.0, 0.0, 1.0, 1.0, 2.0, 0.1, 3.7, 1e-3])


@st.composite
def problems(draw):
    n, m = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    dtype = draw(st.sampled_from([np.float64, np.float64, np.float32]))
    powers = NARROW_POWERS if dtype is np.float32 else POWERS
    X = np.array(draw(st.lists(st.lists(ENTRIES, min_size=m, max_size=m), min_size=n, max_size=n)))
    rows = draw(st.lists(powers, min_size=n, max_size=n))
    columns = draw(st.lists(powers, min_size=m, max_size=m))
    X = np.ldexp(X, np.add.outer(rows, columns)).astype(dtype)
    optional = st.one_of(st.none(), st.just(True))
    weights = {
        name: draw(st.lists(WEIGHTS, min_size=size, max_size=size).filter(any))
        for name, size in (("sample_weight", n), ("feature_weight", m))
        if draw(optional)
    }
    return {
        "X": X,
        "store": draw(st.sampled_from(sorted(STORES))),
        "k": draw(st.integers(1, 3)),
        "orthogonal": draw(st.sampled_from(["samples", "features", "both"])),
        "algorithm": draw(st.sampled_from(["best", "paper"])),
        "certificate": draw(st.sampled_from(["svd", "svd", "tight"])),
        "seed": draw(st.integers(0, 5)),
        **weights,
    }


def fitted(problem, X):
    weights = {
        name: problem[name] for name in ("sample_weight", "feature_weight") if name in problem
    }
    options = {name: problem[name] for name in ("orthogonal", "algorithm", "certificate")}
    return orthonmf.factorize(
        X, problem["k"], random_state=problem["seed"], n_jobs=1, **options, **weights
    )


def dense(loadings):
    return loadings if isinstance(loadings, np.ndarray) else loadings.toarray()


def check_shape_and_orthogonality(X, result):
    assert np.isfinite(result.components).all()
    assert (result.components >= 0).all()
    assert np.isfinite(dense(result.loadings)).all()
    if result.orthogonal != "features":
        assert (np.count_nonzero(dense(result.loadings), axis=1) <= 1).all()
        np.testing.assert_array_equal(result.labels < 0, result.scales == 0)
    if result.orthogonal != "samples":
        assert (np.count_nonzero(result.components, axis=0) <= 1).all()
        np.testing.assert_array_equal(result.feature_labels < 0, result.feature_scales == 0)
    unit = [sum(Fraction(float(value)) ** 2 for value in row) for row in result.components]
    rounding = (X.shape[1] + 8) * float(np.finfo(X.dtype).eps)
    assert all(abs(length - 1) <= rounding for length in unit)


def check_history(result):
    for earlier, later in zip(result.history, result.history[1:], strict=False):
        assert later <= earlier


def check_claims(problem, X, result):
    rows, columns = problem.get("sample_weight"), problem.get("feature_weight")
    total = exact_total(X, rows, columns)
    error = exact_error(X, result.loadings, result.components, rows, columns)
    smallest = smallest_error(X, problem["k"], problem["orthogonal"], rows, columns)
    certificate = result.certificate
    if not total:
        assert result.relative_squared_error == 0
        return
    tolerance = 1e-9 if X.dtype == np.float64 else 1e-4
    assert abs(float(error / total) - result.relative_squared_error) <= tolerance
    if certificate.lower_bound is not None:
        assert Fraction(certificate.lower_bound) * total <= smallest + total * Fraction(2) ** -2000
    if certificate.ratio is not None:
        assert error <= Fraction(certificate.ratio) * smallest * (1 + Fraction(2) ** -200) or (
            error == 0
        )
    if certificate.a_priori_kind == "always":
        assert error <= Fraction(certificate.a_priori_ratio) * smallest
    if certificate.upper_bound is not None:
        assert error <= Fraction(certificate.upper_bound) * total
    assert "nan" not in str(certificate)


def check_round_trips(problem, X, stored, result):
    np.testing.assert_array_equal(dense(result.transform(stored)), dense(result.loadings))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.npz"
        orthonmf.save(result, path)
        again = orthonmf.load(path)
    np.testing.assert_array_equal(again.components, result.components)
    np.testing.assert_array_equal(dense(again.loadings), dense(result.loadings))
    np.testing.assert_array_equal(dense(again.transform(stored)), dense(result.loadings))
    assert again.certificate == result.certificate


def check(problem):
    X = problem["X"]
    stored = STORES[problem["store"]](X)
    try:
        result = fitted(problem, stored)
    except ScaleOverflowError:
        # Only where some scale, or the error, is really beyond its dtype.
        assert float(np.abs(X).max()) > 2.0**100 or "sample_weight" in problem
        return None
    check_shape_and_orthogonality(X, result)
    check_history(result)
    check_claims(problem, X, result)
    check_round_trips(problem, X, stored, result)
    return result


@pytest.mark.slow
@settings(max_examples=250, deadline=None, derandomize=True)
@given(problems())
def test_what_is_said_about_generated_inputs_is_true(problem):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", orthonmf.FewerComponentsWarning)
        check(problem)


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
