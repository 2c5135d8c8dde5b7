"""Matrices whose groups are many, or of very different strength or size, each with its own k.

A group of few points, or of points that weigh little, is hardly ever drawn by weight, and a start
leaves it out. The last three were made to break the default: groups within groups, one noisy group
that weighs more than all others, and lengths with heavy tails.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from orthonmf.vectors import unit_lengths


@dataclass(frozen=True, slots=True)
class Uneven:
    """A matrix with groups of rows, and how many components are asked for."""

    n_components: int
    make: Callable[[], Any]


def planted(
    n: int,
    m: int,
    n_groups: int,
    *,
    strength: float = 0.0,
    zipf: float = 0.0,
    noise: float = 0.03,
) -> np.ndarray:
    """Rows (n, m) of groups: strengths are exp(N(0, strength)), sizes fall like rank ** -zipf.

    Rows of a group differ in length, and every entry by a share of itself.
    """
    rng = np.random.default_rng(0)
    profiles = unit_lengths(rng.exponential(size=(n_groups, m)))
    shares = np.arange(1, n_groups + 1.0) ** -zipf
    labels = rng.choice(n_groups, n, p=shares / shares.sum())
    strengths = np.exp(strength * rng.standard_normal(n_groups))
    return _with_noise(profiles[labels], strengths[labels], noise, rng)


def weaker_half(n: int, m: int, n_groups: int, factor: float) -> np.ndarray:
    """Groups of which the first half is weaker than the others by a factor."""
    rng = np.random.default_rng(0)
    profiles = unit_lengths(rng.exponential(size=(n_groups, m)))
    labels = rng.choice(n_groups, n)
    strengths = np.where(labels < n_groups // 2, 1.0 / factor, 1.0)
    return _with_noise(profiles[labels], strengths, 0.03, rng)


def duplicates(n: int, m: int, n_distinct: int) -> np.ndarray:
    """Whole numbers: one to three times one of a few distinct rows."""
    rng = np.random.default_rng(0)
    distinct = rng.integers(0, 10, size=(n_distinct, m)).astype(float)
    return distinct[rng.choice(n_distinct, n)] * rng.integers(1, 4, size=(n, 1))


def nested() -> np.ndarray:
    """Eight groups of eight groups each, which differ little, of different strength."""
    rng = np.random.default_rng(0)
    outer = np.repeat(unit_lengths(rng.exponential(size=(8, 50))), 8, axis=0)
    profiles = outer * (1 + 0.15 * rng.standard_normal(outer.shape)).clip(0)
    labels = rng.choice(64, 6000)
    return _with_noise(profiles[labels], np.exp(rng.standard_normal(64))[labels], 0.03, rng)


def one_giant() -> np.ndarray:
    """One noisy group of nearly all rows, all of them longer, and forty small ones."""
    rng = np.random.default_rng(0)
    profiles = unit_lengths(rng.exponential(size=(40, 30)))
    labels = np.where(rng.random(10_000) < 0.95, 0, rng.choice(40, 10_000))
    giant = labels == 0
    noise = np.where(giant, 0.1, 0.02)[:, None]
    return _with_noise(profiles[labels], np.where(giant, 3.0, 1.0), noise, rng)


def heavy_tails() -> np.ndarray:
    """Groups of different strength, with rows a thousand times longer than others."""
    rng = np.random.default_rng(0)
    profiles = unit_lengths(rng.exponential(size=(60, 40)))
    labels = rng.choice(60, 4000)
    lengths = (1 + rng.pareto(1.5, 4000)) * np.exp(rng.standard_normal(60))[labels]
    return _with_noise(profiles[labels], lengths, 0.05, rng)


def _with_noise(
    rows: np.ndarray, lengths: np.ndarray, noise: Any, rng: np.random.Generator
) -> np.ndarray:
    lengths = lengths * np.exp(0.5 * rng.standard_normal(len(rows)))
    factors = (1 + noise * rng.standard_normal(rows.shape)).clip(0)
    return rows * lengths[:, None] * factors


STRONG = {"strength": 1.0}
UNEVEN = {
    "strengths-8000x40-k100": Uneven(100, partial(planted, 8000, 40, 100, **STRONG)),
    "strengths-2000x80-k200": Uneven(200, partial(planted, 2000, 80, 200, **STRONG)),
    "strengths-2000x40-k50": Uneven(50, partial(planted, 2000, 40, 50, **STRONG)),
    "strengths-8000x30-k25": Uneven(25, partial(planted, 8000, 30, 25, **STRONG)),
    "strengths-8000x30-k8": Uneven(8, partial(planted, 8000, 30, 8, **STRONG)),
    "fewer-than-groups-5000x100-k6": Uneven(6, partial(planted, 5000, 100, 10, noise=0.1)),
    "more-than-groups-5000x100-k14": Uneven(14, partial(planted, 5000, 100, 10, noise=0.1)),
    "zipf-600x30-k10": Uneven(10, partial(planted, 600, 30, 10, zipf=2.0, noise=0.01)),
    "noise-8000x40-k250": Uneven(250, partial(planted, 8000, 40, 250, noise=0.3)),
    "weaker-half-8000x40-k100": Uneven(100, partial(weaker_half, 8000, 40, 100, 50.0)),
    "duplicates-5000x200-k45": Uneven(45, partial(duplicates, 5000, 200, 135)),
    "duplicates-5000x20-k15": Uneven(15, partial(duplicates, 5000, 20, 60)),
    "nested-6000x50-k64": Uneven(64, nested),
    "giant-10000x30-k40": Uneven(40, one_giant),
    "tails-4000x40-k60": Uneven(60, heavy_tails),
}
