"""How good the default call over both sides is on small tables of counts, against many starts.

Run as ``python -m benchmarks tables``. Tables are drawn: 10 to 60 rows and columns, in half of
them up to half as many groups as there are points, counts of seven kinds, most with heavy tails.
Gap: relative squared error of a default call over the best of the table, minus one; the best is
that of all calls in the folder, one with many starts among them, which is made once. CPU seconds
are those of one thread.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from benchmarks.rows import clock
from experiments.journal import Journal
from orthonmf import factorize

KINDS = (
    "even", "heavy tails", "groups", "mostly zeros", "lognormal", "negative binomial", "margins"
)  # fmt: skip
LARGEST = 30.0  # of the factors of rows and columns, whose tails are heavy
PATTERNS = ("core", "blocks")
GOALS = {"share within 1 %": 0.95, "largest gap": 0.03, "largest CPU seconds": 0.3}
KEY = ["pattern", "table", "starts", "seed"]
COLUMNS = [*KEY, "kind", "rows", "columns", "sizes", "error", "seconds"]


class Table(NamedTuple):
    """A table of counts (n, m), and how many groups of its rows and columns to ask for."""

    kind: str
    counts: np.ndarray
    sizes: tuple[int, int]


def make_table(number: int) -> Table:
    """The table of this number: the same one every time."""
    rng, kind = np.random.default_rng([31, number]), KINDS[number % len(KINDS)]
    n, m = (int(size) for size in rng.integers(10, 61, 2))
    counts = rng.poisson(_expected(kind, n, m, rng)).astype(float)
    counts[0, 0] += not counts.any()
    # Every second table is cut into many groups.
    fewest = (2, 2) if rng.random() < 0.5 else (max(2, n // 4), max(2, m // 4))
    k, l = (int(rng.integers(low, size // 2 + 1)) for low, size in zip(fewest, (n, m), strict=True))  # noqa: E741
    return Table(kind, counts, (k, l))


def _expected(kind: str, n: int, m: int, rng: np.random.Generator) -> np.ndarray:
    """The counts (n, m) that are to be expected in a table of some kind."""
    margins = np.outer(_heavy(n, rng), _heavy(m, rng))
    if kind == "even":
        return np.full((n, m), rng.uniform(0.5, 8.0))
    if kind == "heavy tails":
        return 3.0 * margins * rng.gamma(0.7, size=(n, m))
    if kind == "groups":
        g, h = (int(size) for size in rng.integers(2, 9, 2))
        core = 6.0 * rng.gamma(0.4, size=(g, h))
        between = core[rng.integers(g, size=n)][:, rng.integers(h, size=m)]
        return between * margins * rng.gamma(2.0, 0.5, size=(n, m))
    if kind == "mostly zeros":
        return 4.0 * np.exp(rng.normal(0.0, 1.5, (n, m))) * (rng.random((n, m)) < 0.3)
    if kind == "lognormal":
        sides = rng.normal(0.0, 0.7, (n, 1)) + rng.normal(0.0, 0.7, (1, m))
        return 2.0 * np.exp(rng.normal(0.0, 1.2, (n, m)) + sides)
    if kind == "negative binomial":
        return rng.uniform(1.0, 10.0) * rng.gamma(rng.uniform(0.3, 2.0), size=(n, m))
    return margins


def _heavy(size: int, rng: np.random.Generator) -> np.ndarray:
    """Factors (size,) with a heavy tail."""
    return np.minimum(rng.pareto(1.5, size) + 0.2, LARGEST)


def fit(pattern: str, table: Table, starts: int, seed: int) -> tuple[float, float]:
    """Relative squared error of one call, and its CPU seconds."""
    asked = table.sizes if pattern == "core" else min(table.sizes)
    options: dict[str, Any] = {} if starts == 1 else {"n_init": starts}

    def call() -> float:
        result = factorize(
            table.counts, asked, orthogonal="both", certificate=None, random_state=seed, n_jobs=1,
            **options,
        )  # fmt: skip
        return result.relative_squared_error

    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer blocks may be better
        return clock(call, time.thread_time)


def with_gaps(calls: pd.DataFrame, known: pd.DataFrame) -> pd.DataFrame:
    """Default calls with their gaps to the best call that is known of their table."""
    best = known.groupby(["pattern", "table"])["error"].min()
    least = best.reindex(pd.MultiIndex.from_frame(calls[["pattern", "table"]])).to_numpy()
    gaps = np.maximum(calls["error"], 1e-12) / np.maximum(least, 1e-12) - 1.0
    return calls.assign(gap=gaps)[calls["starts"] == 1]


def summarize(frame: pd.DataFrame) -> pd.DataFrame:
    """One line for every pattern: how gaps and seconds are distributed."""
    groups = frame.groupby("pattern", sort=False)
    table = groups["gap"].quantile([0.5, 0.9, 0.95]).unstack().add_prefix("gap at ")
    return table.assign(
        **{
            "largest gap": groups["gap"].max(),
            "share within 1 %": groups["gap"].agg(lambda gaps: (gaps <= 0.01).mean()),
            "calls": groups.size(),
            "median CPU seconds": groups["seconds"].median(),
            "largest CPU seconds": groups["seconds"].max(),
        }
    ).reset_index()


def main(arguments: list[str] | None = None) -> int:
    """Fit every table, print how the gaps are distributed and write all fits; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks tables", description=__doc__)
    parser.add_argument("--tables", type=int, default=100, help="how many")
    parser.add_argument("--seeds", type=int, default=1, help="default calls on each")
    parser.add_argument("--starts", type=int, default=200, help="of the call they are held against")
    parser.add_argument("--pattern", choices=PATTERNS, action="append")
    parser.add_argument("-o", "--output", type=Path, default=Path("out/benchmarks"))
    given = parser.parse_args(arguments)
    journal, fits = Journal(given.output / "tables-fits.csv", COLUMNS, len(KEY)), []
    for pattern in given.pattern or PATTERNS:
        fit(pattern, make_table(0), 1, 0)  # what is only done the first time
        for number in range(given.tables):
            table = make_table(number)
            calls = [(1, seed) for seed in range(given.seeds)]
            calls += [(given.starts, given.seeds)] if given.starts > 1 else []
            for starts, seed in calls:
                key = (pattern, number, starts, seed)
                if starts == 1 or key not in journal.rows:
                    error, seconds = fit(pattern, table, starts, seed)
                    n, m = table.counts.shape
                    sizes = "x".join(map(str, table.sizes))
                    row = (*key, table.kind, n, m, sizes, error, seconds)
                    journal.add(dict(zip(COLUMNS, row, strict=True)))
                fits.append(journal.rows[key])
    known = pd.DataFrame(journal.rows.values()).infer_objects()
    table = summarize(with_gaps(pd.DataFrame(fits).infer_objects(), known))
    print(table.to_string(index=False, float_format=lambda value: f"{value:.4g}"))
    print("goals:", ", ".join(f"{name} {goal:g}" for name, goal in GOALS.items()))
    return 0
