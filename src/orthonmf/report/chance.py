"""What chance would capture: a fit to a copy in which every column is shuffled by itself."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from orthonmf.engine.copies import permute_columns
from orthonmf.engine.matrix import Matrix
from orthonmf.errors import FewerComponentsWarning
from orthonmf.factorization import Factorization
from orthonmf.fitting import factorize

# A copy of more entries than this takes longer than what is learned from it is worth.
MOST_ENTRIES = 2**26


def captured_by_chance(matrix: Matrix, result: Factorization, **options: Any) -> float | None:
    """The share of the squared norm that as many components capture of a shuffled matrix.

    None where it is not in memory, or so large that a copy would take long. ``options`` are what a
    result does not tell of its fit: weights of rows, missing values, threads.
    """
    if not matrix.source.in_memory or matrix.n_entries > MOST_ENTRIES:
        return None
    seed = result.random_state
    rng = np.random.default_rng([1] if seed is None else [seed, 1])
    rows = matrix.source.take(slice(None))  # as they came, with their gaps
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerComponentsWarning)
        by_chance = factorize(
            permute_columns(rows, rng),
            result.n_components,
            orthogonal=result.orthogonal,
            beta_loss=result.beta_loss,
            feature_weight=result.feature_weight,
            certificate=None,
            random_state=rng,
            **options,
        )
    return max(0.0, 1.0 - by_chance.relative_error)
