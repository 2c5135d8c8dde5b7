"""Outcome: a factorization with what its algorithm promises and proves on the way."""

from __future__ import annotations

from dataclasses import dataclass, field

from orthant.algorithms.claims import APriori
from orthant.bounds.lower_bound import LowerBound
from orthant.factorization import Factorization


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an algorithm hands to the certificate.

    Attributes
    ----------
    result
        The factorization.
    promise
        The ratio known before the data were seen.
    bounds
        Lower bounds on the squared error that came with the fit, for free.
    """

    result: Factorization
    promise: APriori = field(default_factory=APriori)
    bounds: tuple[LowerBound, ...] = ()
