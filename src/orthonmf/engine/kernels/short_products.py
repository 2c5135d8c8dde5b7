"""When float32 is enough for products of whole numbers: they are twice as fast there, and exact."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from orthonmf.typing import Array

DIGITS = 24
"""Binary digits of a float32: it holds every whole number up to 2**24."""

FIRST_LOOK = 1024
"""So many values are looked at before all of them: most data that are not whole end here."""

_SAFE_EXPONENT = 40


def exact_in_float32(values: Array, largest_sum: Callable[[], float]) -> bool:
    """Whether sums of products of these values are exact in float32, in any order.

    ``values`` are non-negative and finite, and no sum of their products exceeds ``largest_sum()``.
    If all are multiples of one power of two q, all products and partial sums are multiples of
    q**2, and float32 holds those up to 2**24 q**2 without rounding.
    """
    flat = values.ravel(order="K")
    if not _common_unit(flat[:FIRST_LOOK]) > 0.0:
        return False
    unit = _common_unit(flat)
    return unit > 0.0 and largest_sum() <= 2.0**DIGITS * unit**2


def _common_unit(values: Array) -> float:
    """The largest power of two that all values are multiples of; 0 when products overflow 24 bits.

    A value of 2**12 units or more is too large, as its own square shows.
    """
    largest = float(values.max(initial=0.0))
    exponent = math.frexp(largest)[1]
    if largest == 0.0:
        return 1.0
    if abs(exponent) > _SAFE_EXPONENT:
        return 0.0
    shift = DIGITS // 2 - exponent
    shifted = np.ldexp(values, shift)
    whole = shifted.astype(np.int32)
    if not np.array_equal(whole, shifted):
        return 0.0
    digits = int(np.bitwise_or.reduce(whole))
    return math.ldexp(float(digits & -digits), -shift)
