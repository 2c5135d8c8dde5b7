"""The best factors of given labels, against the singular values of every group."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf.inputs.data import as_matrix
from orthonmf.onmf.refit import STEP, refit_groups, refit_partition
from tests.onmf.small_points import some_options
from tests.oracles.single_factor import squared_error_of_partition
from tests.oracles.three_factors import captured_by_groups

pytestmark = pytest.mark.filterwarnings("ignore::orthonmf.FewerComponentsWarning")


def weighted_case(seed, n=9, m=6):
    """A matrix with an empty row and column, weights of which some are zero, and Y."""
    rng = np.random.default_rng(seed)
    X, rows, columns = rng.exponential(size=(n, m)), rng.integers(0, 3, n), rng.integers(0, 3, m)
    X[1], X[:, 2], rows[0], columns[0] = 0.0, 0.0, 2, 2
    return X, rows, columns, X * np.sqrt(np.outer(rows, columns))


def error_outside_and_inside(Y, labels):
    """The rows of label -1 are all error; the others that of their group."""
    inside = labels >= 0
    return np.sum(Y[~inside] ** 2) + squared_error_of_partition(Y[inside], labels[inside])


@pytest.mark.parametrize("store", [np.asarray, csr_array])
@pytest.mark.parametrize("orthogonal", ["samples", "features"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_partition_of_one_side_gets_the_singular_vectors_of_its_groups(store, orthogonal, dtype):
    for seed in range(3):
        X, rows, columns, Y = weighted_case(seed)
        matrix = as_matrix(store(X.astype(dtype)), sample_weight=rows, feature_weight=columns)
        Y = Y if orthogonal == "samples" else Y.T
        labels = np.random.default_rng(seed).integers(-1, 4, len(Y)).astype(np.int32)
        labels[0] = 4  # a group of its own; one of the numbers may be in no use
        sides = (labels, None) if orthogonal == "samples" else (None, labels)
        found = refit_partition(matrix, *sides, some_options(6, orthogonal=orthogonal))
        wanted = error_outside_and_inside(Y, labels) / np.sum(Y**2)
        assert found.relative_squared_error == pytest.approx(wanted, rel=1e-4, abs=1e-7)
        assert STEP in found.steps_run


def test_with_labels_of_both_sides_a_block_is_where_they_are_equal():
    for seed in range(5):
        X, rows, columns, Y = weighted_case(seed)
        rng = np.random.default_rng(seed)
        labels, feature_labels = rng.integers(-1, 3, 9), rng.integers(-1, 3, 6)
        labels[0] = feature_labels[0] = 0
        matrix = as_matrix(X, sample_weight=rows, feature_weight=columns)
        found = refit_partition(
            matrix,
            labels.astype(np.int32),
            feature_labels.astype(np.int32),
            some_options(3, orthogonal="both"),
        )
        captured = sum(
            np.linalg.norm(Y[np.ix_(labels == s, feature_labels == s)], 2) ** 2
            for s in range(3)
            if (labels == s).any() and (feature_labels == s).any()
        )
        wanted = 1 - captured / np.sum(Y**2)
        assert found.relative_squared_error == pytest.approx(wanted, rel=1e-6, abs=1e-10)
        assert np.all(np.count_nonzero(found.components, axis=0) <= 1)


def test_groups_of_both_sides_with_a_core_capture_what_taking_turns_does():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.exponential(size=(7, 6))
        labels, feature_labels = np.arange(7) % 2, np.arange(6) % 3
        options = some_options(2, asked=(2, 3), orthogonal="both", n_groups=3)
        found = refit_groups(
            as_matrix(X), labels.astype(np.int32), feature_labels.astype(np.int32), options
        )
        starts = (np.ones(6), *rng.exponential(size=(3, 6)))
        captured = max(
            captured_by_groups(X, np.eye(2)[labels], np.eye(3)[feature_labels], start)
            for start in starts
        )
        assert found.relative_squared_error == pytest.approx(1 - captured / np.sum(X**2), rel=1e-6)
        assert found.core.shape == (2, 3)
        np.testing.assert_allclose(np.sum(found.core**2), captured, rtol=1e-6)


def test_rows_and_columns_outside_all_groups_are_left_out_of_the_core():
    X = np.random.default_rng(0).exponential(size=(6, 5))
    labels = np.array([0, 1, 0, 1, -1, 0], dtype=np.int32)
    feature_labels = np.array([0, -1, 1, 1, 0], dtype=np.int32)
    options = some_options(2, asked=(2, 2), orthogonal="both", n_groups=2)
    found = refit_groups(as_matrix(X), labels, feature_labels, options)
    assert found.scales[4] == 0
    assert not found.components[:, 1].any()
    inside = X[np.ix_(labels >= 0, feature_labels >= 0)]
    alone = refit_groups(
        as_matrix(inside), labels[labels >= 0], feature_labels[feature_labels >= 0], options
    )
    np.testing.assert_allclose(found.core, alone.core, rtol=1e-8)
