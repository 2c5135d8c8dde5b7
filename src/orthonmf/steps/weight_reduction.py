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


def reduce_weights(center_weights: Array, blocks: Iterable[Array]) -> WeightReduction:
    """Cancel weight between the two ends of every pair in turn, until the lighter has none.

    Two centers 30 to 60 degrees apart cannot both be near a set of orthogonal vectors, so what
    they lose together is paid for by any solution. Section 4.2, step 2; Lemma 10 and 12.

    Parameters
    ----------
    center_weights
        (k,) non-negative.
    blocks
        Pairs (p, 2) in pieces, no pair twice, no center with itself. Any order is allowed; where
        pairs that share their first center follow each other, it is fast.
    """
    weights = np.array(center_weights, dtype=np.float64)
    removals: list[tuple[int, int, float]] = []
    for pairs in blocks:
        first, second = pairs[(weights[pairs] > 0.0).all(axis=1)].T
        changes = np.flatnonzero(np.diff(first, prepend=-1))
        for start, stop in pairwise([*changes, len(first)]):
            center, partners = first[start], second[start:stop]
            for partner in partners[weights[partners] > 0.0]:
                removed = min(weights[center], weights[partner])
                if not removed > 0.0:  # the center has none left
                    break
                weights[center] -= removed
                weights[partner] -= removed
                removals.append((center, partner, removed))
    first, second, removed = np.array(removals, dtype=np.float64).reshape(-1, 3).T
    return WeightReduction(weights, first.astype(np.int64), second.astype(np.int64), removed)
