"""Step 2 of the double-factor algorithm: cancel weight between centers at middling angles.

(Weights of samples and features enter in `engine/matrix.py`.)
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from orthonmf.typing import Array

COS_60 = 0.5
COS_30 = math.sqrt(3.0) / 2.0
# 1 / sin^2(15 degrees) = 8 + 4 sqrt 3, rounded up.
FULL_RANK_RATIO = math.nextafter(8.0 + 4.0 * math.sqrt(3.0), math.inf)
# The ratio of Theorem 9 in floating point: the rest pays for a wider band of angles.
BAND_RATIO = FULL_RANK_RATIO * (1.0 + 1e-6)


def cosine_slack(dimension: int) -> float:
    """How much the band of middling angles is widened for vectors of ``dimension`` entries.

    At least the rounding of a cosine of non-negative vectors, ``4 (m + 4) 2**-53``. With a band
    this wide, two survivors are *truly* less than 30 or more than 60 degrees apart, so "close"
    is an equivalence. A narrower band could break that; a wider one costs the ratio 14.93 less
    than its last digit.
    """
    return max(1e-12, 4.0 * (dimension + 4) * 2.0**-53)


def pairwise_cosines(centers: Array) -> Array:
    """Cosines (k x k, float64, in [0, 1]) of non-negative centers (k x m); 0 for a zero center."""
    centers = np.asarray(centers, dtype=np.float64)
    # A power of two per row is exact, and keeps the squares of huge and tiny rows in range.
    _, exponents = np.frexp(centers.max(axis=1, initial=0.0))
    scaled = np.ldexp(centers, -exponents[:, None])
    norms = np.linalg.norm(scaled, axis=1)
    directions = scaled / np.where(norms > 0.0, norms, 1.0)[:, None]
    return np.clip(directions @ directions.T, 0.0, 1.0)


def pairs_in_band(cosines: Array, slack: float) -> Array:
    """Pairs i < j (p x 2, lexicographic) that are 30 to 60 degrees apart, up to ``slack``."""
    in_band = (cosines >= COS_60 - slack) & (cosines <= COS_30 + slack)
    return np.argwhere(np.triu(in_band, k=1))


def pairs_above_band(cosines: Array, slack: float) -> Array:
    """Pairs i < j (p x 2, lexicographic) that are less than 30 degrees apart for certain."""
    return np.argwhere(np.triu(cosines > COS_30 + slack, k=1))


@dataclass(frozen=True, slots=True)
class WeightReduction:
    """What is left of the weights, and which pairs gave up how much.

    Every removal spends at least one of its two weights entirely, so there are at most k.
    """

    weights: Array  # (k,), exactly 0 where all weight was given up
    first: Array  # (t,), one end of each removal, in the order in which they happened
    second: Array  # (t,), the other end
    removed: Array  # (t,), what both ends lost, always positive


def reduce_weights(
    center_weights: Array, pairs: Array | Iterable[tuple[int, int]]
) -> WeightReduction:
    """Cancel weight between the two ends of every pair in turn, until the lighter has none.

    Two centers 30 to 60 degrees apart cannot both be near a set of orthogonal vectors, so what
    they lose together is paid for by any solution. Section 4.2, step 2; Lemma 10 and 12.

    Parameters
    ----------
    center_weights
        (k,) non-negative.
    pairs
        (p, 2), no pair twice, no center with itself. Any order is allowed; pairs that follow
        each other and share their first center are done at once, so lexicographic order is fast.
        A long list may come in pieces: pass the weights that the piece before has left.
    """
    weights = np.array(center_weights, dtype=np.float64)
    pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    pairs = pairs[(weights[pairs] > 0.0).all(axis=1)]
    first, second = pairs.T
    changes = np.flatnonzero(first[1:] != first[:-1]) + 1
    trace: list[tuple[Array, Array, Array]] = []
    for start, stop in pairwise(np.unique(np.r_[0, changes, len(pairs)])):
        center = first[start]
        if weights[center] > 0.0:
            partners = second[start:stop]
            partners = partners[weights[partners] > 0.0]
            removed = _spend(weights, center, partners)
            partners = partners[: len(removed)]
            trace.append((np.full(len(removed), center), partners, removed))
    columns = zip(*trace, strict=True) if trace else ([], [], [])
    first, second, removed = (np.concatenate([[], *parts]) for parts in columns)
    return WeightReduction(weights, first.astype(np.int64), second.astype(np.int64), removed)


def _spend(weights: Array, center: int, partners: Array) -> Array:
    """Cancel the weight of ``center`` against its partners in order; return what each lost.

    Changes ``weights``. Subtracting one after the other gives the same bits as a plain loop.
    """
    before = np.subtract.accumulate(np.r_[weights[center], weights[partners]])
    spent = np.flatnonzero(before[1:] <= 0.0)
    if len(spent) == 0:
        removed = weights[partners]
        weights[partners] = 0.0
        weights[center] = before[-1]
        return removed
    last = spent[0]
    removed = np.r_[weights[partners[:last]], before[last]]
    weights[partners[:last]] = 0.0
    weights[partners[last]] -= before[last]
    weights[center] = 0.0
    return removed
