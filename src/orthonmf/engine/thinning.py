"""Counts split in two at random: every single one goes to either half by the toss of a coin.

Halves of Poisson counts are independent Poisson counts with half the mean (Poisson thinning).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

# Whole numbers above are not all float64.
LARGEST = 2.0**53


def can_split(data: Any) -> bool:
    """Whether all entries are whole numbers, which can be counted out into two halves."""
    values = data.data if issparse(data) else data
    return bool((values == np.floor(values)).all() and values.max(initial=0) <= LARGEST)


def split_counts(data: Any, rng: np.random.Generator) -> tuple[Any, Any]:
    """Two halves that add up to the data, an array or CSR array of whole numbers."""
    values = data.data if issparse(data) else data
    first = rng.binomial(values.astype(np.int64), 0.5).astype(values.dtype)
    if not issparse(data):
        return first, data - first
    halves = tuple(
        csr_array((half, data.indices, data.indptr), shape=data.shape, copy=True)
        for half in (first, values - first)
    )
    for half in halves:
        half.eliminate_zeros()
    return halves
