"""Would I get these groups again? Fits under random weights, and how they vote."""

from orthonmf.stability.record import Membership, Stability
from orthonmf.stability.refits import refit

__all__ = ["Membership", "Stability", "refit"]
