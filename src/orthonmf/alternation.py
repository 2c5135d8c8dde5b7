"""The one loop of every descent: of k-means, of directions, of blocks and of a core."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from orthonmf.checkpoint import Step
from orthonmf.progress import announce


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """What one sweep by vectors has found."""

    captured: float  # energy that the vectors capture; for costs their negative
    vectors: Any  # the next ones, which capture no less: an array (k, m), or several by name
    next_gain: float = math.inf  # what the next update gains at the least; infinite if not known
    sweep: Any = None
    # Moves next vectors that no point went to, in place, and tells whether any was moved.
    reuse_idle: Callable[[], bool] = lambda: False


@dataclass(frozen=True, slots=True)
class Alternated:
    """Where an alternation has ended."""

    last: Update
    history: tuple[float, ...]  # captured energy after every sweep, never falling
    converged: bool  # whether it ended by itself, not by the limit on sweeps


def alternate(
    update: Callable[[Any], Update],
    vectors: Any,
    *,
    total: float,
    max_iter: int,
    tol: float,
    step: Step,
    name: str = "sweep",
) -> Alternated:
    """Update vectors until a sweep gains less than ``tol`` of what is not captured.

    It ends too when the next gain is sure to be that small, or after ``max_iter`` sweeps. Moving a
    vector that no point went to keeps it going.

    Every update is the best of one side given the other, so a gain below zero is rounding: then
    the vectors are as good as this arithmetic can tell. ``step`` may know how far an earlier
    attempt came. ``total`` is the energy of all points, 0 for costs; sweeps are announced by
    ``name``.
    """
    history = list(step.history)
    vectors = vectors_of(step, vectors) if step.begun else vectors
    while True:
        updated = update(vectors)
        captured = updated.captured
        gained = captured - history[-1] if history else math.inf
        history.append(max(captured, history[-1]) if history else captured)
        announce(name, max(0.0, 1.0 - captured / total) if total > 0 else None)
        last = len(history) >= max_iter
        moved = not last and gained >= 0 and updated.reuse_idle()
        # What is captured may exceed the total by rounding.
        enough = tol * max(total - captured, 0.0)
        converged = not moved and min(gained, updated.next_gain) <= enough
        if converged or last:
            return Alternated(updated, tuple(history), converged)
        vectors = updated.vectors
        step.keep(tuple(history), **by_name(vectors))


def by_name(vectors: Any) -> dict[str, Any]:
    """Vectors as a step keeps them."""
    return vectors if isinstance(vectors, dict) else {"vectors": vectors}


def vectors_of(step: Step, like: Any) -> Any:
    """The vectors that a step has kept: several by name if others are ``like`` that."""
    if isinstance(like, dict):
        return {name: step.arrays[name] for name in like}
    return step.arrays["vectors"]


def errors_of(captured: tuple[float, ...], total: float) -> tuple[float, ...]:
    """Relative squared errors from captured energies; these may exceed the total by rounding."""
    return tuple(max(0.0, 1.0 - energy / total) for energy in captured)
