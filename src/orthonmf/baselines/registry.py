"""All baselines by name, and the one function that runs them, with its loop and its clock."""

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from orthonmf.baselines.harden import harden as harden_factors
from orthonmf.baselines.interface import (
    Baseline,
    BaselineResult,
    History,
    Iterate,
    Matrix,
    Steps,
    relative_change,
)
from orthonmf.baselines.methods.ding_double import ONMF_DING_DOUBLE, ONMF_DING_DOUBLE_NOISY
from orthonmf.baselines.methods.em_onmf import EM_ONMF, EM_ONMF_SEEDED
from orthonmf.baselines.methods.ep4orth import EP4ORTH
from orthonmf.baselines.methods.hals import HALS
from orthonmf.baselines.methods.multiplicative import NHL, NMF, ONFS_DING, ONMF_A, PNMF
from orthonmf.baselines.methods.onmfs import ONMFS
from orthonmf.baselines.methods.onp_mf import ONP_MF
from orthonmf.baselines.methods.sncp import SNCP
from orthonmf.errors import InvalidInputError, InvalidTypeError, ScaleOverflowError
from orthonmf.inputs.data import as_matrix
from orthonmf.inputs.parameters import as_count, as_generator, name_nearest
from orthonmf.measures import non_orthogonality, reconstruction_error, relative_squared_error
from orthonmf.typing import Array

BASELINES: dict[str, Baseline] = {
    baseline.name: baseline
    for baseline in (
        NMF,
        PNMF,
        ONFS_DING,
        NHL,
        ONMF_A,
        HALS,
        EM_ONMF,
        EM_ONMF_SEEDED,
        ONMFS,
        ONMF_DING_DOUBLE,
        ONMF_DING_DOUBLE_NOISY,
        SNCP,
        EP4ORTH,
        ONP_MF,
    )
}


def solve(
    method: str | Baseline | Callable[..., Steps],
    X: Any,
    k: int,
    *,
    random_state: Any = None,
    max_iter: int | None = None,
    tol: float | None = None,
    time_limit: float | None = None,
    harden: bool = True,
    record_every: int | None = None,
    **options: Any,
) -> BaselineResult:
    """Run an earlier method on X (n samples x m features, dense or sparse).

    ``method`` is a name of ``BASELINES``, a `Baseline`, or a function of your own that is called
    as ``iterates(M, k, rng=...)`` and yields an `Iterate` for its start and after every iteration.

    The result is in the paper's orientation, M ~ A W with M = X.T: A is m x k, W is k x n.
    ``max_iter`` and ``tol`` default to what suits the method; ``time_limit`` is in seconds of the
    method itself and looked at after every iteration. The history is kept every ``record_every``
    iterations. ``options`` are the method's own, listed in ``BASELINES[name].options``. The
    result for 2^j X is that for X with A (or S) times 2^j, bit by bit.

    Examples
    --------
    >>> import orthonmf
    >>> X = orthonmf.datasets.make_planted(40, 12, 3, noise=0.1, random_state=0).X
    >>> result = orthonmf.baselines.solve("onmf-a", X, 3, random_state=0, max_iter=50)
    >>> result.A.shape, result.W.shape
    ((12, 3), (3, 40))
    >>> orthonmf.measures.non_orthogonality(result.hardened.W)
    0.0
    """
    baseline = _baseline(method, options)
    M, exponent = _scale(X)
    k = as_count(k, "k")
    tol = baseline.tol if tol is None else float(tol)
    rng = as_generator(random_state)
    own = options | ({"tol": tol} if baseline.stops_itself else {})
    last, history, ended = _run(
        _zeros(M, k) if exponent is None else baseline.iterates(M, k, rng=rng, **own),
        M,
        max_iter=baseline.max_iter if max_iter is None else int(max_iter),
        tol=None if baseline.stops_itself else tol,
        period=baseline.period,
        time_limit=time_limit,
        record_every=as_count(record_every or baseline.period, "record_every"),
    )
    hardened = harden_factors(M, last, baseline.orthogonal) if harden else None
    exponent = exponent or 0
    return BaselineResult(
        name=baseline.name,
        A=last.A if last.S is not None else _scale_back(last.A, exponent),
        W=last.W,
        S=None if last.S is None else _scale_back(last.S, exponent),
        error=float(np.ldexp(history.error[-1], exponent)),
        relative_squared_error=relative_squared_error(M, last.left, last.W),
        history=replace(history, error=np.ldexp(history.error, exponent)),
        iterations=int(history.iterations[-1]),
        seconds=float(history.seconds[-1]),
        stop_reason=ended,
        # There A holds directions; the scale of the data goes into W.
        hardened=hardened
        and replace(
            hardened,
            W=_scale_back(hardened.W, exponent),
            error=float(np.ldexp(hardened.error, exponent)),
        ),
    )


def _run(
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


def _zeros(M: Matrix, k: int) -> Steps:
    """The only iterate for a zero matrix."""
    yield Iterate(np.zeros((M.shape[0], k)), np.zeros((k, M.shape[1])))
    return "zero matrix"


def _baseline(method: Any, options: dict[str, Any]) -> Baseline:
    """The baseline that is meant, once it is known to take these options."""
    if isinstance(method, str):
        if method not in BASELINES:
            meant = name_nearest(method, BASELINES)
            raise InvalidInputError(
                f"No baseline is called {method!r}; there are {sorted(BASELINES)}{meant}"
            )
        baseline = BASELINES[method]
    elif isinstance(method, Baseline):
        baseline = method
    elif callable(method):
        name = getattr(method, "__name__", "own")
        baseline = Baseline(name, name, (), method, max_iter=1000, tol=1e-5)
    else:
        raise InvalidTypeError(
            f"a method is a name, a Baseline or a function, not a {type(method).__name__}"
        )
    if unknown := sorted(set(options) - set(baseline.options)):
        own = sorted(baseline.options) or "none"
        raise InvalidTypeError(f"{baseline.name} has no option {unknown}; its options are {own}.")
    return baseline


def _scale(X: Any) -> tuple[Matrix, int | None]:
    """Return M = X.T times 2^-e, largest entry in [1/2, 1), and e; None for a zero matrix."""
    matrix = as_matrix(X)
    rows = matrix.whole()
    entries = rows if isinstance(rows, np.ndarray) else rows.data
    largest = float(entries.max(initial=0.0))
    if largest == 0:
        return rows.T, None
    exponent = int(np.frexp(largest)[1])
    np.ldexp(entries, -exponent, out=entries)
    return rows.T, matrix.exponent + exponent


def _scale_back(factor: Array, exponent: int) -> Array:
    with np.errstate(over="ignore"):
        scaled = np.ldexp(factor, exponent)
    if not np.isfinite(scaled).all():
        row = int(np.flatnonzero(~np.isfinite(scaled).all(axis=1))[0])
        raise ScaleOverflowError(f"Row {row} of a factor is too large for float64; scale X down.")
    return scaled
