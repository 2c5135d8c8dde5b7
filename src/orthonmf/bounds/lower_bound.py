"""LowerBound: a number that no solution's squared error goes below, and why."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LowerBound:
    """No feasible factorization has a squared error below ``value``."""

    value: float  # in units of squared entries of the array used; 0 where nothing is proven
    method: str  # what proves it, in words that complete "proven by ..."
