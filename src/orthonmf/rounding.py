"""What rounding may have done to a computed number, so that claims made from it stay true.

Everything here is the classical model of IEEE arithmetic, in double precision unless another
roundoff is given: every operation returns the exact result times ``1 + d`` with ``|d| <= u``. A
sum, product or inner product of non-negative numbers that chains q operations in *any* order,
blocked, threaded or fused, is then the exact one times a factor between ``1 - g(q)`` and
``1 + g(q)``, and so is its inverse: ``(1 - u)**-q <= 1 / (1 - q u) = 1 + g(q)``.
"""

from __future__ import annotations

import math

import numpy as np

from orthonmf.typing import Array

UNIT_ROUNDOFF = 2.0**-53
SINGLE_ROUNDOFF = 2.0**-24
"""The same for float32."""

SMALLEST = 2.0**-1074
"""The spacing of the smallest doubles: what an operation that underflows may lose."""

WEIGHT_ROUNDINGS = 8
"""What weights add at most to the roundings of a product, a squared length or an entry.

An entry of ``diag(sqrt(w)) X diag(sqrt(v))`` is a product of three numbers, two of them square
roots: four roundings. Two such entries make a product. A squared length is multiplied by a weight
or, from the transposed matrix, divided by the square of a root and multiplied by it again.
"""

LOGARITHM = 32
"""Roundings of a logarithm, with the error of the library that computes it, and of what is nearby.
"""

LIGHT = 2.0**-900
"""Squared lengths below this may have lost digits to underflow, and nothing is built on them.

Above, all that the underflow of single squares can take is less than a rounding, by far.
"""

_SAFE_EXPONENT = 300


def growth(operations: float, roundoff: float = UNIT_ROUNDOFF) -> float:
    """g(q) = q u / (1 - q u), the relative error that q chained operations can reach.

    One operation more is counted, which pays for rounding inside this function and for the
    multiplication that applies the result. Infinite when so many operations prove nothing.
    """
    share = (operations + 1.0) * roundoff
    return share / (1.0 - share) * (1.0 + 4.0 * UNIT_ROUNDOFF) if share < 0.5 else math.inf


def round_up(value: float, operations: float) -> float:
    """An upper bound on what ``value >= 0`` stands for, after that many chained operations."""
    return value * (1.0 + growth(operations))


def round_down(value: float, operations: float) -> float:
    """A lower bound on what ``value >= 0`` stands for, after that many chained operations."""
    return max(0.0, value * (1.0 - growth(operations)))


def norm_from_above(array: Array) -> float:
    """An upper bound on the Frobenius norm of an array in the safe range, summed in float64."""
    if array.dtype == np.float64:
        flat = array.ravel(order="K")
        squares = float(flat @ flat)
    else:  # row by row, as no copy of the whole is made
        rows = (row.astype(np.float64) for row in array.reshape(len(array), -1))
        squares = sum(float(row @ row) for row in rows)
    return round_up(math.sqrt(squares), array.size + 2)


def safe_exponent(largest: float) -> int:
    """The power of two to divide by so that squares neither overflow nor lose digits.

    0 while the largest entry lies between 2**-300 and 2**300, where all that underflow can take
    from any bound here is far below the one operation that `growth` counts in addition.
    """
    exponent = math.frexp(largest)[1]
    return exponent if abs(exponent) > _SAFE_EXPONENT else 0


def scale_back(value: float, exponent: int, products: float) -> float:
    """``max(0, value) * 2**exponent`` less all that ``products`` underflowing ones can add up to.

    The data the value comes from were divided by ``2**exponent`` after those products were
    formed, so what the products lost to underflow is counted in the original units.
    """
    if not value > 0.0:
        return 0.0
    return max(0.0, math.ldexp(value, exponent) - 4.0 * (products + 1.0) * SMALLEST)


def error_upper_bound(squared_error: float, total: float, n_entries: int) -> float:
    """An upper bound on the exact squared error of the stored factors.

    ``squared_error`` is the computed sum of ``(X - product)**2`` over all ``n_entries`` entries,
    where an entry of the product is one multiplication (disjoint parts have one term per entry);
    ``total`` is the computed squared norm of X.

    An entry of the residual is off by at most u times the product and u times itself, and the
    norm of the product is at most that of X plus that of the residual. So the norm of the
    residual is at most ``sqrt(squared_error) (1 + g) + 3 u |X|``: the first term covers the sum
    of squares and the roundings of weights, the last the cancellation, which is all that is left
    when the fit is exact. Squares that underflowed are missing from the sum altogether: each is
    at most the smallest double.
    """
    cancellation = 3.0 * UNIT_ROUNDOFF * round_up(math.sqrt(total), n_entries + 2)
    underflow = math.sqrt(4.0 * (n_entries + 1.0) * SMALLEST)
    norm = round_up(math.sqrt(squared_error), n_entries + WEIGHT_ROUNDINGS) + cancellation
    return round_up((norm + underflow) ** 2, 5)


def captured_error_upper_bound(
    squared_error: float, total: float, shape: tuple[int, int], squared_lengths: Array
) -> float:
    """An upper bound on the exact squared error, from ``squared_error = total - captured``.

    For rows x of X (n, m), stored scales s and stored components v of about unit length, whose
    computed ``squared_lengths`` (k,) are asked for because nothing may be assumed of them:

        |x - s v|^2 = |x|^2 - s^2 (2 <x, v> / s - |v|^2),

    and the scale is the product <x, v> with m roundings, so <x, v> / s >= 1 - g(m) and the
    bracket is at least 1 - (|v|^2 - 1) - 2 g(m). Summed over the rows this is ``total - captured``
    plus at most  captured (|v|^2 - 1 + 2 g(m))  plus the roundings of the two sums: m products, a
    weight or two and n additions each. What is captured is at most the total times
    1 + g: the factor 1 + 1e-6 pays for that and for the roundings of this line.
    """
    n, m = shape
    longest = round_up(float(squared_lengths.max(initial=0.0)), m + 1)
    excess = max(0.0, longest - 1.0)
    share = excess + 2.0 * growth(m + 1) + 2.0 * growth(n + m + WEIGHT_ROUNDINGS)
    return round_up(squared_error + (1.0 + 1e-6) * share * total, 6)


def symmetric(matrix: Array) -> Array:
    """The matrix itself if it is symmetric to the last bit, else the larger of each two mates.

    For a Gram matrix of non-negative data either of two mates is within rounding of the truth,
    and the larger one is safe on the side that the bounds need.
    """
    # By strips, since a transposed matrix is read against the order it is stored in.
    strips = (slice(start, start + 64) for start in range(0, len(matrix), 64))
    if all(np.array_equal(matrix[: s.stop, s].T, matrix[s, : s.stop]) for s in strips):
        return matrix
    return np.maximum(matrix, matrix.T)
