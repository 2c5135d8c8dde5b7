"""What chance would capture: a fit to a copy in which every column is shuffled by itself."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from orthonmf.engine.shuffles import can_permute, permute_columns
from orthonmf.errors import FewerComponentsWarning
from orthonmf.fitting import factorize


def captured_by_chance(
    X: Any, n_components: Any, *, seed: int | None, **options: Any
) -> float | None:
    """The share of the squared norm that a fit captures of shuffled data.

    None where the data are not in memory, or so large that a copy would take long.
    """
    if not can_permute(X):
        return None
    rng = np.random.default_rng([1] if seed is None else [seed, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerComponentsWarning)
        shuffled = permute_columns(X, rng)
        result = factorize(shuffled, n_components, certificate=None, random_state=rng, **options)
    return max(0.0, 1.0 - result.relative_error)
