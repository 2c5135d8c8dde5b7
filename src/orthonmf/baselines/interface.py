"""What a baseline is, what it returns, and the loop, the clock and the stopping they share.

Baselines speak the paper's language: M (m x n) ~ A (m x k) W (k x n), or A S W for three factors.
A caller's X has one sample per row, so M = X.T: the rows of W that a method keeps apart are sets
of samples.
"""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from inspect import signature
from time import perf_counter
from typing import Any, Literal

import numpy as np

from orthonmf.measures import non_orthogonality, reconstruction_error
from orthonmf.typing import Array

Matrix = Any  # M: an ndarray or a SciPy sparse array; both answer A.T @ M and M @ W.T
Orthogonal = Literal["none", "samples", "both"]


@dataclass(frozen=True, slots=True)
class Iterate:
    """The factors after one iteration: M ~ A W, or M ~ A S W.

    Examples
    --------
    >>> import numpy as np
    >>> from orthonmf.baselines import Iterate
    >>> Iterate(A=np.ones((3, 1)), W=np.ones((1, 2)), S=2 * np.eye(1)).left.ravel()
    array([2., 2., 2.])
    """

    A: Array
    W: Array
    S: Array | None = None

    @property
    def left(self) -> Array:
        """The m x k matrix that multiplies W: A, or A S."""
        return self.A if self.S is None else self.A @ self.S


# A method yields its start and then one Iterate per iteration. It may end by itself and then
# returns the reason in words; arrays that it has yielded it never changes.
Steps = Generator[Iterate, None, str]


@dataclass(frozen=True, slots=True)
class Baseline:
    """One earlier method: where it comes from, and how it makes its iterates.

    Examples
    --------
    >>> from orthonmf.baselines import BASELINES
    >>> BASELINES["em-onmf"].options
    {'init': 'random'}
    """

    name: str
    label: str
    sources: tuple[str, ...]
    iterates: Callable[..., Steps]  # (M, k, rng=..., **options), and tol if the method stops itself
    max_iter: int
    tol: float
    orthogonal: Orthogonal = "samples"  # which factors the method wants orthogonal
    exact: bool = False  # whether the factors it returns are exactly so
    period: int = 1  # the change of the factors is looked at, and history kept, this often
    our_reading: str | None = None  # what we had to fill in where we did not have the publication

    @property
    def options(self) -> dict[str, Any]:
        """The method's own options by name, with their defaults."""
        parameters = signature(self.iterates).parameters.values()
        return {one.name: one.default for one in parameters if one.default is not one.empty}

    @property
    def stops_itself(self) -> bool:
        """Whether ``tol`` goes to the method; the loop then looks at no change of the factors."""
        return "tol" in signature(self.iterates).parameters

    def start(
        self,
        M: Matrix,
        k: int,
        *,
        rng: np.random.Generator,
        tol: float | None = None,
        **options: Any,
    ) -> Steps:
        """The iterates for M (m x n), not begun yet."""
        if self.stops_itself:
            options["tol"] = self.tol if tol is None else tol
        return self.iterates(M, k, rng=rng, **options)


@dataclass(frozen=True, slots=True)
class History:
    """The state of a run at its start, at every check and at its end; all arrays are as long.

    Examples
    --------
    >>> import numpy as np
    >>> from orthonmf.baselines import solve
    >>> history = solve("nmf", np.eye(4), 2, random_state=0, max_iter=10, record_every=5).history
    >>> history.iterations, len(history.error)
    (array([ 0,  5, 10]), 3)
    """

    iterations: Array
    seconds: Array  # spent by the method alone; measuring these very figures is not counted
    error: Array  # |M - A W|_F
    non_orthogonality: Array  # of the rows of W
    column_non_orthogonality: Array  # of the columns of A


@dataclass(frozen=True, slots=True)
class Hardened:
    """Exactly orthogonal factors made from those of a method, refitted to the data.

    Examples
    --------
    >>> import numpy as np
    >>> from orthonmf.baselines import solve
    >>> found = solve("nmf", np.eye(4), 2, random_state=0, max_iter=10)
    >>> int((found.hardened.W > 0).sum(axis=0).max())  # one entry in every column
    1
    """

    A: Array
    W: Array
    error: float
    relative_squared_error: float
    sweeps: int


@dataclass(frozen=True, slots=True)
class BaselineResult:
    """What a baseline found: M ~ A W (or A S W) with M = X.T, and how it got there.

    Examples
    --------
    >>> import numpy as np
    >>> from orthonmf.baselines import solve
    >>> found = solve("em-onmf", np.kron(np.eye(2), np.ones((3, 2))), 2, random_state=0)
    >>> found.stop_reason
    'no column changed its component'
    """

    name: str
    A: Array  # m x k
    W: Array  # k x n
    S: Array | None  # k x k, for three factors
    error: float  # |M - A W|_F of the factors as the method left them
    relative_squared_error: float
    history: History
    iterations: int
    seconds: float  # of the method alone
    stop_reason: str
    hardened: Hardened | None  # the same at exact orthogonality; None only when not asked for

    def __repr__(self) -> str:
        n, m, k = self.W.shape[1], self.A.shape[0], self.A.shape[1]
        lines = [
            f"BaselineResult({self.name!r}, {n} x {m}, components={k}, "
            f"relative_squared_error={self.relative_squared_error:.6g})",
            f"  {self.iterations} iterations, {self.seconds:.2f} s, ended by {self.stop_reason}",
        ]
        if self.hardened is not None:
            error = self.hardened.relative_squared_error
            lines.append(f"  at exact orthogonality: relative squared error {error:.6g}")
        return "\n".join(lines)

    @property
    def left(self) -> Array:
        """The m x k matrix that multiplies W: A, or A S."""
        return Iterate(self.A, self.W, self.S).left


@dataclass(frozen=True, slots=True)
class Run:
    """The last iterate of a run with its history, which ends with it."""

    last: Iterate
    history: History
    stop_reason: str


def repeat(
    update: Callable[..., tuple[Array, ...]],
    start: Callable[[Matrix, int, np.random.Generator], tuple[Array, ...]],
) -> Callable[..., Steps]:
    """The iterates of a method that is one update of (A, W) or (A, W, S), applied for ever."""

    def iterates(M: Matrix, k: int, *, rng: np.random.Generator) -> Steps:
        factors = start(M, k, rng)
        while True:
            yield Iterate(*factors)
            factors = update(M, *factors)

    return iterates


def run(
    baseline: Baseline,
    M: Matrix,
    k: int,
    *,
    rng: np.random.Generator,
    max_iter: int,
    tol: float,
    time_limit: float | None,
    record_every: int,
    options: Mapping[str, Any],
) -> Run:
    """Run a baseline until it stops, its factors stop changing, or a limit is reached."""
    work = _Work(M, baseline.start(M, k, rng=rng, tol=tol, **options))
    reason = "max_iter"
    current = work.advance()
    assert isinstance(current, Iterate)
    work.record(0, current)
    done = 0
    while done < max_iter:
        previous, outcome = current, work.advance()
        if not isinstance(outcome, Iterate):
            reason = outcome
            break
        current, done = outcome, done + 1
        if done % record_every == 0:
            work.record(done, current)
        if time_limit is not None and work.seconds >= time_limit:
            reason = "time_limit"
            break
        at_check = not baseline.stops_itself and done % baseline.period == 0
        if at_check and _change(previous, current) <= tol:
            reason = "converged"
            break
    work.record(done, current)
    return Run(current, work.history(), reason)


def _change(previous: Iterate, current: Iterate) -> float:
    """The largest relative change of a factor in one iteration."""
    pairs = [(previous.A, current.A), (previous.W, current.W), (previous.S, current.S)]
    return max(
        relative_change(old, new) for old, new in pairs if old is not None and new is not None
    )


def relative_change(old: Array, new: Array) -> float:
    """|new - old|_F / |old|_F for two arrays of one shape; where ``old`` is zero, |new|_F."""
    return float(np.linalg.norm(new - old) / (np.linalg.norm(old) or 1.0))


class _Work:
    """A method at work: its history, and the time that it takes, and only that."""

    def __init__(self, M: Matrix, steps: Steps) -> None:
        self.M, self.steps, self.seconds = M, steps, 0.0
        self.rows: list[tuple[float, ...]] = []

    def advance(self) -> Iterate | str:
        """Return the next iterate, or the reason why there is none."""
        start = perf_counter()
        try:
            return next(self.steps)
        except StopIteration as end:
            return end.value or "finished"
        finally:
            self.seconds += perf_counter() - start

    def record(self, iteration: int, iterate: Iterate) -> None:
        if self.rows and self.rows[-1][0] == iteration:
            self.rows[-1] = (iteration, self.seconds, *self.rows[-1][2:])
            return
        error = reconstruction_error(self.M, iterate.left, iterate.W)
        overlaps = non_orthogonality(iterate.W), non_orthogonality(iterate.A.T)
        self.rows.append((iteration, self.seconds, error, *overlaps))

    def history(self) -> History:
        iterations, *others = np.array(self.rows, dtype=np.float64).T
        return History(iterations.astype(np.int64), *others)
