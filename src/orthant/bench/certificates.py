"""What certificates prove on one matrix, in what time and memory."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from orthant.bench.data import Data
from orthant.bench.measuring import measure
from orthant.bench.rows import Row
from orthant.bench.system_memory import system_bytes
from orthant.bench.tasks import Step, Task
from orthant.errors import FewerComponentsWarning
from orthant.fitting import factorize

METHODS = ("svd", "tight")


def time_certificates(data: Data, orthogonal: str, n_init: int) -> dict[str, Any]:
    """One long fit, and every certificate of it; runs in the process that measures."""
    X = data.make()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerComponentsWarning)
        result = factorize(
            X,
            data.n_components,
            orthogonal=orthogonal,
            n_init=n_init,
            random_state=0,
            certificate=None,
        )
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
class CertificatesTask(Task):
    """One matrix in one setting: the ratios that follow for the answer of a long fit."""

    data: Data
    orthogonal: str
    n_init: int = 10
    benchmark: str = "certificates"

    @property
    def title(self) -> str:
        """The matrix and the setting."""
        return f"{self.data.title} {self.orthogonal}"

    def rows(self, step: Step) -> Iterator[Row]:
        """One row of ratios."""
        step(f"n_init={self.n_init}, {' and '.join(METHODS)}")
        found = measure(
            "certificates", data=self.data, orthogonal=self.orthogonal, n_init=self.n_init
        )
        yield Row(self.benchmark, self.title, figures=found)
