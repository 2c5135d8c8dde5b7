"""How good the default call is: gaps to the best errors known, over sets, settings, k and seeds.

Gap: relative squared error over the best value, minus one. Best values are those of a file, or
else the best of the row. A row is marked "better" where the median gap of a rival is more than
0.05 points below ours, and "new best" where a fit is below the file's value. Every program has one
thread and is warm; CPU seconds of that thread, medians; ours without the certificate. All errors
are computed from the factors, none is anybody's own account. An interrupted run goes on with the
fits it has, unless the code has changed: errors of two states in one row would be those of neither.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from itertools import product
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
from rich.console import Console
from rich.progress import track
from scipy import sparse
from threadpoolctl import threadpool_limits

from benchmarks.data import OF_THE_PAPER, SETTINGS, real
from benchmarks.rivals import error_of, three_lines
from benchmarks.rows import clock
from benchmarks.uneven import UNEVEN
from experiments.journal import Journal
from experiments.machine import PACKAGES, machine
from orthonmf import factorize
from orthonmf.datasets import make_planted
from orthonmf.measures import relative_squared_error

OURS, THREE_LINES, LINES, TEN = "orthonmf", "three lines", "init=lines", "n_init=10"
KEY = ["code", "data", "orthogonal", "n_components", "program", "seed"]
COLUMNS = [*KEY, "set", "error", "seconds", "n_components_found"]
CASE = ["set", "orthogonal", "n_components"]
ROUNDING = 1e-12  # a relative squared error below this is zero
ABOVE = 0.01  # a gap that is counted
BETTER = 0.0005  # by how much a median gap is below ours where it is marked
NEW_BEST = -1e-6  # a gap below this is no rounding of the value in the file
Known = dict[tuple[str, str, int], float]  # the best errors known, by set, setting and components


class Matrix:
    """A set in float64, its columns as rows, and a digest that tells it from others."""

    def __init__(self, X: Any) -> None:
        self.X = X.astype(np.float64, copy=False)
        self.digest = joblib.hash(self.X)

    @cached_property
    def columns(self) -> Any:
        """(m, n) the columns as rows; scikit-learn has no other way to cluster them."""
        turned = self.X.T
        return sparse.csr_array(turned) if sparse.issparse(turned) else np.ascontiguousarray(turned)

    def points(self, orthogonal: str) -> Any:
        """What is clustered, as rows."""
        return self.columns if orthogonal == "features" else self.X


# The families of sets by name: what is in one, and how each of its matrices is made.
FAMILIES: dict[str, dict[str, Callable[[], Any]]] = {
    "paper": {name: real(name).make for name in OF_THE_PAPER},
    "uneven": {name: uneven.make for name, uneven in UNEVEN.items()},
}


def sets_of(source: str) -> dict[str, Callable[[], Any]]:
    """The sets of a family, or the matrices of a folder (``.npy``, and ``.npz`` of SciPy)."""
    if source in FAMILIES:
        return FAMILIES[source]
    files = sorted(path for path in Path(source).glob("*.np[yz]"))
    if not files:
        raise SystemExit(f"{source} is no family ({', '.join(FAMILIES)}) and holds no .npy or .npz")
    # In names of sets "-" and "_" are the same.
    return {path.stem.replace("_", "-"): partial(_read, path) for path in files}


def _read(path: Path) -> Any:
    return np.load(path) if path.suffix == ".npy" else sparse.csr_array(sparse.load_npz(path))


# What our programs are asked for; the three lines stand for themselves.
PROGRAMS: dict[str, dict[str, Any]] = {
    OURS: {}, THREE_LINES: {}, LINES: {"init": "lines"}, TEN: {"n_init": 10}
}  # fmt: skip


def takes(program: str, orthogonal: str) -> bool:
    """Whether a program has that setting."""
    return orthogonal != "both" or program in (OURS, TEN)


def fit_once(name: str, matrix: Matrix, orthogonal: str, k: int, seed: int) -> dict[str, Any]:
    """Error, CPU seconds and components in use of one fit with one thread."""
    points = matrix.points(orthogonal)  # to turn the matrix is nobody's time
    options = {"orthogonal": orthogonal, "certificate": None, "n_jobs": 1, **PROGRAMS[name]}
    fit: Callable[[], Any] = partial(factorize, matrix.X, k, random_state=seed, **options)
    if name == THREE_LINES:
        fit = partial(three_lines, points, k, seed)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # how many components are in use is kept
        answer, seconds = clock(fit, time.thread_time)
        if name == THREE_LINES:
            error, n_components = error_of(points, answer), len(np.unique(answer.labels))
        else:
            # The measure is in the paper's orientation; the error of a transpose is the same.
            error = relative_squared_error(matrix.X, answer.loadings, answer.components)
            n_components = answer.n_components_found
    return {"error": error, "seconds": seconds, "n_components_found": n_components}


def plan(given: argparse.Namespace) -> list[tuple[str, str, int, str, int]]:
    """Set, setting, k, program and seed of every fit; programs take turns on a seed."""
    seeds = {LINES: given.seeds[: given.lines], TEN: given.seeds[: given.ten]}
    return [
        (name, orthogonal, k, program, seed)
        for name, orthogonal in product(given.sets, given.orthogonal)
        for k, seed, program in product(numbers_of(name, given), given.seeds, PROGRAMS)
        if takes(program, orthogonal) and seed in seeds.get(program, given.seeds)
    ]


def numbers_of(name: str, given: argparse.Namespace) -> list[int]:
    """The numbers of components that are asked for: those given, or the set's own, or 6."""
    if given.components is not None:
        return list(given.components)
    return [UNEVEN[name].n_components if name in UNEVEN else 6]


def fits(
    given: argparse.Namespace, sets: dict[str, Callable[[], Any]], journal: Journal
) -> Iterator[dict[str, Any]]:
    """Every fit, from the journal or made now; a set that cannot be read is told and left out."""
    matrix, current, code, warm = None, None, state_of_code(), set()
    tiny = Matrix(make_planted(40, 12, 3, 0.1, "both", random_state=0).X)
    planned = plan(given)
    for name, orthogonal, k, program, seed in track(planned, console=Console(stderr=True)):
        if name != current:
            current, matrix = name, None
            try:
                matrix = Matrix(sets[name]())
            except Exception as error:
                print(f"{name} is left out: {error}")
        if matrix is None:
            continue
        key = (code, matrix.digest, orthogonal, k, program, seed)
        if key not in journal.rows:
            if (program, orthogonal) not in warm:  # what is only done the first time
                fit_once(program, tiny, orthogonal, 3, 0)
                warm.add((program, orthogonal))
            try:
                fit = fit_once(program, matrix, orthogonal, k, seed)
            except (ValueError, MemoryError) as error:
                print(f"{program} failed on {name} {orthogonal} k={k} seed {seed}: {error}")
                continue
            journal.add(dict(zip(KEY, key, strict=True)) | {"set": name} | fit)
        yield journal.rows[key]


def state_of_code() -> str:
    """A digest of the code that fits and of the libraries below it."""
    facts = machine()
    return str(joblib.hash([facts[name] for name in ("code", *PACKAGES)]))


def gap(error: Any, best: Any) -> Any:
    """The error over the best value, minus one."""
    return np.maximum(error, ROUNDING) / np.maximum(best, ROUNDING) - 1


def with_gaps(frame: pd.DataFrame, known: Known) -> pd.DataFrame:
    """Fits with the best value of their case, whether it was known, and their gaps to it."""
    values = [known.get(tuple(case)) for case in frame[CASE].itertuples(index=False)]
    best_here = frame.groupby(CASE)["error"].transform("min")
    frame = frame.assign(known=pd.Series(values, index=frame.index, dtype=float))
    frame = frame.assign(best=frame["known"].fillna(best_here), best_here=best_here)
    return frame.assign(gap=gap(frame["error"], frame["best"]))


def by_case(frame: pd.DataFrame) -> pd.DataFrame:
    """One line for every set, setting, number of components and program."""
    groups = frame.groupby([*CASE, "program"], sort=False)
    table = groups.agg(
        best=("best", "first"),
        median_gap=("gap", "median"),
        largest_gap=("gap", "max"),
        above=("gap", lambda gaps: (gaps > ABOVE).sum()),
        fits=("gap", "size"),
        cpu_seconds=("seconds", "median"),
        fewest_components=("n_components_found", "min"),
    ).reset_index()
    ours = table[table["program"] == OURS].set_index(CASE)["median_gap"]
    our_gap = ours.reindex(pd.MultiIndex.from_frame(table[CASE])).to_numpy()
    lowest = groups["gap"].min().to_numpy()
    marks = np.where(our_gap - table["median_gap"] > BETTER, "better", "")
    return table.assign(mark=np.where(lowest < NEW_BEST, "new best", marks))


def by_setting(frame: pd.DataFrame, cases: pd.DataFrame) -> pd.DataFrame:
    """All fits of a setting together, by program; CPU seconds are medians of the ratio to ours."""
    groups = frame.groupby(["orthogonal", "program"], sort=False)
    seconds = cases.pivot(index=CASE, columns="program", values="cpu_seconds")
    ratios = seconds.div(seconds[OURS], axis=0).stack().rename("ratio").reset_index()
    return groups.agg(
        median_gap=("gap", "median"),
        largest_gap=("gap", "max"),
        fits=("gap", "size"),
        share_above=("gap", lambda gaps: (gaps > ABOVE).mean()),
    ).assign(
        cpu_of_ours=ratios.groupby(["orthogonal", "program"])["ratio"].median(),
        rows_better=cases.groupby(["orthogonal", "program"])["mark"].agg(
            lambda marks: (marks == "better").sum()
        ),
    ).reset_index()  # fmt: skip


def read_best(path: Path | None) -> Known:
    """The smallest errors that anybody has found: ``{"set": {"samples": {"6": 0.0756}}}``."""
    if path is None or not path.exists():
        return {}
    return {
        (name.replace("_", "-"), orthogonal, int(k)): error
        for name, settings in json.loads(path.read_text(encoding="utf-8")).items()
        for orthogonal, numbers in settings.items()
        for k, error in numbers.items()
    }


def write_best(path: Path, known: Known, frame: pd.DataFrame) -> None:
    """Write the values known, of this file and those given, and what was found below them."""
    every = known, read_best(path), frame.groupby(CASE)["error"].min().to_dict()
    best: dict[str, Any] = {}
    for case in sorted({case for values in every for case in values}):
        name, orthogonal, k = case
        least = min(values[case] for values in every if case in values)
        best.setdefault(name, {}).setdefault(orthogonal, {})[str(k)] = least
    path.write_text(json.dumps(best, indent=1) + "\n", encoding="utf-8")


def numbers(text: str) -> list[int]:
    """``6,20`` or ``2:8``, which has both ends."""
    if ":" in text:
        first, last = map(int, text.split(":"))
        return list(range(first, last + 1))
    return [int(one) for one in text.split(",")]


def main(arguments: list[str] | None = None) -> int:
    """Fit, print both tables and write them; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks quality", description=__doc__)
    add = parser.add_argument
    told = f"a family of sets ({', '.join(FAMILIES)}) or a folder of matrices"
    add("source", nargs="?", default="paper", help=told)
    add("--sets", help="only sets whose names hold one of these: arcene,kos")
    add("--orthogonal", type=lambda text: text.split(","), default=list(SETTINGS))
    add("-k", "--components", type=numbers, help="6,20 or 2:8; 6 where a set has no own")
    add("--seeds", type=numbers, default=numbers("0:4"), help="0:19 are twenty")
    add("--ten", type=int, default=0, help="n_init=10 too, with the first N seeds")
    add("--lines", type=int, default=0, help='init="lines" too, with the first N')
    add("--best-known", type=Path, help="best errors known (JSON)")
    add("--write-best", type=Path, help="write the best errors known after the run")
    add("-o", "--output", type=Path, default=Path("out/benchmarks"))
    given = parser.parse_args(arguments)
    sets = sets_of(given.source)
    wanted = (given.sets or "").split(",")
    given.sets = [name for name in sets if any(text in name for text in wanted)]
    known = read_best(given.best_known)
    journal = Journal(given.output / "quality-fits.csv", COLUMNS, len(KEY))
    try:
        rows = list(fits(given, sets, journal))
    except KeyboardInterrupt:
        print(f"interrupted; fits are safe in {journal.path}, and the same command goes on")
        return 130
    if not rows:
        print("nothing was fitted")
        return 2
    frame = with_gaps(pd.DataFrame(rows).infer_objects(), known)
    cases = by_case(frame)
    settings = by_setting(frame, cases)
    for name, table in (("quality", cases), ("quality-by-setting", settings)):
        print(f"\n{table.to_string(index=False, float_format=lambda one: f'{one:.4g}')}")
        table.to_csv(given.output / f"{name}.csv", index=False)
    if given.write_best:
        write_best(given.write_best, known, frame)
    return 0
