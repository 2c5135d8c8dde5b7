"""Solution: directions and what they capture, while a fit is still at work."""

from __future__ import annotations

from dataclasses import dataclass

from orthant.engine.points import DirectionSweep
from orthant.numerics.arrays import Array

# Why components may be left over: what happened, not what must be so.
UNUSED = "no point went to the others; the data may hold no more distinct directions"


@dataclass(frozen=True, slots=True)
class Solution:
    """Directions and how much they capture.

    Attributes
    ----------
    form
        (k, m) form of the directions, of any length.
    captured
        Energy captured when every point goes to its best direction; more is better.
    history
        Captured energy after each sweep on the way here, never falling.
    settled
        Whether the last sweep was made by these very directions.
    sweep
        That sweep, where it is at hand.
    """

    form: Array
    captured: float
    history: tuple[float, ...] = ()
    settled: bool = False
    sweep: DirectionSweep | None = None
