"""Step 3 of the double-factor algorithm, second half: every coordinate goes to one group."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csc_array, csr_array

from orthonmf.engine.segments import first_largest
from orthonmf.typing import Array


def split_coordinates(
    centers: Array | csr_array, reduced_weights: Array, groups: Array, norms: Array | None = None
) -> csr_array:
    """Directions with disjoint supports that fit the weighted centers of their groups best.

    The cost ``sum_j q'_j |c_j - a_group(j)|^2`` over orthogonal non-negative directions falls
    apart into coordinates: coordinate h keeps the mean ``mu_sh`` of the one group with the largest
    ``Q_s mu_sh^2`` (the lowest of equals) and is zero in all others. This is the exact minimum.
    Section 4.2, step 3.

    Parameters
    ----------
    centers
        (k, m) non-negative, dense or CSR.
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
    members = np.flatnonzero(groups >= 0)
    weights, n_groups = reduced_weights[members], int(groups.max(initial=-1)) + 1
    factors = weights if norms is None else weights / norms[members]
    by_group = csr_array((factors, (groups[members], members)), shape=(n_groups, len(groups)))
    group_weights = np.bincount(groups[members], weights, n_groups)
    sums = csc_array(by_group @ centers)
    sums.eliminate_zeros()
    sums.sort_indices()
    means = sums.data / group_weights[sums.indices]
    coordinates, winners = first_largest(sums.indptr, group_weights[sums.indices] * means**2)
    entries = (means[winners], (sums.indices[winners], coordinates))
    return csr_array(entries, shape=sums.shape)
