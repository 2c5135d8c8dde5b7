"""``orthonmf bench quality``: what the default call finds, next to the best values known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from orthonmf.bench.quality.best_known import BestKnown, Case, read_best_known
from orthonmf.bench.quality.gaps import BY_SETTING, QUALITY, sum_up
from orthonmf.bench.quality.journal import FITS, FitJournal
from orthonmf.bench.quality.sets import NamedSet, select, sets_of_folder, sets_of_paper
from orthonmf.bench.quality.task import Grid, QualityTask
from orthonmf.bench.rows import FAILED, SKIPPED, Row
from orthonmf.bench.tasks import Progress, Task, run
from orthonmf.cli import options as o
from orthonmf.cli.bench import Record, begin_record, show_rows
from orthonmf.cli.data import Reading, read_data, takes_reading
from orthonmf.cli.failures import BAD_INPUT, about, leave_interrupted, say
from orthonmf.cli.lists import as_names, as_numbers
from orthonmf.cli.terminal import line, prose
from orthonmf.errors import InvalidInputError
from orthonmf.onmf.algorithms import SETTINGS
from orthonmf.progress import Show, count_progress

OUTPUT, EVERY = Path("orthonmf-quality"), ",".join(SETTINGS)


@takes_reading("format", "missing", "row_names", "feature_names")
def quality(
    reading: Reading,
    folder: Annotated[
        Path | None,
        o.argument("FOLDER", "Matrices, one in a file; the sets of the paper by default."),
    ] = None,
    sets: Annotated[
        str | None, o.value("NAMES", "Only sets whose names hold one of these: arcene,kos.")
    ] = None,
    orthogonal: Annotated[str, o.value("NAMES", "Settings, such as samples,both.")] = EVERY,
    components: Annotated[
        str, o.value("RANGE", "Numbers of components: 6,20 or 2:8.", "--components", "-k")
    ] = "6",
    seeds: Annotated[
        str, o.value("RANGE", "Seeds, the same for all programs: 0:19 are twenty.")
    ] = "0:4",
    ten: Annotated[int, o.value("N", "Fit with n_init=10 too, with the first N seeds.", min=0)] = 0,
    best_known: Annotated[
        Path | None, o.value("FILE", "Best errors known (JSON); gaps are measured from them.")
    ] = None,
    write_best: Annotated[
        Path | None,
        o.value(
            "FILE",
            "Write the best errors known after the run; may be the file of --best-known.",
        ),
    ] = None,
    output: Annotated[
        Path,
        o.output(
            f"Folder for quality.json, quality.md and {FITS}, from which an interrupted run goes "
            "on.",
            panel=None,
        ),
    ] = OUTPUT,
) -> None:
    """Show how far the default call ends from the best error known.

    For every set, setting and number of components: median and largest gap to
    the best error known over the seeds, how many fits are more than 1 % above
    it, and CPU seconds; next to three lines of scikit-learn (normalize,
    weighted KMeans, rescale) and, with --ten, to n_init=10.

    An interrupted run goes on with the fits it has. Files that cannot be read
    are named at the end, and the exit code is 2.
    """
    grid = Grid(
        as_names(orthogonal, "--orthogonal", tuple(SETTINGS)),
        as_numbers(components, "--components"),
        as_numbers(seeds, "--seeds", least=0),
        ten,
    )
    chosen = _sets(folder, reading, sets)
    if write_best is not None and not write_best.absolute().parent.is_dir():
        # Better now than after hours of work.
        raise InvalidInputError(f"--write-best: the folder of {write_best} is not there; make it")
    known = _values(best_known)
    there = write_best is not None and write_best.exists()
    to_write = _values(write_best if there else None)  # no value of it is lost
    record = begin_record(output, "quality", options=asdict(grid))
    journal = FitJournal(output / FITS)
    prose(_in_words(grid, len(chosen)))
    tasks = [QualityTask(one, grid, known, journal) for one in chosen]
    _measure(tasks, record, journal)
    for name in (QUALITY, BY_SETTING):
        rows = [row for row in record.rows if row.benchmark == name and row.state != SKIPPED]
        if rows:
            show_rows(name, rows)
    line()
    if write_best is not None:
        about(write_best)
        best = to_write.with_found(known.values).with_found(_find(record.rows))
        best.write(write_best)
        line(f"wrote {write_best}: {len(best.values)} values")
    line(f"wrote {output}/: {' '.join(record.files)} {FITS}")
    _leave_with(record.rows)


def _sets(folder: Path | None, reading: Reading, wanted: str | None) -> list[NamedSet]:
    if folder is None and reading != Reading():
        raise InvalidInputError(
            "how to read files was given, but no FOLDER; name one, or leave these options out"
        )

    def read(path: Path) -> Any:
        X = read_data(str(path), reading).X
        return X if hasattr(X, "tocsr") else np.array(X, dtype=np.float64)  # what is mapped too

    found = sets_of_paper() if folder is None else sets_of_folder(folder, read)
    return found if wanted is None else select(found, as_names(wanted, "--sets"))


def _values(path: Path | None) -> BestKnown:
    about(path)
    return BestKnown({}) if path is None else read_best_known(path)


def _in_words(grid: Grid, n_sets: int) -> str:
    seeds = ", ".join(map(str, grid.seeds))
    if len(grid.seeds) > 2:
        seeds = f"{len(grid.seeds)} from {min(grid.seeds)} to {max(grid.seeds)}"
    numbers = ", ".join(map(str, grid.n_components))
    return (
        f"{n_sets} sets; {', '.join(grid.orthogonal)}; k = {numbers}; seeds: {seeds}. "
        "Every program has one thread and is warm; CPU seconds of that thread."
    )


class _Bar(Progress):
    """Counts fits on one line of a terminal, or on a line every half minute."""

    def __init__(self, tasks: Sequence[Task], show: Show) -> None:
        super().__init__(tasks, lambda message: None)
        self._show = show

    def step(self, task: Task, what: str) -> None:
        """Announce the next fit of a task."""
        super().step(task, what)
        self._show(self._begun - 1, f"{task.title} {what}", "")

    def finish(self, task: Task) -> None:
        """Count all fits of a task, also those that it left out."""
        super().finish(task)
        self._show(self._done, task.title, "")


def _measure(tasks: list[QualityTask], record: Record, journal: FitJournal) -> None:
    """All rows, each in the files as soon as it is there; fits are safe as they are made."""
    try:
        with count_progress(sum(task.n_steps for task in tasks)) as bar:
            for row in run(tasks, _Bar(tasks, bar)):
                record.keep(row)
    except KeyboardInterrupt:
        leave_interrupted(f"{len(journal)} fits are safe in {journal.path}")
    for row in sum_up(record.rows):
        record.keep(row)


def _find(rows: Sequence[Row]) -> dict[Case, float]:
    measured = [row.figures for row in rows if row.benchmark == QUALITY and row.figures]
    keys = ("set", "orthogonal", "n_components")
    return {Case(*(one[key] for key in keys)): one["best_found"] for one in measured}


def _leave_with(rows: Sequence[Row]) -> None:
    """Name what was left out, one line each; then the exit code says so too."""
    left_out = [row for row in rows if row.state in (SKIPPED, FAILED)]
    for row in left_out:
        say(f"{row.state}: {row.note}" if row.state == SKIPPED else f"{row.case}: {row.note}")
    if left_out:
        raise typer.Exit(BAD_INPUT)
