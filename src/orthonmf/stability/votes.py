"""Votes: the groups of refits, renamed to fit those of the fit, and counted for every point.

The share of votes for its own group is the certainty of a point.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from scipy.optimize import linear_sum_assignment

from orthonmf.stability.record import Membership
from orthonmf.typing import Array


def count_votes(labels: Array, energies: Array, k: int, refits: Sequence[Array]) -> Membership:
    """What refits say about the groups of a fit.

    ``labels`` (N,) are those of the fit, from 0 to k - 1, and -1 for points that have no say;
    ``energies`` (N,) what the fit captures of every point; each refit has labels (N,) of its own,
    under any names. Their agreement is the mean adjusted Rand index of consecutive ones, which
    chance does not raise; there points without a label are a group of their own.
    """
    from sklearn.metrics import adjusted_rand_score  # takes a second to import

    counted = np.flatnonzero(labels >= 0)
    counts = np.zeros((len(labels), k), dtype=np.int32)
    jaccard = np.zeros(k)
    own = labels[counted]
    for refit_labels in refits:
        overlaps = count_overlaps(own, refit_labels[counted], k)
        jaccard += best_jaccard(overlaps, own, refit_labels[counted])
        renamed = match(overlaps)[refit_labels[counted]]
        known = renamed >= 0
        counts[counted[known], renamed[known]] += 1
    pairs = pairwise(refit_labels[counted] for refit_labels in refits)
    kept = counts[counted, own] / len(refits)
    by_energy = np.bincount(own, energies[counted] * kept, minlength=k)
    total = np.bincount(own, energies[counted], minlength=k)
    return Membership(
        labels=labels,
        counts=counts,
        n_refits=len(refits),
        jaccard=jaccard / len(refits),
        energy_certainty=np.divide(by_energy, total, out=np.zeros(k), where=total > 0),
        agreement=float(np.mean([adjusted_rand_score(*pair) for pair in pairs])),
    )


def count_overlaps(labels: Array, others: Array, k: int) -> Array:
    """(k, l) how many points have a label of the one and a label of the other; -1 is none."""
    n_others = int(others.max(initial=-1)) + 1
    both = others >= 0
    places = labels[both].astype(np.int64) * n_others + others[both]
    return np.bincount(places, minlength=k * n_others).reshape(k, n_others)


def match(overlaps: Array) -> Array:
    """(l + 1,) the group of the fit that every group of a refit is, one to one; else -1.

    The matching shares as many points as any (the Hungarian method). Groups that share no point
    are never the same. The last entry is for label -1.
    """
    groups, others = linear_sum_assignment(overlaps, maximize=True)
    shared = overlaps[groups, others] > 0
    names = np.full(overlaps.shape[1] + 1, -1)
    names[others[shared]] = groups[shared]
    return names


def best_jaccard(overlaps: Array, labels: Array, others: Array) -> Array:
    """(k,) how much of every group and of its nearest group in a refit is shared by both."""
    if overlaps.shape[1] == 0:
        return np.zeros(len(overlaps))
    sizes = np.bincount(labels, minlength=len(overlaps))
    other_sizes = np.bincount(others[others >= 0], minlength=overlaps.shape[1])
    unions = sizes[:, None] + other_sizes - overlaps
    return np.asarray((overlaps / np.maximum(unions, 1)).max(axis=1))
