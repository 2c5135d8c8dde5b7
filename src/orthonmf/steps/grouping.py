"""Step 3 of the double-factor algorithm, first half: centers that point the same way."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from orthonmf.typing import Array


def group_by_angle(reduced_weights: Array, close_pairs: Array) -> Array:
    """Group the centers that have weight left and are less than 30 degrees apart.

    After weight reduction "close" is an equivalence, so the groups are the connected components
    of the close pairs, and each of them is a clique. A list that connects every group, without
    naming all of its pairs, is therefore enough. Section 4.2, step 3.

    Parameters
    ----------
    reduced_weights
        (k,), as step 2 left them.
    close_pairs
        (p, 2), in any order; pairs with a spent end are ignored.

    Returns
    -------
    groups
        (k,) numbers from 0, in the order of the lowest center in each; -1 where no weight is left.
    """
    survives = np.asarray(reduced_weights) > 0.0
    pairs = np.asarray(close_pairs, dtype=np.int64).reshape(-1, 2)
    first, second = pairs[survives[pairs].all(axis=1)].T
    k = len(survives)
    edges = coo_array((np.ones(len(first), dtype=np.int8), (first, second)), shape=(k, k))
    _, components = connected_components(edges, directed=False)
    groups = np.full(k, -1, dtype=np.int64)
    _, lowest, inverse = np.unique(components[survives], return_index=True, return_inverse=True)
    groups[survives] = np.argsort(np.argsort(lowest))[inverse]
    return groups


def group_alone(center_weights: Array) -> Array:
    """Every center of positive weight (k,) a group of its own, -1 for the others.

    For step 3 when step 2 has left no weight at all. Its cost is then an empty sum, which any
    orthogonal directions and any groups minimize; and what all centers have lost is paid for by
    every solution, as long as no scale makes a point cost more than its length. So the ratios of
    Theorems 8 and 9 hold whatever is chosen, and sharing out the coordinates by the weights that
    centers had before says more than no directions.
    """
    heavy = np.asarray(center_weights) > 0.0
    return np.where(heavy, np.cumsum(heavy) - 1, -1)
