"""A given partition is refitted to its smallest error, keeps its groups, and gets a certificate."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.cluster import KMeans

import orthonmf
from orthonmf.datasets import make_planted
from orthonmf.errors import InvalidInputError
from tests.oracles.three_factors import captured_by_groups

pytestmark = pytest.mark.filterwarnings("ignore::orthonmf.FewerComponentsWarning")


def some_matrix(n=40, m=15, seed=0):
    return np.random.default_rng(seed).exponential(size=(n, m))


def error_of_labels(X, labels, feature_labels=None):
    """The definition: what the best rank-one matrix of every block leaves."""
    captured = 0.0
    for group in set(labels.tolist()) - {-1}:
        block = X[labels == group]
        if feature_labels is not None:
            block = block[:, feature_labels == group]
        if block.size:
            captured += np.linalg.norm(block, 2) ** 2
    return 1.0 - captured / np.square(X).sum()


def mapped(X, folder):
    np.save(folder / "x.npy", X)
    return np.load(folder / "x.npy", mmap_mode="r")


@pytest.mark.parametrize("orthogonal", ["samples", "features"])
@pytest.mark.parametrize("store", ["dense", "sparse", "mapped"])
def test_labels_keep_their_groups_and_get_the_smallest_error(orthogonal, store, tmp_path):
    X = some_matrix()
    labels = np.random.default_rng(1).integers(-1, 4, size=len(X))
    name = "labels" if orthogonal == "samples" else "feature_labels"
    given = X if orthogonal == "samples" else X.T
    stored = {"dense": given, "sparse": csr_array(given), "mapped": mapped(given, tmp_path)}[store]
    judged = orthonmf.certify(stored, **{name: labels})
    kept = getattr(judged, name)
    assert judged.orthogonal == orthogonal
    assert judged.relative_squared_error == pytest.approx(error_of_labels(X, labels), rel=1e-8)
    assert len({*zip(labels.tolist(), kept.tolist(), strict=True)}) == 5
    assert ((labels < 0) == (kept < 0)).all()
    if store != "mapped":  # of a wide matrix on disk nothing is proven
        assert judged.certificate.lower_bound <= judged.relative_squared_error
        assert judged.certificate.ratio > 1


def test_a_bound_of_zero_is_the_reason_why_nothing_is_proven():
    """With as many groups allowed as there are columns no singular value is left."""
    X = some_matrix(n=9, m=4)
    judged = orthonmf.certify(X, np.arange(9) % 3, n_components=9)
    assert judged.relative_squared_error > 0.01
    assert judged.certificate.ratio is None
    assert "lower bound tried is zero" in judged.certificate.reason
    assert "given" not in str(judged.certificate)
    assert "given" in judged.promise.reason


def test_blocks_are_rows_and_columns_of_the_same_label():
    X = some_matrix()
    rows = np.array(["a", "b", "", "only rows"])[np.arange(40) % 4]
    columns = np.array(["b", "a", "only columns"])[np.arange(15) % 3]
    judged = orthonmf.certify(X, rows, columns, n_components=5, method="svd")
    numbers = {"a": 0, "b": 1}
    expected = error_of_labels(
        X,
        np.array([numbers.get(name, -1) for name in rows]),
        np.array([numbers.get(name, -1) for name in columns]),
    )
    assert judged.orthogonal == "both"
    assert judged.relative_squared_error == pytest.approx(expected, rel=1e-8)
    assert judged.n_components == 5
    assert judged.n_components_found == 2
    overlap = judged.components @ judged.components.T
    assert overlap[0, 1] == 0.0


@pytest.mark.parametrize("orthogonal", ["samples", "features", "both"])
def test_the_labels_of_a_fit_get_its_certificate(orthogonal):
    X = make_planted(60, 20, 3, 0.3, orthogonal, random_state=0).X
    weights = np.random.default_rng(0).integers(1, 4, size=60)
    fit = orthonmf.factorize(X, 3, orthogonal=orthogonal, sample_weight=weights, random_state=0)
    judged = orthonmf.certify(
        X, fit.labels, fit.feature_labels, sample_weight=weights, method="svd"
    )
    assert judged.relative_squared_error == pytest.approx(fit.relative_squared_error, rel=1e-6)
    assert judged.certificate.lower_bound == pytest.approx(fit.certificate.lower_bound, rel=1e-9)


def test_feature_weights_are_the_metric():
    X, labels = some_matrix(), np.arange(40) % 3
    weights = np.random.default_rng(2).integers(0, 3, size=15).astype(float)
    judged = orthonmf.certify(X, labels, feature_weight=weights)
    expected = error_of_labels(X * np.sqrt(weights), labels)
    assert judged.relative_squared_error == pytest.approx(expected, rel=1e-8)


def test_labels_of_scikit_learn_are_judged():
    X = some_matrix(40, 8)
    labels = KMeans(4, n_init=1, random_state=0).fit_predict(X)
    judged = orthonmf.certify(X, labels)
    assert judged.certificate.ratio < orthonmf.certify(X, labels, method="svd").certificate.ratio
    assert judged.steps_run == ("refit of given labels",)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (None, "give labels, feature_labels, or both"),
        ([0, 1], r"labels must hold 40 labels, not shape \(2,\)"),
        (np.zeros((40, 1)), r"not shape \(40, 1\)"),
        ([0.0] * 39 + [np.inf], r"labels\[39\] is inf; labels are integers or texts"),
        ([0.5] + [0] * 39, r"labels\[0\] is 0.5"),
    ],
)
def test_labels_that_say_nothing_are_refused_with_their_place(labels, message):
    with pytest.raises(InvalidInputError, match=message):
        orthonmf.certify(some_matrix(), labels)


GROUPS = [0, 0, 0, 1, 1, 1, 2, 2, 2, None, None, None]
TEXTS = [None if group is None else "abc"[group] for group in GROUPS]


def in_place_of_none(value, groups=GROUPS):
    return [value if group is None else group for group in groups]


@pytest.mark.parametrize(
    "labels",
    [
        in_place_of_none(-1),
        in_place_of_none(np.nan),
        np.array(in_place_of_none(np.nan), dtype=object),
        GROUPS,
        TEXTS,
        in_place_of_none("-1", TEXTS),
        np.array(in_place_of_none(np.nan, TEXTS)),  # NumPy makes the text "nan" of it
        np.array(in_place_of_none("", TEXTS), dtype="S1"),
        np.ma.array(in_place_of_none(7), mask=[group is None for group in GROUPS]),
        pd.Categorical(TEXTS),
        pd.array(GROUPS, dtype="Int64"),
        pd.array(TEXTS, dtype="string"),
        pd.Series(GROUPS),
        np.array([0 if group is None else 2**63 + group for group in GROUPS], dtype=np.uint64),
    ],
    ids=lambda labels: f"{type(labels).__name__} of {getattr(labels, 'dtype', 'objects')}",
)
def test_missing_negative_masked_and_empty_labels_are_in_no_group(labels):
    """But the last case: no number is too large for the name of a group."""
    large = getattr(labels, "dtype", None) == np.uint64
    expected = np.array(in_place_of_none(3 if large else -1))
    X = some_matrix(12, 6)
    judged = orthonmf.certify(X, labels, method="svd")
    assert judged.n_components == 3 + large
    assert judged.relative_squared_error == pytest.approx(error_of_labels(X, expected), rel=1e-8)


def test_blocks_are_compared_with_all_groups_that_either_side_names():
    X = some_matrix(12, 6)
    rows, columns = np.arange(12) % 3, np.array([0, 1, 6])[np.arange(6) % 3]
    judged = orthonmf.certify(X, rows, columns, method="svd")
    assert judged.n_components == 4
    assert judged.n_components_found == 2
    with pytest.raises(InvalidInputError, match="name 4 groups, but n_components is 3"):
        orthonmf.certify(X, rows, columns, n_components=3)
    # More may have been allowed.
    loose, plain = (orthonmf.certify(X, rows, n_components=k, method="svd") for k in (5, 3))
    assert loose.certificate.lower_bound < plain.certificate.lower_bound


def test_missing_entries_are_refused_with_a_remedy_that_is_there():
    X = some_matrix()
    X[3, 4] = np.nan
    with pytest.raises(InvalidInputError, match=r"first at X\[3, 4\]; nothing.*impute") as refused:
        orthonmf.certify(X, np.arange(40) % 3)
    assert "missing_values" not in str(refused.value)


def test_nothing_in_any_group_captures_nothing():
    X = some_matrix()
    judged = orthonmf.certify(X, np.full(40, -1), n_components=2)
    assert judged.n_components_found == 0
    assert judged.relative_squared_error == 1.0
    assert judged.certificate.ratio > 1
    zero = orthonmf.certify(np.zeros((4, 3)), [0, 0, 1, 1])
    assert zero.certificate.optimal


def test_two_partitions_with_a_core_between_them():
    X = some_matrix()
    rows, columns = np.arange(40) % 3, np.array(["x", "y", ""])[np.arange(15) % 3]
    judged = orthonmf.certify(X, rows, columns, n_components=(3, 4), method="svd")
    assert judged.n_components == (3, 4)
    assert judged.core.shape == (3, 2)
    assert len({*zip(rows, judged.labels, strict=True)}) == 3
    assert ((columns == "") == (judged.feature_labels < 0)).all()
    groups = np.eye(3)[rows], np.array([columns == "x", columns == "y"]).T * 1.0
    captured = captured_by_groups(X, *groups, np.ones(15))
    assert judged.relative_squared_error == pytest.approx(1 - captured / np.sum(X**2), rel=1e-8)
    assert judged.certificate.lower_bound <= judged.relative_squared_error
    assert "packing" not in judged.certificate.method


def test_the_groups_of_a_fit_with_a_core_get_its_error_back():
    X = some_matrix()
    fitted = orthonmf.factorize(X, (3, 4), orthogonal="both", random_state=0)
    judged = orthonmf.certify(X, fitted.labels, fitted.feature_labels, n_components=(3, 4))
    assert judged.relative_squared_error <= fitted.relative_squared_error * (1 + 1e-9)
    assert judged.relative_squared_error >= fitted.relative_squared_error * (1 - 1e-3)
    assert judged.core.shape == (3, 4)
    with pytest.raises(InvalidInputError, match="name 4 groups, but the number of groups of col"):
        orthonmf.certify(X, fitted.labels, fitted.feature_labels, n_components=(3, 3))
    with pytest.raises(InvalidInputError, match="needs orthogonal='both'"):
        orthonmf.certify(X, fitted.labels, n_components=(3, 3))
