"""Outcome: a factorization with what its algorithm promises and proves on the way."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import accumulate

from orthant.bounds.lower_bound import LowerBound
from orthant.factorization import Factorization
from orthant.onmf.promises import APriori


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an algorithm hands to the certificate.

    Attributes
    ----------
    result
        The factorization. Its history, as the algorithm left it, holds the errors before the final
        assignment; here it is made to end with the error of the factorization itself.
    promise
        The ratio known before the data were seen.
    bounds
        Lower bounds on the squared error that came with the fit, for free.
    """

    result: Factorization
    promise: APriori = field(default_factory=APriori)
    bounds: tuple[LowerBound, ...] = ()

    def __post_init__(self) -> None:
        history = falling(self.result.history, self.result.relative_squared_error)
        object.__setattr__(self, "result", replace(self.result, history=history))


def falling(errors: Iterable[float], last: float) -> tuple[float, ...]:
    """Errors of a fit as what was accepted so far, never rising, and ``last`` at the end.

    A step is accepted only if it loses nothing, so an error that seems to rise, or to lie below the
    one that was published, does so by the rounding of the pass that measured it.
    """
    return (*(max(error, last) for error in accumulate(errors, min)), last)
