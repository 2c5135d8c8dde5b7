"""What a baseline is, and what it returns.

Baselines speak the paper's language: M (m x n) ~ A (m x k) W (k x n), or A S W for three factors.
A caller's X has one sample per row, so M = X.T: the rows of W that a method keeps apart are sets
of samples.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from inspect import signature
from typing import Any, Literal

import numpy as np

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
        return {each.name: each.default for each in parameters if each.default is not each.empty}

    @property
    def stops_itself(self) -> bool:
        """Whether ``tol`` goes to the method; the loop then looks at no change of the factors."""
        return "tol" in signature(self.iterates).parameters


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
    >>> result = solve("nmf", np.eye(4), 2, random_state=0, max_iter=10)
    >>> int((result.hardened.W > 0).sum(axis=0).max())  # one entry in every column
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
    >>> result = solve("em-onmf", np.kron(np.eye(2), np.ones((3, 2))), 2, random_state=0)
    >>> result.stop_reason
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


def relative_change(old: Array, new: Array) -> float:
    """|new - old|_F / |old|_F for two arrays of one shape; where ``old`` is zero, |new|_F."""
    return float(np.linalg.norm(new - old) / (np.linalg.norm(old) or 1.0))
