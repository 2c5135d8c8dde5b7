"""Planted groups of every difficulty, to see how often a member of a group is in its place."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.optimize import linear_sum_assignment

from orthonmf import factorize
from orthonmf.datasets import make_planted

# A matrix, the planted group of every row, and how many groups are asked for.
Planted = tuple[np.ndarray, np.ndarray, int]


def with_noise(seed: int, noise: float, n: int = 300, m: int = 40, k: int = 4) -> Planted:
    """Rows on k directions, and noise of this mean."""
    planted = make_planted(n, m, k, noise=noise, random_state=seed)
    return planted.X, np.asarray(planted.labels), k


def counts(
    seed: int,
    n: int = 600,
    m: int = 300,
    k: int = 6,
    length: float = 60,
    spread: float = 0.3,
    tail: float = 1.0,
    mixed: float = 0.0,
    sizes: tuple[float, ...] | None = None,
    asked: int | None = None,
) -> Planted:
    """Poisson counts: every row has one profile, and a share of them up to half of a second one.

    A small ``spread`` makes profiles differ, a small ``tail`` makes few columns heavy.
    """
    rng = np.random.default_rng(seed)
    profiles = rng.gamma(spread, size=(k, m)) * rng.gamma(tail, size=m)
    profiles /= profiles.sum(axis=1, keepdims=True)
    groups = rng.choice(k, size=n, p=sizes)
    others = (groups + rng.integers(1, k, n)) % k
    share = np.where(rng.random(n) < mixed, rng.uniform(0.0, 0.5, n), 0.0)[:, None]
    lengths = length * rng.lognormal(0.0, 0.6, n)[:, None]
    rates = lengths * ((1 - share) * profiles[groups] + share * profiles[others])
    return rng.poisson(rates).astype(float), groups, asked or k


CASES: dict[str, Callable[[int], Planted]] = {
    "planted, noise 1": partial(with_noise, noise=1.0),
    "planted, noise 2": partial(with_noise, noise=2.0),
    "planted, noise 4": partial(with_noise, noise=4.0),
    "counts, 60 words": partial(counts),
    "counts, 20 words": partial(counts, length=20),
    "counts, 20 words, near topics": partial(counts, length=20, spread=1.0),
    "counts, 60 % of rows mixed": partial(counts, mixed=0.6),
    "counts, groups of 50 to 2 %": partial(
        counts, n=800, length=40, sizes=(0.5, 0.25, 0.12, 0.07, 0.04, 0.02)
    ),
    "counts, k one too large": partial(counts, k=5, asked=6),
    "counts, heavy columns": partial(counts, tail=0.15),
}


def in_place(planted: np.ndarray, labels: np.ndarray, k: int) -> np.ndarray:
    """(n,) whether a row is in the group that stands for its planted one, matched by count.

    Rows of label -1, planted or not, are in none.
    """
    size = max(k, int(planted.max()) + 1)
    shared = np.zeros((size, size))
    inside = (labels >= 0) & (planted >= 0)
    np.add.at(shared, (planted[inside], labels[inside]), 1)
    groups, names = linear_sum_assignment(shared, maximize=True)
    meaning = np.empty(size, dtype=int)
    meaning[names] = groups
    return inside & (meaning[np.maximum(labels, 0)] == planted)


def refit_case(
    case: str, seed: int, resample: str | None, n_refits: int = 20
) -> tuple[np.ndarray, np.ndarray]:
    """Certainty (n,) of every row of a case, and whether it is in place, by one default fit."""
    X, planted, k = CASES[case](seed)
    result = factorize(X, k, random_state=seed, certificate=None)
    certainty = result.refit(X, n_refits, resample, random_state=seed).certainty
    return certainty, in_place(planted, result.labels, k)
