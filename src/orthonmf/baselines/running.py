"""The loop that every baseline runs in: its clock, its history, and when it ends."""

from time import perf_counter

import numpy as np

from orthonmf.baselines.interface import History, Iterate, Matrix, Steps, relative_change
from orthonmf.measures import non_orthogonality, reconstruction_error


def run(
    steps: Steps,
    M: Matrix,
    *,
    max_iter: int,
    tol: float | None,
    period: int,
    time_limit: float | None,
    record_every: int,
) -> tuple[Iterate, History, str]:
    """The last iterate, the history, which ends with it, and why the run ended.

    The method may end by itself. Otherwise the run ends when no factor changes by more than a
    share ``tol`` in one of every ``period`` iterations, or at a limit; with None no change is
    looked at. The clock runs only inside of the method.
    """
    rows: list[tuple[float, ...]] = []
    seconds, done, reason = 0.0, -1, "max_iter"
    current: Iterate | None = None
    while done < max_iter:
        started = perf_counter()
        try:
            following = next(steps)
        except StopIteration as end:
            reason = end.value or "finished"
            break
        finally:
            seconds += perf_counter() - started
        previous, current, done = current, following, done + 1
        if done % record_every == 0:
            rows.append((done, seconds, *_measure(M, current)))
        if previous is None:  # the start
            continue
        if time_limit is not None and seconds >= time_limit:
            reason = "time_limit"
            break
        if tol is not None and done % period == 0 and _change(previous, current) <= tol:
            reason = "converged"
            break
    assert current is not None
    if rows[-1][0] != done:
        rows.append((done, seconds, *_measure(M, current)))
    rows[-1] = (done, seconds, *rows[-1][2:])
    iterations, *figures = np.array(rows, dtype=np.float64).T
    return current, History(iterations.astype(np.int64), *figures), reason


def _measure(M: Matrix, iterate: Iterate) -> tuple[float, float, float]:
    """The error, and how far the rows of W and the columns of A are from orthogonal."""
    error = reconstruction_error(M, iterate.left, iterate.W)
    return error, non_orthogonality(iterate.W), non_orthogonality(iterate.A.T)


def _change(previous: Iterate, current: Iterate) -> float:
    """The largest relative change of a factor in one iteration."""
    pairs = [(previous.A, current.A), (previous.W, current.W), (previous.S, current.S)]
    return max(
        relative_change(old, new) for old, new in pairs if old is not None and new is not None
    )
