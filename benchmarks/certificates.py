"""What certificates prove on one matrix, in what time and memory.

The answer of ``n_init=10`` with ``random_state=0``, and how many times the smallest possible
squared error it is at most; seconds of the fit and of each certificate.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import product

from benchmarks.data import OF_THE_PAPER, SETTINGS, TINY, Data, real
from benchmarks.memory import system_bytes
from benchmarks.rows import Row, guard, measure
from orthonmf import FewerComponentsWarning, factorize


def certificates(tiny: bool) -> Iterator[Row]:
    """The sets of the paper in every setting."""
    matrices = [TINY] if tiny else [real(name) for name in OF_THE_PAPER]
    for data, setting in product(matrices, SETTINGS[: 1 if tiny else 3]):
        case = f"{data.title} {setting}"
        yield guard(case, measure, time_certificates, data, setting, 1 if tiny else 10)


def time_certificates(data: Data, orthogonal: str, n_init: int) -> Row:
    """One long fit, and every certificate of it."""
    X, k = data.make(), data.n_components
    options = {"orthogonal": orthogonal, "n_init": n_init, "certificate": None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerComponentsWarning)
        result = factorize(X, k, random_state=0, **options)
    row: Row = {"error": result.relative_squared_error, "seconds": result.seconds}
    for method in ("svd", "tight"):
        certificate = result.certify(X, method)
        row |= {f"{method}_ratio": certificate.ratio, f"{method}_seconds": certificate.seconds}
    return row | {"peak_mb": system_bytes("VmHWM") / 1e6}
