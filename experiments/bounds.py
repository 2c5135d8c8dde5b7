"""What is proven on the real sets: no solution over a side has a smaller error than its bound."""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal
from pathlib import Path

import pandas as pd
from threadpoolctl import threadpool_limits

import orthonmf
from experiments.journal import Journal
from experiments.paper import N_COMPONENTS_REAL, PUBLISHED, SIDES
from experiments.uci import load_uci

BOUNDS = "bounds.csv"
COLUMNS = ("dataset", "orthogonal", "error", "lower_bound", "seconds", "method")
THOUSANDTH = Decimal("0.001")


def prove(folder: Path, seconds: float, data_home: Path | None = None) -> None:
    """Write the tight bound of every real set and side that has no row yet; one core each."""
    proven = Journal(folder / BOUNDS, COLUMNS, 2)
    for name in PUBLISHED:
        if waiting := [side for side in SIDES if (name, side) not in proven.rows]:
            try:
                X = load_uci(name, data_home)
            except Exception:  # whatever keeps a set away; the page says so from the runs
                continue
            for side in waiting:
                options = {"orthogonal": side, "certificate": None, "random_state": 0, "n_jobs": 1}
                with threadpool_limits(1, user_api="blas"):
                    result = orthonmf.factorize(X, N_COMPONENTS_REAL, **options)
                    proof = result.certify(X, "tight", seconds=seconds, n_jobs=1)
                row = {"dataset": name, "orthogonal": side, "error": proof.upper_bound}
                proven.add(row | {name: getattr(proof, name) for name in COLUMNS[3:]})


def table_of_bounds(folder: Path, medians: dict[tuple[str, str], float]) -> pd.DataFrame:
    """By set and side: the bound, and how many times it our errors and the published ones are.

    ``medians`` are those of single starts of the paper's algorithm.
    """
    rows = []
    for (name, side), row in Journal(folder / BOUNDS, COLUMNS, 2).rows.items():
        known, bound = PUBLISHED[name], row["lower_bound"]
        errors = {
            "orthonmf (best)": row["error"], "ONMF-apx, median": medians.get((name, side)),
            "Paper": known.published, "Asteris et al.": known.asteris,
        }  # fmt: skip
        line = {"Set": known.label, "Orthogonal over": side, "No error is below": f"{bound:.5f}"}
        line |= {whose: times(error, bound) for whose, error in errors.items()}
        rows.append(line | {"Seconds": f"{row['seconds']:.0f}"})
    return pd.DataFrame(rows)


def times(error: float | None, bound: float) -> str:
    """An error and how many times the bound it is, rounded up; or that it cannot be."""
    if error is None:
        return "-"
    if not bound:
        return f"{error:.4f}"
    ratio = Decimal(error) / Decimal(bound)
    if ratio < 1:
        return f"{error:.4f}, below the bound"
    return f"{error:.4f}, {ratio.quantize(THOUSANDTH, ROUND_CEILING)}"
