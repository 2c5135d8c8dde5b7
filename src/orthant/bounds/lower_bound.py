"""LowerBound: a number that no solution's squared error goes below, and why."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LowerBound:
    """No feasible factorization has a squared error below ``value``.

    Attributes
    ----------
    value
        In the units of the squared entries of the array the bound was computed from; 0 when
        nothing could be proven, never negative.
    method
        What proves it, in words that complete "proven by ...".
    """

    value: float
    method: str
