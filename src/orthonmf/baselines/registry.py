"""All baselines by name, and the one function that runs them."""

import re
from dataclasses import replace
from inspect import signature
from typing import Any, get_args

import numpy as np

from orthonmf.baselines.harden import harden as harden_factors
from orthonmf.baselines.interface import (
    Baseline,
    BaselineResult,
    Hardened,
    History,
    Iterate,
    Matrix,
    Orthogonal,
    run,
)
from orthonmf.baselines.methods.ding_double import ONMF_DING_DOUBLE, ONMF_DING_DOUBLE_NOISY
from orthonmf.baselines.methods.em_onmf import EM_ONMF, EM_ONMF_SEEDED
from orthonmf.baselines.methods.ep4orth import EP4ORTH
from orthonmf.baselines.methods.hals import HALS
from orthonmf.baselines.methods.nhl import NHL
from orthonmf.baselines.methods.nmf import NMF
from orthonmf.baselines.methods.nrcg_onmf import NRCG_ONMF
from orthonmf.baselines.methods.onfs_ding import ONFS_DING
from orthonmf.baselines.methods.onmf_a import ONMF_A
from orthonmf.baselines.methods.onmfs import ONMFS
from orthonmf.baselines.methods.onp_mf import ONP_MF
from orthonmf.baselines.methods.pnmf import PNMF
from orthonmf.baselines.methods.sncp import SNCP
from orthonmf.errors import InvalidInputError, InvalidTypeError, ScaleOverflowError
from orthonmf.inputs.data import as_matrix
from orthonmf.inputs.parameters import as_generator, as_n_components, name_nearest
from orthonmf.measures import relative_squared_error
from orthonmf.numerics.arrays import Array

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
        NRCG_ONMF,
        SNCP,
        EP4ORTH,
        ONP_MF,
    )
}


# What experiments call other methods than baselines.
RESERVED = ("onmf-apx", "onmf-apx-10", "best", "orthonmf")


def register(baseline: Baseline) -> Baseline:
    """Add a method of your own: `solve` and the commands reproduce and bench know it then.

    Its name is of small letters, digits and dashes, and new; its ``iterates`` takes
    ``(M, k, *, rng)`` and yields an `Iterate` for the start and after every iteration.

    Raises
    ------
    InvalidInputError, InvalidTypeError
        For a name that is taken, and for what cannot be called like that.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from orthonmf import baselines
    >>> mine = replace(baselines.BASELINES["nmf"], name="my-nmf", label="My NMF")
    >>> baselines.register(mine) is baselines.BASELINES["my-nmf"]
    True
    >>> baselines.BASELINES.pop("my-nmf") is mine  # and it is gone again
    True
    """
    if not isinstance(baseline, Baseline):
        raise InvalidTypeError(f"pass a Baseline, not a {type(baseline).__name__}")
    name = baseline.name
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
        raise InvalidInputError(f"{name!r} is no name: use small letters, digits and dashes")
    if name in RESERVED or BASELINES.get(name, baseline) is not baseline:
        raise InvalidInputError(f"a method called {name!r} is there already; choose another name")
    if baseline.orthogonal not in get_args(Orthogonal):
        raise InvalidInputError(
            f"orthogonal is {baseline.orthogonal!r}; it must be one of {get_args(Orthogonal)}"
        )
    try:
        signature(baseline.iterates).bind(None, 1, rng=None)
    except TypeError as error:
        raise InvalidTypeError(f"iterates of {name} takes no (M, k, rng=rng): {error}") from error
    BASELINES[name] = baseline
    return baseline


def solve(
    name: str,
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
    """Run the baseline of this name on X (n samples x m features, dense or sparse).

    The result is in the paper's orientation, M ~ A W with M = X.T: A is m x k, W is k x n.
    ``max_iter`` and ``tol`` default to what suits the method; ``time_limit`` is in seconds of the
    method itself and looked at after every iteration. The history is kept every ``record_every``
    iterations. ``options`` are the method's own, listed in ``BASELINES[name].options``. The
    result for 2^j X is that for X with A (or S) times 2^j, bit by bit.

    Examples
    --------
    >>> import orthonmf
    >>> X = orthonmf.datasets.make_planted(40, 12, 3, noise=0.1, random_state=0).X
    >>> found = orthonmf.baselines.solve("onmf-a", X, 3, random_state=0, max_iter=50)
    >>> found.A.shape, found.W.shape
    ((12, 3), (3, 40))
    >>> orthonmf.measures.non_orthogonality(found.hardened.W)
    0.0
    """
    baseline = _baseline(name, options)
    M, exponent = _scale(X)
    k = as_n_components(k, "k")
    iterations = baseline.max_iter if max_iter is None else int(max_iter)
    rng = as_generator(random_state)
    if exponent is None:
        return _zero_result(name, M.shape, k)
    outcome = run(
        baseline,
        M,
        k,
        rng=rng,
        max_iter=iterations,
        tol=baseline.tol if tol is None else float(tol),
        time_limit=time_limit,
        record_every=as_n_components(record_every or baseline.period, "record_every"),
        options=options,
    )
    last, history = outcome.last, outcome.history
    hardened = harden_factors(M, last, baseline.orthogonal) if harden else None
    return BaselineResult(
        name=name,
        A=last.A if last.S is not None else _scale_back(last.A, exponent),
        W=last.W,
        S=None if last.S is None else _scale_back(last.S, exponent),
        error=float(np.ldexp(history.error[-1], exponent)),
        relative_squared_error=relative_squared_error(M, last.left, last.W),
        history=replace(history, error=np.ldexp(history.error, exponent)),
        iterations=int(history.iterations[-1]),
        seconds=float(history.seconds[-1]),
        stop_reason=outcome.stop_reason,
        hardened=None if hardened is None else _scale_hardened_back(hardened, exponent),
    )


def _baseline(name: str, options: dict[str, Any]) -> Baseline:
    if name not in BASELINES:
        meant = name_nearest(name, BASELINES)
        raise InvalidInputError(
            f"No baseline is called {name!r}; there are {sorted(BASELINES)}{meant}"
        )
    unknown = set(options) - set(BASELINES[name].options)
    if unknown:
        known = sorted(BASELINES[name].options) or "none"
        raise InvalidTypeError(f"{name} has no option {sorted(unknown)}; its options are {known}.")
    return BASELINES[name]


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


def _scale_hardened_back(hardened: Hardened, exponent: int) -> Hardened:
    # A holds directions; the scale of the data goes into W there.
    return replace(
        hardened,
        W=_scale_back(hardened.W, exponent),
        error=float(np.ldexp(hardened.error, exponent)),
    )


def _zero_result(name: str, shape: tuple[int, int], k: int) -> BaselineResult:
    factors = Iterate(np.zeros((shape[0], k)), np.zeros((k, shape[1])))
    history = History(np.zeros(1, dtype=np.int64), *np.zeros((4, 1)))
    hardened = Hardened(factors.A, factors.W, 0.0, 0.0, 0)
    return BaselineResult(
        name, factors.A, factors.W, None, 0.0, 0.0, history, 0, 0.0, "zero matrix", hardened
    )
