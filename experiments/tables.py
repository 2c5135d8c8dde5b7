"""Results as frames: the runs that count, and what they amount to over the seeds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from experiments.journal import Journal
from experiments.measuring import COLUMNS, KEY, NOT_MEASURED
from experiments.paper import BEST, OF_TEN, ONMF_APX, OURS, experiments
from orthonmf.baselines import BASELINES

SETTING = [name for name in KEY if name not in ("seed", "time_limit")]
MEASURES = [name for name in COLUMNS[len(KEY) :] if name not in ("stop_reason", "serial")]
ERRORS = ("relative_squared_error", "reconstruction_error")
STATISTICS = {"median": "median", "minimum": "min", "maximum": "max", "count": "count"}
LABELS = {ONMF_APX: "ONMF-apx", OF_TEN: "ONMF-apx, best of 10", BEST: "orthonmf (best)"}
EXPERIMENTS = experiments()


def label(method: str) -> str:
    """The name of a method for people."""
    return LABELS.get(method) or (BASELINES[method].label if method in BASELINES else method)


def read_results(path: Path) -> pd.DataFrame:
    """All runs, one per setting, method and seed, in the order of the paper.

    Where a run was made under several time limits, the one with the longest counts. Besides the
    columns of the file there are ``level``, the place on the horizontal axis of the experiment
    (noise or components), ``either_non_orthogonality``, the larger one of both factors,
    ``missing`` (only says why it was not measured), ``cut`` (ended by the limit) and ``failed``.
    """
    rows = list(Journal(path, COLUMNS, len(KEY)).rows.values())
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    numbers = [*MEASURES, "noise", "n_components", "time_limit", "seed"]
    frame[numbers] = frame[numbers].apply(pd.to_numeric).astype(float)
    frame[MEASURES] = frame[MEASURES].where(np.isfinite(frame[MEASURES]))
    if unknown := set(frame["experiment"]) - set(EXPERIMENTS):
        raise ValueError(f"{path}: no experiment is called {sorted(unknown)[0]!r}")
    by_components = frame["experiment"] == "inner-dimensions"
    frame["level"] = frame["n_components"].where(by_components, frame["noise"].fillna(0.0))
    both = frame[["non_orthogonality", "column_non_orthogonality"]]
    frame["either_non_orthogonality"] = both.max(axis=1, skipna=False)
    frame["missing"] = frame["stop_reason"].str.startswith(NOT_MEASURED)
    frame["cut"] = frame["stop_reason"] == "time_limit"
    frame["failed"] = frame[list(ERRORS)].isna().all(axis=1) & ~frame["missing"]
    frame = frame.sort_values("time_limit", kind="stable")
    frame = frame.drop_duplicates([*SETTING, "seed"], keep="last")
    # Ours first, then as the registry has them, then others.
    known = [*OURS, *BASELINES]
    methods = [*known, *sorted(set(frame["method"]) - set(known))]
    frame["method"] = pd.Categorical(frame["method"], methods, ordered=True)
    frame["experiment"] = pd.Categorical(frame["experiment"], list(EXPERIMENTS), ordered=True)
    return frame.sort_values(["experiment", "dataset", "orthogonal", "level", "method", "seed"])


def methods_of(runs: pd.DataFrame) -> list[str]:
    """The methods of some runs, in order."""
    return list(runs["method"].sort_values().unique())


def summary(results: pd.DataFrame) -> pd.DataFrame:
    """One line per setting and method: how many runs, cut, failed, and every measure's spread."""
    groups = results[~results["missing"]].groupby(SETTING, observed=True, dropna=False, sort=False)
    counts = groups.agg(runs=("seed", "size"), cut=("cut", "sum"), failed=("failed", "sum"))
    spreads = {
        f"{measure}_{name}": groups[measure].agg(statistic)
        for measure in MEASURES
        for name, statistic in STATISTICS.items()
    }
    return counts.assign(**spreads).reset_index()


def markdown(frame: pd.DataFrame) -> str:
    """A frame as a table of Markdown; every cell as it is written."""
    lines = [list(frame.columns), ["---"] * len(frame.columns), *frame.to_numpy().tolist()]
    return "\n".join(f"| {' | '.join(str(cell) for cell in line)} |" for line in lines)
