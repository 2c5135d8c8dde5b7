"""Matrices with a planted solution and noise, as in the paper's experiments (section 5).

>>> from orthonmf import datasets
>>> datasets.make_planted(5, 4, 2, noise=0.1, random_state=0).X.shape
(5, 4)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from orthonmf.inputs.parameters import (
    as_choice,
    as_count,
    as_generator,
    as_sizes,
    as_tolerance,
)
from orthonmf.typing import Array

__all__ = ["Planted", "make_planted"]


@dataclass(frozen=True, slots=True, eq=False)
class Planted:
    """A noisy matrix and the solution planted in it.

    Attributes
    ----------
    X, X_truth
        (n, m) the matrix with and without noise; rows are samples.
    labels, feature_labels
        (n,) and (m,) the component of every sample and of every feature, with a core its group;
        None for a side that is not orthogonal.
    A_truth, W_truth
        (m, k) and (k, n), the factors in the paper's orientation: ``M_truth = A_truth @ W_truth``.
    core_truth
        (k, l) what groups of samples and of features have to do with each other; None without.

    Examples
    --------
    >>> import orthonmf
    >>> planted = orthonmf.datasets.make_planted(6, 4, 2, noise=0.0, random_state=0)
    >>> planted.X.shape, planted.A_truth.shape, planted.W_truth.shape
    ((6, 4), (4, 2), (2, 6))
    """

    X: Array
    X_truth: Array
    labels: Array | None
    feature_labels: Array | None
    A_truth: Array
    W_truth: Array
    core_truth: Array | None = None

    @property
    def M(self) -> Array:
        """The noisy matrix in the paper's orientation, (m, n)."""
        return self.X.T

    @property
    def M_truth(self) -> Array:
        """The planted matrix in the paper's orientation, (m, n)."""
        return self.X_truth.T


def make_planted(
    n_samples: int,
    n_features: int,
    n_components: int | tuple[int, int],
    noise: float,
    orthogonal: str = "samples",
    random_state: Any = None,
) -> Planted:
    """Draw a planted solution and add noise.

    Every non-zero entry of the factors is exponential with mean 1. Where a factor is orthogonal
    every sample (or feature) has one non-zero entry, in a place drawn uniformly. The noise of
    every entry is exponential with mean ``noise``. For both, two numbers (k, l) plant k groups of
    samples and l groups of features, with a core of exponential entries between them.

    Examples
    --------
    >>> import orthonmf
    >>> planted = orthonmf.datasets.make_planted(30, 12, 3, noise=0.05, random_state=0)
    >>> result = orthonmf.factorize(planted.X, 3, random_state=0)
    >>> bool(result.relative_squared_error < 0.01)
    True
    """
    n = as_count(n_samples, "n_samples")
    m = as_count(n_features, "n_features")
    level = as_tolerance(noise, "noise")
    as_choice(orthogonal, ("samples", "features", "both"), "orthogonal")
    sizes = as_sizes(n_components, orthogonal)
    rng = as_generator(random_state)
    k, n_groups = sizes if isinstance(sizes, tuple) else (sizes, sizes)
    W, labels = _factor(n, k, orthogonal in ("samples", "both"), rng)
    A, feature_labels = _factor(m, n_groups, orthogonal in ("features", "both"), rng)
    core = rng.exponential(size=sizes) if isinstance(sizes, tuple) else None
    A = A if core is None else core @ A
    X_truth = W.T @ A
    X = X_truth + level * rng.exponential(size=(n, m))
    return Planted(X, X_truth, labels, feature_labels, A.T, W, core)


def _factor(
    size: int, k: int, orthogonal: bool, rng: np.random.Generator
) -> tuple[Array, Array | None]:
    """A (k, size) factor and, where its rows are orthogonal, the place of each column's entry."""
    factor = rng.exponential(size=(k, size))
    if not orthogonal:
        return factor, None
    places = rng.integers(k, size=size)
    return np.where(np.arange(k)[:, None] == places, factor, 0.0), places
