"""Certificates of fits, and of labels, under the Kullback-Leibler divergence."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import orthonmf
from orthonmf.errors import InvalidInputError, SourceChangedError
from tests.arrays import to_array
from tests.oracles.divergence import least_divergence, least_divergence_with_core

pytestmark = pytest.mark.filterwarnings("ignore::orthonmf.FewerComponentsWarning")
KL = "kullback-leibler"
SETTINGS = ("samples", "features", "both")


def counts(n, m, k, seed=0, per_row=40):
    rng = np.random.default_rng(seed)
    labels = rng.integers(k, size=n)
    return rng.poisson(per_row * rng.dirichlet(np.full(m, 0.3), k)[labels]).astype(float), labels


def fit(X, orthogonal, k=2, **options):
    asked = (k, k) if orthogonal == "both" else k
    return orthonmf.factorize(
        X, asked, orthogonal=orthogonal, beta_loss=KL, random_state=0, **options
    )


def divergence_of(X, result, w, v):
    """The weighted divergence of the stored factors, in long doubles, entry by entry."""
    loadings = to_array(result.loadings).astype(np.longdouble)
    fitted = loadings @ result.components.astype(np.longdouble)
    X = np.asarray(X, np.longdouble)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(X > 0, X * np.log(X / fitted), 0) - X + fitted
    return w @ terms @ v


@pytest.mark.parametrize("orthogonal", SETTINGS)
@pytest.mark.parametrize("method", ["svd", "tight"])
@pytest.mark.parametrize("weighted", [False, True])
def test_divergence_and_bound_enclose_those_of_brute_force(orthogonal, method, weighted):
    rng = np.random.default_rng(7)
    for _ in range(2):
        X = rng.poisson(rng.gamma(0.8, 3.0, (6, 5))).astype(float)
        w, v = (rng.random(6) + 0.1, rng.random(5) + 0.1) if weighted else (np.ones(6), np.ones(5))
        weights = {"sample_weight": w, "feature_weight": v} if weighted else {}
        result = fit(X, orthogonal, **weights)
        certificate = result.certify(X, method, sample_weight=weights.get("sample_weight"))
        seen = np.asarray(X, np.longdouble) * w[:, None] * v
        least = {
            "samples": lambda seen=seen: least_divergence(seen, 2),
            "features": lambda seen=seen: least_divergence(seen.T, 2),
            "both": lambda seen=seen: least_divergence_with_core(seen, 2, 2),
        }[orthogonal]()
        information = least_divergence(seen, 1)
        assert divergence_of(X, result, w, v) / information <= certificate.upper_bound
        assert certificate.upper_bound <= float(divergence_of(X, result, w, v) / information) + 1e-9
        if certificate.lower_bound is not None:
            assert certificate.lower_bound <= least / information
            assert certificate.ratio >= divergence_of(X, result, w, v) / least


@pytest.mark.parametrize("orthogonal", SETTINGS)
def test_the_text_tells_the_ratio_and_the_information_kept(orthogonal):
    X, _ = counts(60, 30, 3)
    result = fit(X, orthogonal, 3)
    certificate = result.certify(X, "tight", seconds=20)
    assert str(certificate).startswith("divergence at most 1.")
    assert "of the information that rows hold about columns, and no answer" in str(certificate)
    assert certificate.ratio < 1.25
    assert certificate.lower_bound <= result.relative_error <= certificate.upper_bound
    assert result.certify(X, "svd").ratio >= certificate.ratio


def test_float32_and_any_scale_are_certified():
    X, _ = counts(60, 30, 3)
    ratio = fit(X, "samples", 3).certificate.ratio
    for other in (X.astype(np.float32), X * 2.0**-600, X * 2.0**600):
        assert fit(other, "samples", 3).certificate.ratio == pytest.approx(ratio, rel=1e-4)


def test_one_part_and_a_part_for_every_row_are_the_smallest_possible():
    X, _ = counts(8, 6, 3)
    assert fit(X, "samples", 1).certificate.ratio <= 1.0 + 1e-8
    every = fit(X, "samples", 8).certificate
    assert every.optimal or every.upper_bound < 1e-9


def test_where_rows_and_columns_have_nothing_in_common_nothing_is_claimed():
    X = np.outer([1.0, 2.0, 3.0], [3.0, 4.0, 7.0, 11.0])
    certificate = fit(X, "samples", 2).certificate
    assert certificate.optimal or "nothing in common" in str(certificate)
    power = fit(np.outer([1.0, 2.0, 4.0], [1.0, 1.0]), "samples", 1).certificate
    assert str(power) == "divergence the smallest possible; proven by an exact fit"


@pytest.mark.parametrize("orthogonal", SETTINGS)
def test_changed_data_are_refused(orthogonal):
    X, _ = counts(30, 20, 3)
    result = fit(X, orthogonal, 3)
    X[0, 0] += 5.0
    with pytest.raises(SourceChangedError, match="divergence of the result on X"):
        _ = result.certificate


@pytest.mark.parametrize("orthogonal", SETTINGS)
@pytest.mark.parametrize("weighted", [False, True])
def test_labels_of_others_keep_their_groups_and_get_the_smallest_divergence(orthogonal, weighted):
    X, labels = counts(60, 30, 3)
    names, groups = np.array(["a", "b", "c"])[labels], np.arange(30) % 4
    w, v = np.ones(60), np.ones(30)
    if weighted:
        w, v = np.split(np.random.default_rng(1).random(90), [60])
    judged = orthonmf.certify(
        X,
        None if orthogonal == "features" else names,
        None if orthogonal == "samples" else groups,
        n_components=(3, 4) if orthogonal == "both" else None,
        beta_loss=KL,
        sample_weight=w,
        feature_weight=v,
        method="svd",
    )
    seen = w[:, None] * X * v
    F = np.eye(60) if orthogonal == "features" else np.eye(3)[labels]
    G = np.eye(30) if orthogonal == "samples" else np.eye(4)[groups]
    least = least_divergence(seen, 1) - least_divergence(F.T @ seen @ G, 1)
    assert judged.divergence == pytest.approx(float(least), rel=1e-11)
    assert float(divergence_of(X, judged, w, v)) == pytest.approx(float(least), rel=1e-11)
    for given, kept in ((labels, judged.labels), (groups, judged.feature_labels)):
        if kept is not None:
            pairs = zip(given[kept >= 0].tolist(), kept[kept >= 0].tolist(), strict=True)
            assert len({*pairs}) == given.max() + 1
    assert judged.certificate.ratio > 1.0


def test_what_has_no_finite_divergence_is_refused_with_the_remedy():
    X, labels = counts(20, 10, 3)
    outside = np.where(labels == labels[4], -1, labels)
    with pytest.raises(InvalidInputError, match=r"row \d+ holds something and is in no"):
        orthonmf.certify(X, outside, beta_loss=KL)
    with pytest.raises(InvalidInputError, match=r"column \d+ holds something"):
        orthonmf.certify(X, None, np.arange(10) - 1, beta_loss=KL)
    with pytest.raises(InvalidInputError, match=r"n_components=\(k, l\), two numbers"):
        orthonmf.certify(X, labels, np.zeros(10, int), beta_loss=KL)
    X[labels == labels[4]] = 0.0
    judged = orthonmf.certify(X, outside, beta_loss=KL, method="svd")
    assert np.array_equal(judged.labels < 0, outside < 0)


def test_a_zero_matrix_has_nothing_to_lose():
    for orthogonal in ("samples", "features"):
        result = fit(np.zeros((4, 3)), orthogonal)
        assert result.certificate.optimal


def test_weights_of_zero_leave_a_sparse_matrix_as_it_is():
    X, _ = counts(30, 20, 3)
    w, v = np.ones(30), np.ones(20)
    w[3] = v[5] = v[7] = 0.0
    sparse = csr_array(X)
    for orthogonal in SETTINGS:
        weights = {"sample_weight": w, "feature_weight": v}
        result = fit(sparse, orthogonal, 3, **weights)
        dense = fit(X, orthogonal, 3, **weights)
        assert (sparse != csr_array(X)).nnz == 0
        assert sparse.nnz == np.count_nonzero(X)
        assert result.divergence == pytest.approx(dense.divergence, rel=1e-9)
        assert result.certificate.ratio == pytest.approx(dense.certificate.ratio, rel=1e-6)
