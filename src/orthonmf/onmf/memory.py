"""How many components can be in use, and what a fit of them takes: too much is refused."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from orthonmf.engine.matrix import Matrix
from orthonmf.engine.memory import refuse_beyond_memory
from orthonmf.onmf.algorithms import Algorithm
from orthonmf.onmf.options import Options

FLOAT = 8
# Normalized, in float64 and in float32.
COPIES_OF_A_SAMPLE = 2.5
# As it is computed, and what a sweep takes of it.
COPIES_OF_WHAT_IS_SEEN = 2
FEWER = "ask for fewer components, or leave out columns that hold nothing"


def usable(
    asked: int | tuple[int, int], shape: tuple[int, int], orthogonal: str
) -> tuple[int, int]:
    """How many components, and with a core how many groups of columns (else 0), can be in use.

    Each has a row or a column of its own.
    """
    n, m = shape
    if isinstance(asked, tuple):
        return min(asked[0], n), min(asked[1], m)
    return min(asked, {"samples": n, "features": m, "both": min(n, m)}[orthogonal]), 0


def refuse_large_result(X: Any, asked: int | tuple[int, int], orthogonal: str) -> None:
    """Refuse a result that cannot be held, as far as the shape of X is known before it is read."""
    shape = getattr(X, "shape", None)
    if not (isinstance(shape, tuple) and [isinstance(n, Integral) for n in shape] == [True, True]):
        return  # a list, or lengths that Dask has yet to find out
    k, _ = usable(asked, shape, orthogonal)
    # The class is asked first: a frame answers with its column of that name.
    dtype = X.dtype if hasattr(type(X), "dtype") else None
    itemsize = 4 if dtype == np.float32 else FLOAT
    needed = result_bytes(shape, k, orthogonal, itemsize)
    what = f"the result with {k:,} components for {shape[0]:,} x {shape[1]:,} entries"
    refuse_beyond_memory(needed, what, FEWER)


def refuse_large_fit(matrix: Matrix, algorithm: Algorithm, options: Options) -> None:
    """Refuse a fit that cannot be held while it is at work."""
    n, m = matrix.shape
    what = f"the fit of {options.n_components:,} components to {n:,} x {m:,} entries"
    refuse_beyond_memory(fit_bytes(matrix, algorithm, options), what, FEWER)


def result_bytes(shape: tuple[int, int], k: int, orthogonal: str, itemsize: int) -> int:
    """Bytes of components (k, m) and of loadings: (n, k) over features, else one per row."""
    n, m = shape
    loadings = n * k if orthogonal == "features" else 2 * n
    return (k * m + loadings) * itemsize


def fit_bytes(matrix: Matrix, algorithm: Algorithm, options: Options) -> int:
    """About how many bytes a fit takes at its peak, next to the data themselves.

    Dense vectors of k components and of the points that may become one, whichever side they are
    on, then the result; and a few numbers for every row and column. With a core, what each side
    sees of the groups of the other.
    """
    (n, m), orthogonal = matrix.shape, options.orthogonal
    k, n_groups = options.n_components, options.n_groups
    seen = COPIES_OF_WHAT_IS_SEEN * (n * n_groups + m * k) if n_groups else 0
    most = max(k, n_groups)
    sides = ("samples", "features") if orthogonal == "both" else (orthogonal,)
    points = {"samples": n, "features": m}
    vectors = max(
        algorithm.widest(points[side], most) * matrix.vector_length(side) for side in sides
    )
    sample = algorithm.sample(most)
    copied = int(COPIES_OF_A_SAMPLE * max(matrix.entries_of(sample, side) for side in sides))
    result = result_bytes(matrix.shape, k, orthogonal, matrix.dtype.itemsize)
    return FLOAT * (vectors + copied + seen + 4 * (n + m)) + result
