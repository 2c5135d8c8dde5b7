"""Planted matrices as section 5 of the paper describes them, in the paper's orientation."""

import numpy as np


def planted(m, n, k, noise, seed, *, double=False):
    """Return M (m x n): exponential factors, one non-zero per column of W, plus noise."""
    A, W = planted_factors(m, n, k, seed, double=double)
    rng = np.random.default_rng([seed, 1])
    return A @ W + (rng.exponential(noise, size=(m, n)) if noise else 0.0)


def planted_factors(m, n, k, seed, *, double=False):
    rng = np.random.default_rng(seed)
    A = rng.exponential(size=(m, k))
    if double:
        A = A * one_per_row(m, k, rng)
    return A, rng.exponential(size=(k, n)) * one_per_row(n, k, rng).T


def one_per_row(n, k, rng):
    """Return an n x k zero-one matrix with one entry per row and no empty column."""
    labels = np.concatenate([np.arange(k), rng.integers(k, size=n - k)])
    return np.eye(k)[labels]
