"""What multiplicative updates share: their start, and floors that keep them from 0 / 0.

The data reach a baseline with a largest entry between 1/2 and 1, so these floors are relative to
the data although they are written as plain numbers.
"""

import numpy as np

from orthonmf.baselines.interface import Matrix
from orthonmf.typing import Array

# A zero entry can never leave zero again, and entries that underflow slow every product down.
SMALLEST_ENTRY = 1e-16
SMALLEST_DIVISOR = 1e-200


def positive(divisor: Array) -> Array:
    """Lift zeros of a divisor, in place, to a number that can be divided by."""
    return np.maximum(divisor, SMALLEST_DIVISOR, out=divisor)


def lift_zeros(factor: Array) -> Array:
    """Lift entries, in place, that would otherwise be stuck at zero."""
    return np.maximum(factor, SMALLEST_ENTRY, out=factor)


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
    product /= positive(divisor)
    return lift_zeros(product)


def multiply_by_root(factor: Array, numerator: Array, divisor: Array) -> Array:
    """Factor * sqrt(numerator / divisor) likewise."""
    ratio = np.divide(numerator, positive(divisor), out=divisor)
    return lift_zeros(factor * np.sqrt(ratio, out=ratio))


def fit_A(M: Matrix, A: Array, W: Array) -> Array:
    """Make one Lee-Seung step of A for a fixed W, which cannot raise the error."""
    return multiply(A, M @ W.T, A @ (W @ W.T))
