"""EM-ONMF: labels and directions in turn, exactly orthogonal at every iteration."""

from collections.abc import Callable

import numpy as np
from scipy import sparse

from orthant.baselines.interface import Baseline, Iterate, Matrix, Steps
from orthant.baselines.rank_one import (
    moved_directions,
    scatter,
    squared_column_norms,
    top_directions,
    winners,
)
from orthant.numerics.arrays import Array

SOURCES = (
    "F. Pompili, N. Gillis, P.-A. Absil, F. Glineur. Two algorithms for orthogonal nonnegative "
    "matrix factorization with application to clustering. 2014.",
)


def random_labels(M: Matrix, squared_norms: Array, k: int, rng: np.random.Generator) -> Array:
    """Give every column a component drawn uniformly, as in the paper's comparison."""
    return rng.integers(k, size=M.shape[1])


def seeded_labels(M: Matrix, squared_norms: Array, k: int, rng: np.random.Generator) -> Array:
    """Seed with columns of M drawn by how badly the seeds so far represent them.

    k-means++ on lines: column i is drawn with probability proportional to l_i (1 - max cos^2);
    of 2 + log k candidates the one that lowers the error most is kept.
    """
    n = M.shape[1]
    n_candidates = 2 + int(np.log(k))
    residuals = squared_norms.copy()
    captured, labels = np.zeros(n), rng.integers(k, size=n)
    for s in range(k):
        total = residuals.sum()
        if total <= 1e-12 * squared_norms.sum():
            break
        chosen = rng.choice(n, size=n_candidates, p=residuals / total)
        seeds = M.T[chosen]
        candidates = (seeds.toarray() if sparse.issparse(M) else seeds).T
        products = (candidates / np.sqrt(squared_norms[chosen])).T @ M
        best = int(np.maximum(captured, products**2).sum(axis=1).argmax())
        gain = products[best] ** 2
        labels = np.where(gain > captured, s, labels)
        captured = np.maximum(captured, gain)
        residuals = np.maximum(squared_norms - captured, 0.0)
    return labels


def refilled(labels: Array, residuals: Array, k: int) -> Array:
    """Give every empty component the column that is represented worst; no error rises."""
    labels, residuals = labels.copy(), residuals.copy()
    sizes = np.bincount(labels, minlength=k)
    for s in np.flatnonzero(sizes == 0):
        # A component's only column stays: taking it would just move the hole.
        worst = int(np.where(sizes[labels] > 1, residuals, -1.0).argmax())
        if sizes[labels[worst]] < 2 or residuals[worst] <= 0:
            break
        sizes[labels[worst]] -= 1
        sizes[s] += 1
        labels[worst], residuals[worst] = s, -1.0
    return labels


INITS: dict[str, Callable[[Matrix, Array, int, np.random.Generator], Array]] = {
    "random": random_labels,
    "seeded": seeded_labels,
}


def iterates(
    M: Matrix, k: int, *, rng: np.random.Generator, tol: float = 0.0, init: str = "random"
) -> Steps:
    """Alternate best directions for the labels and best labels for the directions.

    Both steps are exact, so the error never rises; the end is a partition in which no column
    prefers another component.
    """
    squared_norms = squared_column_norms(M)
    labels = INITS[init](M, squared_norms, k, rng)
    A = top_directions(M, labels, k)
    columns = np.arange(M.shape[1])
    captured = np.inf
    while True:
        products = A.T @ M
        scales = products[labels, columns]
        yield Iterate(A, scatter(labels, scales, k))
        previous, captured = captured, float(scales @ scales)
        moved, scales = winners(products, labels)
        moved = refilled(moved, squared_norms - scales**2, k)
        if np.array_equal(moved, labels):
            return "no column changed its component"
        if abs(captured - previous) <= tol * captured:
            return "converged"
        A = moved_directions(M, A, labels, moved)
        labels = moved


EM_ONMF = Baseline(
    name="em-onmf",
    label="EM-ONMF",
    orthogonal="samples",
    exact=True,
    sources=SOURCES,
    iterates=iterates,
    max_iter=1000,
    tol=0.0,
    stops_itself=True,
    options={"init": "random"},
)

EM_ONMF_SEEDED = Baseline(
    name="em-onmf-seeded",
    label="EM-ONMF, seeded",
    orthogonal="samples",
    exact=True,
    sources=SOURCES,
    iterates=iterates,
    max_iter=1000,
    tol=0.0,
    stops_itself=True,
    our_reading="The start is ours: greedy k-means++ on lines instead of random labels.",
    options={"init": "seeded"},
)
