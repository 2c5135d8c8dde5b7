"""Methods that are one multiplicative update of both factors, and what these updates share.

The data reach a baseline with a largest entry between 1/2 and 1, so floors are relative to the data
although they are written as plain numbers.
"""

from functools import partial

import numpy as np

from orthonmf.baselines.interface import Baseline, Matrix, repeat
from orthonmf.typing import Array

# A zero entry can never leave zero again, and entries that underflow slow every product down.
SMALLEST_ENTRY = 1e-16
SMALLEST_DIVISOR = 1e-200
DING = (
    "C. Ding, T. Li, W. Peng, H. Park. Orthogonal nonnegative matrix t-factorizations for "
    "clustering. 2006."
)


def draw_uniform(M: Matrix, k: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draw A (m x k) and W (k x n) uniformly; no entry starts near zero."""
    m, n = M.shape
    return rng.uniform(0.01, 1.0, size=(m, k)), rng.uniform(0.01, 1.0, size=(k, n))


def draw_in_scale(M: Matrix, k: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draw A and W uniformly, A in the scale t that minimizes |M - t A W|.

    For methods that step by a gradient: a multiplicative step finds the scale by itself.
    """
    A, W = draw_uniform(M, k, rng)
    captured = float(np.sum((A.T @ M) * W))
    return A * (captured / float(np.sum((A.T @ A) * (W @ W.T)))), W


def draw_projective(M: Matrix, k: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draw W uniformly, scale it to spectral norm one, and take A = M W^T."""
    W = scale_to_unit_norm(rng.uniform(0.01, 1.0, size=(k, M.shape[1])))
    return M @ W.T, W


def scale_to_unit_norm(W: Array) -> Array:
    """Divide W, in place, by its largest singular value, the root of that of W W^T."""
    W *= 1.0 / np.sqrt(np.linalg.eigvalsh(W @ W.T)[-1])
    return W


def multiply(factor: Array, numerator: Array, divisor: Array) -> Array:
    """Factor * numerator / divisor without 0 / 0 and without zeros; the divisor is overwritten."""
    product = numerator * factor
    product /= np.maximum(divisor, SMALLEST_DIVISOR, out=divisor)
    return np.maximum(product, SMALLEST_ENTRY, out=product)


def multiply_by_root(factor: Array, numerator: Array, divisor: Array) -> Array:
    """Factor * sqrt(numerator / divisor) likewise."""
    ratio = np.divide(numerator, np.maximum(divisor, SMALLEST_DIVISOR, out=divisor), out=divisor)
    return np.maximum(factor * np.sqrt(ratio, out=ratio), SMALLEST_ENTRY)


def fit_A(M: Matrix, A: Array, W: Array) -> Array:
    """Make one Lee-Seung step of A for a fixed W, which cannot raise the error."""
    return multiply(A, M @ W.T, A @ (W @ W.T))


def update_nmf(M: Matrix, A: Array, W: Array) -> tuple[Array, Array]:
    """Improve W, then A; neither step can raise the error (Lee & Seung, 2001, Theorem 1)."""
    W = multiply(W, A.T @ M, (A.T @ A) @ W)
    return fit_A(M, A, W), W


def update_onfs_ding(M: Matrix, A: Array, W: Array) -> tuple[Array, Array]:
    """Move W towards W W^T = I, then fit A.

    The multiplier of the constraint is replaced by its diagonal approximation, so the first step
    may raise the error and orthogonality stays approximate. The second step only lowers it.
    """
    products = A.T @ M
    W = multiply_by_root(W, products, (products @ W.T) @ W)
    return fit_A(M, A, W), W


def update_onmf_a(M: Matrix, A: Array, W: Array) -> tuple[Array, Array]:
    """Make W <- W * A^T M / (W M^T A W), bring it to spectral norm one, then fit A.

    The rule is the gradient on the Stiefel manifold. W M^T A is taken first: it is k x k.
    Normalizing each row instead of the whole of W ends at much larger errors.
    """
    products = A.T @ M
    W = scale_to_unit_norm(multiply(W, products, (W @ products.T) @ W))
    return fit_A(M, A, W), W


def update_pnmf(M: Matrix, A: Array, W: Array) -> tuple[Array, Array]:
    """Multiply W by the two halves of the gradient of |M - M W^T W|, at spectral norm one.

    A is M W^T on entry and on exit. With K = M^T M the rule is W <- W * 2WK / (WKW^T W + WW^T WK);
    K is never formed, since W K = A^T M. Without the normalization the rule oscillates.
    """
    products = A.T @ M
    divisor = (A.T @ A) @ W
    divisor += (W @ W.T) @ products
    products *= 2.0
    W = scale_to_unit_norm(multiply(W, products, divisor))
    return M @ W.T, W


def update_nhl(M: Matrix, A: Array, W: Array) -> tuple[Array, Array]:
    """Make W <- W * WK / (WKW^T W) with K = M^T M, and bring it back to spectral norm one.

    The multiplicative form of Oja's subspace rule. A is M W^T on entry and on exit, so W K = A^T M
    and W K W^T = A^T A. At a fixed point that is positive W K = W K W^T W: the rows of W span what
    Oja's rule would find.
    """
    W = scale_to_unit_norm(multiply(W, A.T @ M, (A.T @ A) @ W))
    return M @ W.T, W


_fitted = partial(Baseline, max_iter=5000, period=5)

NMF = _fitted(
    name="nmf",
    label="NMF",
    orthogonal="none",
    sources=("D. D. Lee, H. S. Seung. Algorithms for non-negative matrix factorization. 2001.",),
    iterates=repeat(update_nmf, draw_uniform),
    tol=1e-5,
    period=50,
)
PNMF = _fitted(
    name="pnmf",
    label="PNMF",
    sources=(
        "Z. Yuan, E. Oja. Projective nonnegative matrix factorization for image compression and "
        "feature extraction. 2005.",
    ),
    iterates=repeat(update_pnmf, draw_projective),
    tol=1e-4,
)
ONFS_DING = _fitted(
    name="onfs-ding",
    label="ONFS-Ding",
    sources=(DING,),
    iterates=repeat(update_onfs_ding, draw_uniform),
    tol=5e-5,
    period=10,
)
NHL = _fitted(
    name="nhl",
    label="NHL",
    sources=("Z. Yang, J. Laaksonen. Multiplicative updates for non-negative projections. 2007.",),
    iterates=repeat(update_nhl, draw_projective),
    tol=1e-4,
)
ONMF_A = _fitted(
    name="onmf-a",
    label="ONMF-A",
    sources=("S. Choi. Algorithms for orthogonal nonnegative matrix factorization. 2008.",),
    iterates=repeat(update_onmf_a, draw_uniform),
    max_iter=1000,
    tol=1.5e-3,
)
