"""EM-ONMF: labels and directions in turn, exactly orthogonal at every iteration."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from orthonmf.baselines.interface import Baseline, Iterate, Matrix, Steps
from orthonmf.baselines.rank_one import (
    columns_of,
    move_directions,
    scatter,
    squared_column_norms,
    top_directions,
    winners,
)
from orthonmf.typing import Array


def draw_labels(M: Matrix, squared_norms: Array, k: int, rng: np.random.Generator) -> Array:
    """Give every column a component drawn uniformly, as in the paper's comparison."""
    return rng.integers(k, size=M.shape[1])


def seed_labels(M: Matrix, squared_norms: Array, k: int, rng: np.random.Generator) -> Array:
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
        products = (columns_of(M, chosen) / np.sqrt(squared_norms[chosen])).T @ M
        best = int(np.maximum(captured, products**2).sum(axis=1).argmax())
        gain = products[best] ** 2
        labels = np.where(gain > captured, s, labels)
        captured = np.maximum(captured, gain)
        residuals = np.maximum(squared_norms - captured, 0.0)
    return labels


def refill(labels: Array, residuals: Array, k: int) -> Array:
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
    "random": draw_labels,
    "seeded": seed_labels,
}


def iterates(
    M: Matrix, k: int, *, rng: np.random.Generator, tol: float, init: str = "random"
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
        moved = refill(moved, squared_norms - scales**2, k)
        if np.array_equal(moved, labels):
            return "no column changed its component"
        if abs(captured - previous) <= tol * captured:
            return "converged"
        A = move_directions(M, A, labels, moved)
        labels = moved


EM_ONMF = Baseline(
    name="em-onmf",
    label="EM-ONMF",
    exact=True,
    sources=(
        "F. Pompili, N. Gillis, P.-A. Absil, F. Glineur. Two algorithms for orthogonal nonnegative "
        "matrix factorization with application to clustering. 2014.",
    ),
    iterates=iterates,
    max_iter=1000,
    tol=0.0,
)

EM_ONMF_SEEDED = replace(
    EM_ONMF,
    name="em-onmf-seeded",
    label="EM-ONMF, seeded",
    iterates=partial(iterates, init="seeded"),
    our_reading="The start is ours: greedy k-means++ on lines instead of random labels.",
)
