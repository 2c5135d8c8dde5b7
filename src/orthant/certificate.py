"""Certificate: what is proven about how far an answer is from the best possible."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Certificate:
    """A lower bound on the cost of every solution, and what follows for the one in hand.

    Attributes
    ----------
    lower_bound
        No solution costs less. For a factorization the cost is the relative squared error, for
        a correlation clustering the number of disagreements. None when no bound was computed.
    ratio
        The cost of the answer divided by ``lower_bound``, rounded up; never below 1.
        None when no claim can be made.
    method
        Which bound it is, in words that complete "proven by ...".
    a_priori_ratio
        What the algorithm promises before it sees the data; None when it promises nothing.
    a_priori_kind
        "always", or "expected" over the algorithm's own random choices, or None.
    reason
        Why a claim is missing, and how to get one; empty when nothing is missing.
    quantity
        The cost in words.
    seconds
        Time spent on the bound.
    """

    lower_bound: float | None = None
    ratio: float | None = None
    method: str | None = None
    a_priori_ratio: float | None = None
    a_priori_kind: str | None = None
    reason: str = ""
    quantity: str = "squared error"
    seconds: float = 0.0

    @property
    def optimal(self) -> bool:
        """Whether no solution can be better: the ratio is exactly 1."""
        return self.ratio == 1.0

    def __str__(self) -> str:
        if self.optimal:
            return f"{self.quantity} the smallest possible; proven by {self.method}"
        if self.ratio is not None:
            claim = f"{self.quantity} at most {_in_digits(self.ratio)} times the smallest possible"
            return f"{claim}; proven by {self.method}"
        if self.a_priori_ratio is not None:
            on_average = " on average" if self.a_priori_kind == "expected" else ""
            claim = f"{self.quantity} at most {_in_digits(self.a_priori_ratio)} times the smallest"
            return f"{claim} possible{on_average}; promised by the algorithm"
        return f"nothing is proven: {self.reason}" if self.reason else "nothing is proven"


def _in_digits(ratio: float) -> str:
    """A ratio with four or more significant digits, rounded up so that the claim stays true."""
    digits = 2 if ratio >= 10 else 3
    while digits < 9 and 1.0 < ratio < 1.0 + 10.0 ** (1 - digits):
        digits += 1
    scaled = math.ceil(ratio * 10**digits) / 10**digits
    return f"{scaled:.{digits}f}"


def ratio_rounded_up(cost: float, lower_bound: float) -> float | None:
    """``cost / lower_bound`` rounded away from zero, at least 1; None when nothing follows."""
    if not lower_bound > 0.0 or not math.isfinite(cost):
        return None
    return max(1.0, math.nextafter(cost / lower_bound, math.inf))
