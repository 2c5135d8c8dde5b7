"""FitOptions: what decides the answer of a fit, its data and its seed aside."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FitOptions:
    """The options of a fit that another fit of the same kind repeats.

    Plain values, so that a result that holds them can be pickled and saved. ``factorize``
    describes each of them; components that were given as a start are not repeated, for they say
    where an answer is, and ``init`` is "auto" then.
    """

    beta_loss: str = "frobenius"
    algorithm: str = "best"
    init: str = "auto"
    kmeans: str | None = None
    n_init: int | str = "auto"
    max_iter: int = 300
    tol: float = 3e-5
