"""What a refit changes: random weights of the coordinates, of both sides, or of nothing.

A point (a row over samples, a column over features) is given to a group by a sum over its
coordinates, the other side. Weights of variance 1 on these question that sum about as much as new
data would; weights on the points, or other seeds alone, never do. Weights are drawn from the
exponential distribution of mean 1, so that no point ever loses all of its entries.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from orthonmf.typing import Array

RESAMPLES: dict[str | None, str] = {
    "coordinates": "weights on the other side: features over samples, samples over features",
    "both": "weights on samples and features",
    None: "other seeds alone",
}


@dataclass(frozen=True, slots=True)
class Resampling:
    """Which sides of a matrix of this shape get random weights in every refit."""

    shape: tuple[int, int]
    rows: bool
    columns: bool
    column_groups: Array | None = None  # (m,) columns with one number share a weight

    def draw(self, rng: np.random.Generator) -> tuple[Array | None, Array | None]:
        """Weights (n,) of the rows and (m,) of the columns; None where all stay as they are."""
        row_weights = rng.exponential(size=self.shape[0]) if self.rows else None
        if not self.columns:
            return row_weights, None
        if self.column_groups is None:
            return row_weights, rng.exponential(size=self.shape[1])
        n_groups = int(self.column_groups.max()) + 1
        return row_weights, rng.exponential(size=n_groups)[self.column_groups]


def resampling_for(
    shape: tuple[int, int], orthogonal: str, resample: str | None, column_groups: Array | None
) -> Resampling:
    """What is drawn in a setting; over both sides each holds the coordinates of the other."""
    both = resample == "both" or (resample is not None and orthogonal == "both")
    rows = both or (resample is not None and orthogonal == "features")
    columns = both or (resample is not None and orthogonal == "samples")
    return Resampling(shape, rows, columns, column_groups)
