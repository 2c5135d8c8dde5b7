"""Step 3 of the double-factor algorithm, second half: every coordinate goes to one group."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from orthonmf.engine.segments import first_largest
from orthonmf.typing import Array


def split_coordinates(
    centers: Array, reduced_weights: Array, groups: Array, norms: Array | None = None
) -> Array:
    """Directions with disjoint supports that fit the weighted centers of their groups best.

    The cost ``sum_j q'_j |c_j - a_group(j)|^2`` over orthogonal non-negative directions falls
    apart into coordinates: coordinate h keeps the mean ``mu_sh`` of the one group with the largest
    ``Q_s mu_sh^2`` (the lowest of equals) and is zero in all others. This is the exact minimum.
    Section 4.2, step 3.

    Parameters
    ----------
    centers
        (k, m) non-negative, dense.
    reduced_weights
        (k,) weights left by step 2.
    groups
        (k,) from `group_by_angle`, -1 for centers that take no part.
    norms
        (k,) when given, the centers c_j are the rows of ``centers`` divided by these.

    Returns
    -------
    directions
        (n_groups, m); a coordinate that is zero in every group belongs to none, and a group that
        wins no coordinate has a zero row.
    """
    weighting, group_weights = _group_weighting(reduced_weights, groups, norms)
    means = (weighting @ np.asarray(centers, dtype=np.float64)) / group_weights[:, None]
    directions = np.zeros_like(means)
    if len(means):
        winners = np.argmax(group_weights[:, None] * means**2, axis=0)
        coordinates = np.arange(means.shape[1])
        directions[winners, coordinates] = means[winners, coordinates]
    return directions


def split_sparse_coordinates(
    centers: csr_array, reduced_weights: Array, groups: Array, norms: Array | None = None
) -> csr_array:
    """The same as `split_coordinates` for sparse centers, without a dense groups x m array."""
    weighting, group_weights = _group_weighting(reduced_weights, groups, norms)
    sums = (weighting @ csr_array(centers)).tocsc()
    sums.eliminate_zeros()
    sums.sort_indices()
    means = sums.data / group_weights[sums.indices]
    coordinates, winners = first_largest(sums.indptr, group_weights[sums.indices] * means**2)
    entries = (means[winners], (sums.indices[winners], coordinates))
    return csr_array(entries, shape=sums.shape)


def _group_weighting(
    reduced_weights: Array, groups: Array, norms: Array | None
) -> tuple[csr_array, Array]:
    """The (n_groups x k) matrix that sums weighted centers by group, and the group weights."""
    groups, weights = np.asarray(groups), np.asarray(reduced_weights, dtype=np.float64)
    members = np.flatnonzero(groups >= 0)
    factors = weights[members] if norms is None else weights[members] / norms[members]
    n_groups = int(groups.max(initial=-1)) + 1
    weighting = csr_array((factors, (groups[members], members)), shape=(n_groups, len(groups)))
    group_weights = np.bincount(groups[members], weights[members], n_groups)
    # A number that no center carries has mean 0 whatever its weight.
    return weighting, np.where(group_weights > 0.0, group_weights, 1.0)
