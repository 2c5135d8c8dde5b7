"""Results made up so that every claim of the paper holds, and a way to change them."""

import csv
from dataclasses import astuple, replace
from math import sqrt

from orthonmf.reproduction.definition import plan
from orthonmf.reproduction.environment import ENVIRONMENT
from orthonmf.reproduction.paper import PUBLISHED, experiments
from orthonmf.reproduction.rows import COLUMNS, RESULTS, Row

SOFT = ("nmf", "pnmf", "onfs-ding", "nhl", "onmf-a", "hals")
OURS = ("onmf-apx", "onmf-apx-10", "best")
PEMS = "not measured: the set cannot be had"
SITTING = '{"sittings": [{"date": "2021-03-04", "cpu": "a <processor>", "cores": 2}]}\n'


def made_rows(change=lambda row: row):
    """One row for every run of the paper's experiments, each passed through ``change``."""
    rows = [_row(run) for one in experiments().values() for run in plan(one)]
    return [change(row) for row in rows]


def write_results(folder, rows, environment=SITTING):
    """A folder as a runner leaves it."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / RESULTS).open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for row in rows:
            writer.writerow(repr(v) if isinstance(v, float) else v for v in astuple(row))
    if environment is not None:
        (folder / ENVIRONMENT).write_text(environment)
    return folder


def small(row):
    """Whether a row belongs to a part of the runs that is quickly drawn."""
    return row.seed < 3 and row.noise in (None, 0.0, 0.1, 0.5, 1.0) and row.n_components < 30


def changed(where, **changes):
    """A change of the rows that meet a condition; values may be functions of the row."""

    def change(row):
        if not where(row):
            return row
        return replace(row, **{k: v(row) if callable(v) else v for k, v in changes.items()})

    return change


def times(name, factor):
    """A measure multiplied by a factor, or by a function of the row."""
    return lambda row: getattr(row, name) * (factor(row) if callable(factor) else factor)


def _row(run):
    s = run.setting
    base = Row(
        run.experiment, s.dataset, s.orthogonal, s.n_samples, s.n_features, s.n_components,
        s.noise, run.seed, run.method, run.time_limit,
    )  # fmt: skip
    if s.dataset != "planted":
        return _real(base)
    planted = sqrt(2 * s.n_samples * s.n_features) * s.noise * (1 + 1e-4 * (run.seed - 3))
    recovery, reconstruction, squared = ERRORS[run.experiment](base, planted)
    exact = run.method in (*OURS, "em-onmf", "onmfs")
    both = run.method in OURS
    return replace(
        base,
        recovery_error=recovery,
        reconstruction_error=reconstruction,
        relative_squared_error=squared,
        non_orthogonality=0.0 if exact else 0.01 + 0.1 * s.noise,
        column_non_orthogonality=0.0 if both else 0.5,
        seconds={"onmf-apx": 0.01, "onmf-apx-10": 0.1, "best": 0.05}.get(run.method, 1.0)
        * (1 + 0.1 * run.seed),
        iterations=round(100 / s.noise) if s.noise else 10_000,
        stop_reason="converged",
        planted_error=planted,
    )


def _single(row, planted):
    recovery, noise = 300 * row.noise + 1e-9, row.noise
    if row.method in OURS:
        return 0.95 * recovery, 0.98 * planted + 1e-9, 1e-3 * noise
    if row.method == "em-onmf":
        bad = 50 * (1 + row.seed)
        return recovery + bad, 1.1 * planted + bad, 0.05 + 0.01 * row.seed
    if row.method == "onmfs":
        return 1.1 * recovery, 1.1 * planted, 1e-3
    step = 1 + 0.002 * SOFT.index(row.method)
    return recovery * step, 0.96 * planted * step + 1e-9, 1e-3 * noise


def _inner(row, planted):
    k = row.n_components
    slope = 0.0002 if row.method in OURS else 0.001
    base = 100.0 if row.method in OURS else 105.0
    return base * (1 + slope * k), planted * (0.98 - slope * k / 2), 0.1


def _double(row, planted):
    share = {"onmf-apx": 0.95, "onmf-apx-10": 0.95, "best": 0.94, "nmf": 0.93}.get(row.method, 0.97)
    reconstruction = share * planted + 1e-9
    if row.method in OURS:
        return 90 * row.noise, reconstruction, row.noise
    if row.method == "nmf":
        return (100 if row.noise < 0.5 else 80) * row.noise + 0.01, reconstruction, row.noise
    noisy = row.method.endswith("noisy")
    if row.noise == 0:
        return (5.0, 2.0, 0.001) if noisy else (100.0, 100.0, 0.2)
    return 110 * row.noise * (1.05 if noisy else 1.0), reconstruction, row.noise


def _real(row):
    if row.dataset == "pems-train":
        return replace(row, stop_reason=PEMS)
    published = PUBLISHED[row.dataset].published
    value = published * (1.0 if row.orthogonal == "features" else 1.3)
    value *= 1 + 0.0002 * (row.seed - 20) if row.method == "onmf-apx" else 0.99
    measures = {"relative_squared_error": value, "reconstruction_error": 100 * sqrt(value)}
    return replace(row, **measures, non_orthogonality=0.0, seconds=0.1, stop_reason="finished")


ERRORS = {
    "experiment-1": _single,
    "experiment-2": _single,
    "inner-dimensions": _inner,
    "double-factor": _double,
}
