"""The one loop of every descent, who hears of it, and what it keeps.

A step of a fit is announced where it happens and heard by whoever listens: without a listener
that costs one lookup. Listeners belong to the calling thread (or task), so two fits in two threads
do not hear each other. What a step has found is kept by a checkpoint; the one here keeps nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from orthonmf.numerics.arrays import Array

Listener = Callable[[str, float | None], None]

_listener: ContextVar[Listener | None] = ContextVar("orthonmf_progress", default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """What one sweep by k vectors has found."""

    captured: float  # energy that the vectors capture; for costs their negative
    vectors: Array  # (k, m) the next ones, which capture no less
    next_gain: float = math.inf  # what the next update gains at the least; infinite if not known
    unchanged: bool = False  # whether the assignment is that of the sweep before


UpdateT = TypeVar("UpdateT", bound=Update)


class Method(Protocol[UpdateT]):
    """How vectors are swept and updated."""

    name: str  # of a sweep, as it is announced
    total: float  # energy of all points; 0 for costs

    def update(self, vectors: Array) -> UpdateT:
        """Assign all points to vectors (k, m) and find the next ones."""

    def reuse_idle(self, swept: Array, update: UpdateT) -> bool:
        """Move next vectors that no point went to, in place; whether any was moved."""

    def mark(self, update: UpdateT) -> str:
        """What a checkpoint keeps to tell whether the next update changes anything."""


@dataclass(frozen=True, slots=True)
class Alternated(Generic[UpdateT]):
    """Where an alternation has ended."""

    last: UpdateT
    history: tuple[float, ...]  # captured energy after every sweep, never falling
    converged: bool  # whether it ended by itself, not by the limit on sweeps


def alternate(
    method: Method[UpdateT], vectors: Array, *, max_iter: int, tol: float, step: Step
) -> Alternated[UpdateT]:
    """Update vectors (k, m) until a sweep gains less than ``tol`` of what is not captured.

    It ends too when no label changes, when the next gain is sure to be that small, or after
    ``max_iter`` sweeps. Moving a vector that no point went to keeps it going.

    Every update is the best of one side given the other, so a gain below zero is rounding: then
    the vectors are as good as this arithmetic can tell. ``step`` may know how far an earlier
    attempt came.
    """
    history = list(step.history)
    vectors = step.arrays["vectors"] if step.begun else vectors
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
        converged = not moved and (update.unchanged or min(gained, update.next_gain) <= enough)
        if converged or last:
            return Alternated(update, tuple(history), converged)
        vectors = update.vectors
        step.keep(tuple(history), method.mark(update), vectors=vectors)


def errors_of(captured: tuple[float, ...], total: float) -> tuple[float, ...]:
    """Relative squared errors from captured energies; these may exceed the total by rounding."""
    return tuple(max(0.0, 1.0 - one / total) for one in captured)


@dataclass
class Step:
    """One step of a fit: what it has found so far, and whether it is finished."""

    _owner: Checkpoint
    finished: bool = False
    history: tuple[float, ...] = ()
    arrays: dict[str, Array] = field(default_factory=dict)
    text: str = ""  # what it needs to know later: a name, a digest of labels, a reason
    generator: Any = None  # the state of the random numbers when the step was finished

    @property
    def lasting(self) -> bool:
        """Whether what is noted outlives the fit."""
        return self._owner.lasting

    @property
    def begun(self) -> bool:
        """Whether there is anything to go on from."""
        return bool(self.arrays)

    def keep(self, history: tuple[float, ...], text: str = "", **arrays: Array) -> None:
        """Note where the step stands."""
        self.history, self.text, self.arrays = history, text, arrays
        self._owner.save()

    def finish(self, history: tuple[float, ...] = (), text: str = "", **arrays: Array) -> None:
        """Note the outcome of the step."""
        self.finished = True
        self.generator = self._owner.generator_state()
        self.keep(history, text, **arrays)


class Checkpoint:
    """The steps of a fit in order. This one keeps nothing; a ``FileCheckpoint`` does."""

    lasting = False

    def next_step(self) -> Step:
        """The step that comes next, as far as it is known."""
        return Step(self)

    def generator_state(self) -> Any:
        """The state of the fit's random numbers."""
        return None

    def save(self) -> None:
        """Write down all steps."""


def announce(step: str, error: float | None = None) -> None:
    """Say that a step is done, and the relative squared error it left where that is known."""
    listener = _listener.get()
    if listener is not None:
        listener(step, error)


@contextmanager
def listening(listener: Listener | None) -> Iterator[None]:
    """Pass what is announced inside to ``listener``, and to whoever listened before."""
    if listener is None:
        yield
        return
    outer = _listener.get()

    def both(step: str, error: float | None) -> None:
        listener(step, error)
        if outer is not None:
            outer(step, error)

    token = _listener.set(both)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def silence() -> Iterator[None]:
    """Let nobody hear what is announced inside: steps of a part, whose errors are not the fit's."""
    token = _listener.set(None)
    try:
        yield
    finally:
        _listener.reset(token)
