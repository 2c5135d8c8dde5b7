"""The one loop of every descent: of k-means, of directions, of blocks and of a core."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from orthonmf.checkpoint import Step
from orthonmf.progress import announce

Vectors = TypeVar("Vectors")


@dataclass(frozen=True, slots=True, kw_only=True)
class Update(Generic[Vectors]):
    """What one sweep by vectors has found."""

    captured: float  # energy that the vectors capture; for costs their negative
    vectors: Vectors  # the next ones, which capture no less; mostly an array (k, m)
    next_gain: float = math.inf  # what the next update gains at the least; infinite if not known


UpdateT = TypeVar("UpdateT", bound=Update)


class Method(ABC, Generic[Vectors, UpdateT]):
    """How vectors are swept and updated."""

    name = "sweep"  # as it is announced
    total = 0.0  # energy of all points; 0 for costs

    @abstractmethod
    def update(self, vectors: Vectors) -> UpdateT:
        """Assign all points to vectors and find the next ones."""

    def reuse_idle(self, swept: Vectors, update: UpdateT) -> bool:
        """Move next vectors that no point went to, in place; whether any was moved."""
        return False

    def arrays_of(self, vectors: Vectors) -> dict[str, Any]:
        """Vectors as a checkpoint keeps them."""
        return {"vectors": vectors}

    def vectors_of(self, arrays: dict[str, Any]) -> Vectors:
        """Vectors that a checkpoint has kept."""
        vectors: Vectors = arrays["vectors"]
        return vectors


@dataclass(frozen=True, slots=True)
class Alternated(Generic[UpdateT]):
    """Where an alternation has ended."""

    last: UpdateT
    history: tuple[float, ...]  # captured energy after every sweep, never falling
    converged: bool  # whether it ended by itself, not by the limit on sweeps


def alternate(
    method: Method[Vectors, UpdateT], vectors: Vectors, *, max_iter: int, tol: float, step: Step
) -> Alternated[UpdateT]:
    """Update vectors until a sweep gains less than ``tol`` of what is not captured.

    It ends too when the next gain is sure to be that small, or after ``max_iter`` sweeps. Moving a
    vector that no point went to keeps it going.

    Every update is the best of one side given the other, so a gain below zero is rounding: then
    the vectors are as good as this arithmetic can tell. ``step`` may know how far an earlier
    attempt came.
    """
    history = list(step.history)
    vectors = method.vectors_of(step.arrays) if step.begun else vectors
    total = method.total
    while True:
        update = method.update(vectors)
        captured = update.captured
        gained = captured - history[-1] if history else math.inf
        history.append(max(captured, history[-1]) if history else captured)
        announce(method.name, max(0.0, 1.0 - captured / total) if total > 0 else None)
        last = len(history) >= max_iter
        moved = not last and gained >= 0 and method.reuse_idle(vectors, update)
        # What is captured may exceed the total by rounding.
        enough = tol * max(total - captured, 0.0)
        converged = not moved and min(gained, update.next_gain) <= enough
        if converged or last:
            return Alternated(update, tuple(history), converged)
        vectors = update.vectors
        step.keep(tuple(history), **method.arrays_of(vectors))


def errors_of(captured: tuple[float, ...], total: float) -> tuple[float, ...]:
    """Relative squared errors from captured energies; these may exceed the total by rounding."""
    return tuple(max(0.0, 1.0 - energy / total) for energy in captured)
