"""Are these the data? No checksum of the original files is known, so the values are judged."""

from __future__ import annotations

from math import isclose
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from orthant.datasets.uci.catalog import Entry

NORM_PRECISION = 1e-7  # the known norms have eight digits


def differences(entry: Entry, X: Any) -> list[str]:
    """What distinguishes a matrix from the one that is known; nothing when it is the same."""
    if X.shape != entry.shape:
        return [
            f"its shape is {X.shape[0]} x {X.shape[1]}, not {entry.shape[0]} x {entry.shape[1]}"
        ]
    values = X.data if isinstance(X, csr_array) else X
    found = []
    nonzeros = int(np.count_nonzero(values))
    if entry.nonzeros is not None and nonzeros != entry.nonzeros:
        found.append(f"it has {nonzeros} non-zeros, not {entry.nonzeros}")
    norm = float(np.linalg.norm(values.astype(np.float64, copy=False)))
    if entry.norm is not None and not isclose(norm, entry.norm, rel_tol=NORM_PRECISION):
        found.append(f"its Frobenius norm is {norm:.8g}, not {entry.norm:.8g}")
    return found
