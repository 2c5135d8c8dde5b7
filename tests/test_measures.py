"""The measures of section 5, checked against the plainest formulas."""

import numpy as np
import pytest
from scipy import sparse

from orthonmf.measures import (
    non_orthogonality,
    reconstruction_error,
    recovery_error,
    relative_squared_error,
)


def random_factors(seed, m=7, k=3, n=11):
    rng = np.random.default_rng(seed)
    return rng.exponential(size=(m, n)), rng.exponential(size=(m, k)), rng.exponential(size=(k, n))


@pytest.mark.parametrize("seed", range(5))
def test_errors_agree_with_the_plain_formula(seed):
    M, A, W = random_factors(seed)
    plain = np.linalg.norm(M - A @ W)
    assert reconstruction_error(M, A, W) == pytest.approx(plain, rel=1e-13)
    assert recovery_error(M, A, W) == reconstruction_error(M, A, W)
    assert relative_squared_error(M, A, W) == pytest.approx(
        plain**2 / np.linalg.norm(M) ** 2, rel=1e-13
    )


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.coo_matrix])
def test_sparse_arguments_give_the_dense_value(form):
    M, A, W = random_factors(0)
    M[M < 1.0] = 0
    W[W < 0.7] = 0
    expected = reconstruction_error(M, A, W)
    assert reconstruction_error(form(M), A, W) == pytest.approx(expected, rel=1e-12)
    assert reconstruction_error(form(M), form(A), form(W)) == pytest.approx(expected, rel=1e-12)
    assert reconstruction_error(M, A, form(W)) == pytest.approx(expected, rel=1e-12)
    assert non_orthogonality(form(W)) == pytest.approx(non_orthogonality(W), rel=1e-12)


@pytest.mark.parametrize("size", [1e-6, 1e-13])
def test_a_tiny_error_of_a_sparse_matrix_is_not_lost_to_cancellation(size):
    _, A, W = random_factors(3)
    M = A @ W
    M[2, 5] += size
    changed = M[2, 5] - (A @ W)[2, 5]
    assert reconstruction_error(sparse.csr_array(M), A, W) == pytest.approx(changed, rel=1e-2)


def test_an_exact_product_has_the_error_zero():
    A, W = np.diag([1.0, 2.0]), np.array([[1.0, 3.0, 0.0], [0.0, 0.0, 5.0]])
    assert reconstruction_error(A @ W, A, W) == 0.0
    assert relative_squared_error(sparse.csr_array(A @ W), A, W) == 0.0


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e160, 1e300])
def test_errors_scale_with_the_matrix(scale):
    M, A, W = random_factors(1)
    expected = reconstruction_error(M, A, W)
    assert reconstruction_error(M * scale, A * scale, W) == pytest.approx(
        expected * scale, rel=1e-12
    )
    assert reconstruction_error(M * scale, A, W * scale) == pytest.approx(
        expected * scale, rel=1e-12
    )
    assert relative_squared_error(M * scale, A * scale, W) == pytest.approx(
        relative_squared_error(M, A, W), rel=1e-12
    )


def test_the_relative_error_of_a_zero_matrix():
    zero, A, W = np.zeros((2, 3)), np.ones((2, 1)), np.ones((1, 3))
    assert relative_squared_error(zero, 0 * A, W) == 0.0
    assert relative_squared_error(zero, A, W) == float("inf")


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="Shapes do not fit"):
        reconstruction_error(np.ones((2, 3)), np.ones((2, 2)), np.ones((1, 3)))
    with pytest.raises(ValueError, match="2 dimensions"):
        reconstruction_error(np.ones(3), np.ones((2, 2)), np.ones((1, 3)))


def test_disjoint_rows_are_exactly_orthogonal():
    rng = np.random.default_rng(0)
    W = np.zeros((4, 50))
    W[rng.integers(4, size=50), np.arange(50)] = rng.exponential(size=50)
    W *= 10.0 ** rng.integers(-200, 200, size=4)[:, None]
    assert non_orthogonality(W) == 0.0
    assert non_orthogonality(sparse.csc_array(W)) == 0.0


def test_non_orthogonality_agrees_with_the_plain_formula():
    W = np.random.default_rng(0).exponential(size=(4, 9))
    W[1] = 0
    rows = W[[0, 2, 3]]
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    expected = np.linalg.norm(rows @ rows.T - np.eye(3))
    assert non_orthogonality(W) == pytest.approx(expected, rel=1e-13)
    assert non_orthogonality(W * np.array([[1e-200], [1], [1e150], [3]])) == pytest.approx(
        expected, rel=1e-12
    )


def test_two_equal_rows_are_as_far_from_orthogonal_as_can_be():
    assert non_orthogonality(np.ones((2, 5))) == pytest.approx(np.sqrt(2), rel=1e-14)
    assert non_orthogonality(np.zeros((3, 5))) == 0.0


def test_integers_are_counted_as_real_numbers():
    M = sparse.csr_array(np.array([[2**20, 0], [0, 2**20]], dtype=np.int32))
    zero = np.zeros((2, 1))
    assert reconstruction_error(M, zero, zero.T) == pytest.approx(2**20 * np.sqrt(2), rel=1e-14)
    assert non_orthogonality(np.array([[1, 0], [0, 5e-324]])) == 0.0
    assert non_orthogonality(np.full((2, 2), 5e-324)) == pytest.approx(np.sqrt(2), rel=1e-14)
