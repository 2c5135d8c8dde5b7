"""What certificates prove on one matrix, in what time and memory."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from orthonmf.bench.data import Data
from orthonmf.bench.measuring import measure
from orthonmf.bench.rows import Row
from orthonmf.bench.system_memory import system_bytes
from orthonmf.bench.tasks import SettingTask, Step
from orthonmf.errors import FewerComponentsWarning
from orthonmf.fitting import factorize

METHODS = ("svd", "tight")


def time_certificates(data: Data, orthogonal: str, n_init: int) -> dict[str, Any]:
    """One long fit, and every certificate of it."""
    X, k = data.make(), data.n_components
    asked: dict[str, Any] = {"orthogonal": orthogonal, "n_init": n_init, "certificate": None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerComponentsWarning)
        result = factorize(X, k, random_state=0, **asked)
    found: dict[str, Any] = {
        "seconds": result.seconds,
        "error": result.relative_squared_error,
        "n_components_found": result.n_components_found,
    }
    for method in METHODS:
        proven = result.certify(X, method)
        found[f"{method}_ratio"] = proven.ratio
        found[f"{method}_seconds"] = proven.seconds
        found[f"{method}_method"] = proven.method
    try:
        found["peak_bytes"] = system_bytes("VmHWM")
    except OSError:  # not every system tells
        found["peak_bytes"] = None
    return found


@dataclass(frozen=True, slots=True)
class CertificatesTask(SettingTask):
    """The ratios that follow for the answer of a long fit."""

    n_init: int = 10
    benchmark: str = "certificates"

    def rows(self, step: Step) -> Iterator[Row]:
        """One row of ratios."""
        step(f"n_init={self.n_init}, {' and '.join(METHODS)}")
        asked = {"orthogonal": self.orthogonal, "n_init": self.n_init}
        found = measure("certificates", data=self.data, **asked)
        yield Row(self.benchmark, self.title, figures=found)
