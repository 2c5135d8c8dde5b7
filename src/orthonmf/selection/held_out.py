"""What groups that were found in one half of the counts lose of the other.

What groups of one half make of its noise does not help them in the other, where more groups than
there are cost more.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from orthonmf.engine.counts import Counts
from orthonmf.factorization import Factorization
from orthonmf.typing import Array

# Profiles are mixed with that of all rows, and that with an even one: what a half lacks, or a
# group, the other half may hold, and no divergence is infinite.
SMOOTHED, ADDED = 0.1, 0.5


def held_out_error(result: Factorization, fitted: Any, held_out: Any) -> float:
    """Share of the information in held-out counts that groups of the fitted half lose.

    Rows (over features columns) keep the group they have in the fitted half; one that is empty
    there has the profile of all. Above 1 where a single profile of the held-out counts themselves
    loses less.
    """
    if result.orthogonal == "features":
        profiles, side = np.asarray(result.loadings).T, result.feature_labels
        fitted, held_out = fitted.T, held_out.T
    else:
        profiles, side = result.components, result.labels
    labels = np.asarray(side)
    counts = Counts(csr_array(held_out, dtype=np.float64))
    if not counts.information > 0:
        return 1.0
    logs = np.log(_smooth(profiles, np.asarray(fitted.sum(axis=0), dtype=np.float64)))
    # Label -1 reads the last row, the profile of all.
    predicted = logs[labels[counts.owners], counts.rows.indices]
    return (counts.entropy - float(counts.rows.data @ predicted)) / counts.information


def _smooth(profiles: Array, sums: Array) -> Array:
    """(k + 1, m) profiles of any sum, mixed with that of all rows, and last that of all rows."""
    overall = (sums + ADDED) / (sums + ADDED).sum()
    profiles = profiles.astype(np.float64)
    profiles = profiles / profiles.sum(axis=1, keepdims=True)
    return np.vstack([(1 - SMOOTHED) * profiles + SMOOTHED * overall, overall])
