"""How much disjoint blocks can capture at most, given what is known of sums of singular values.

A solution over both sides captures p_1^2 + ... + p_k^2, with p_1 >= ... >= p_k >= 0 the leading
singular values of its blocks. Lists d_1 >= d_2 >= ... >= 0 say that p_1 + ... + p_i is at most
D_i = d_1 + ... + d_i for every i, and cuts with alpha >= 0 and e_1 >= e_2 >= ... >= 0 that

    alpha p_1 + (p_2 + ... + p_{i+1})  is at most  alpha s_1 + E_i,   E_i = e_1 + ... + e_i.

With R_0 = 0 and R_i(t) = min(D_{i+1} - t, i t, alpha (s_1 - t) + E_i), over all lists and cuts,
what is captured is at most the maximum over t of  t^2 + sum_i (R_i(t) - R_{i-1}(t))^2
(docs/theory/bounds.md, Theorem 10c).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from orthonmf.numerics.arrays import Array
from orthonmf.numerics.rounding import growth

GRID = 256  # intervals to begin with
# Intervals are halved until the bound is within this part of the largest square of a value met.
FINEST = 1e-10
MOST_ROUNDS = 60


@dataclass(frozen=True, slots=True)
class Cut:
    """One cut: alpha, and what the other blocks may have on top of alpha (s_1 - p_1)."""

    alpha: float
    steps: Array  # (k - 1,) e, never rising, never negative


@dataclass(frozen=True, slots=True)
class Known:
    """All that is known of the singular values of blocks; all lists have k steps."""

    first: float  # s_1, at least p_1
    lists: Sequence[Array]  # (k,) each, never rising, never negative
    cuts: Sequence[Cut] = ()


def most_captured(known: Known) -> tuple[float, float]:
    """An upper bound on the sum of squares, rounding included, and about where it is attained.

    All t up to s_1 and every d_1 are split into intervals [a, b]. On one of them t^2 <= b^2, and
    R_i(t) is at most min(D_{i+1} - a, i b, alpha (s_1 - a) + E_i). Those whose bound is above the
    largest value met at an end are halved, as long as that can matter.
    """
    last = min(known.first, *(float(steps[0]) for steps in known.lists))
    a, b = _split(np.array([0.0]), np.array([last]), GRID)
    met, where, done = 0.0, 0.0, 0.0
    for _ in range(MOST_ROUNDS):
        bounds, values = _sum_captured(known, a, b), _sum_captured(known, b, b)
        best = int(values.argmax())
        if values[best] >= met:
            met, where = float(values[best]), float(b[best])
        open_ = bounds > met + FINEST * known.first**2
        done = max(done, float(bounds[~open_].max(initial=0.0)))
        if not open_.any():
            break
        a, b = _split(a[open_], b[open_], 2)
    else:
        done = max(done, float(bounds.max()))
    return done, where


def _split(a: Array, b: Array, parts: int) -> tuple[Array, Array]:
    """Intervals in equal parts; neighbors share their ends to the last bit."""
    shares = np.arange(parts + 1) / parts
    ends = a[:, None] * (1.0 - shares) + b[:, None] * shares
    ends[:, 0], ends[:, -1] = a, b
    return ends[:, :-1].ravel(), ends[:, 1:].ravel()


def _sum_captured(known: Known, a: Array, b: Array) -> Array:
    """Bounds (c,) for the intervals [a, b], rounding included.

    Everything is a sum of at most k + 4 numbers of size u at most, so a limit is off by
    g(k + 4) u at most and a difference of two by twice that; k squares of differences that are at
    most u are off by less than 16 k g u^2 in all.
    """
    k = len(known.lists[0])
    others = np.arange(1, k)
    size = max(float(steps.sum()) for steps in known.lists) + k * known.first
    limits = b[:, None] * others
    for steps in known.lists:
        limits = np.minimum(limits, np.cumsum(steps)[1:] - a[:, None])
    for cut in known.cuts:
        rest = cut.alpha * (known.first - a[:, None]) + np.cumsum(cut.steps)
        limits = np.minimum(limits, rest)
        size = max(size, cut.alpha * known.first + float(cut.steps.sum()))
    differences = np.diff(np.maximum(limits, 0.0), axis=1, prepend=0.0)
    captured = np.square(b) + np.square(differences).sum(axis=1)
    return captured * (1.0 + growth(k + 4)) + 16.0 * k * growth(k + 8) * size**2
