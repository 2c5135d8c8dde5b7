"""``orthant bench quality``: what the default call finds, next to the best values known."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import orthant
from orthant.bench.columns import explain
from orthant.bench.machine import machine
from orthant.bench.quality.best_known import BestKnown, Case, read_best_known
from orthant.bench.quality.gaps import BY_SETTING, QUALITY, sum_up
from orthant.bench.quality.journal import FITS, FitJournal
from orthant.bench.quality.sets import NamedSet, select, sets_of_folder, sets_of_paper
from orthant.bench.quality.task import Grid, QualityTask
from orthant.bench.rows import FAILED, SKIPPED, Row
from orthant.bench.table import machine_line, notes, rich_table
from orthant.bench.tasks import Progress, Task, run
from orthant.cli import options as o
from orthant.cli.bench import Record
from orthant.cli.data import Reading, read_data, takes_reading
from orthant.cli.failures import BAD_INPUT, INTERRUPTED, about, say
from orthant.cli.lists import as_names, as_numbers
from orthant.cli.terminal import line, prose, show
from orthant.cli.writing import check_own
from orthant.errors import InvalidInputError
from orthant.onmf.choices import SETTINGS
from orthant.progress import Show, count_progress

OUTPUT = Path("orthant-quality")


@takes_reading("format", "missing", "row_names", "feature_names")
def quality(
    reading: Reading,
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="FOLDER",
            help="Matrices, one in a file; the sets of the paper by default.",
            show_default=False,
        ),
    ] = None,
    sets: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Only sets whose names hold one of these: arcene,kos."),
    ] = None,
    orthogonal: Annotated[
        str, typer.Option(metavar="NAMES", help="Settings, such as samples,both.")
    ] = ",".join(SETTINGS),
    components: Annotated[
        str,
        typer.Option(
            "--components", "-k", metavar="RANGE", help="Numbers of components: 6,20 or 2:8."
        ),
    ] = "6",
    seeds: Annotated[
        str,
        typer.Option(metavar="RANGE", help="Seeds, the same for all programs: 0:19 are twenty."),
    ] = "0:4",
    ten: Annotated[
        int,
        typer.Option(metavar="N", min=0, help="Fit with n_init=10 too, with the first N seeds."),
    ] = 0,
    best_known: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Best errors known (JSON); gaps are measured from them."),
    ] = None,
    write_best: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the best errors known after the run; may be the file of --best-known.",
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
    known, to_write = _values(best_known), _values_to_write(write_best)
    document = {"orthant": orthant.__version__, "machine": machine(), "options": _plain(grid)}
    record = Record(output, "quality", document, profile=False)
    check_own(output, record.files, record.files[0])
    journal = FitJournal(output / FITS)
    prose(machine_line(document))
    prose(_in_words(grid, len(chosen)))
    tasks = [QualityTask(one, grid, known, journal) for one in chosen]
    _measure(tasks, record, journal)
    _show(record)
    if write_best is not None:
        _write(write_best, to_write.with_found(known.values).with_found(_found(record.rows)))
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


def _values_to_write(path: Path | None) -> BestKnown:
    """What a file holds that will be written again: no value in it is lost.

    What cannot be written is told now rather than after hours of work.
    """
    if path is None or not path.exists():
        if path is not None and not path.absolute().parent.is_dir():
            raise InvalidInputError(f"--write-best: the folder of {path} is not there; make it")
        return BestKnown({})
    return _values(path)


def _plain(grid: Grid) -> dict[str, Any]:
    return {
        "orthogonal": list(grid.settings),
        "n_components": list(grid.numbers),
        "seeds": list(grid.seeds),
        "n_ten": grid.n_ten,
    }


def _in_words(grid: Grid, n_sets: int) -> str:
    seeds = ", ".join(map(str, grid.seeds))
    if len(grid.seeds) > 2:
        seeds = f"{len(grid.seeds)} from {min(grid.seeds)} to {max(grid.seeds)}"
    return (
        f"{n_sets} sets; {', '.join(grid.settings)}; k = {', '.join(map(str, grid.numbers))}; "
        f"seeds: {seeds}. Every program has one thread and is warm; CPU seconds of that thread."
    )


class _Bar(Progress):
    """Counts fits on one line of a terminal, or on a line every half minute."""

    def __init__(self, tasks: Sequence[Task], show: Show) -> None:
        super().__init__(tasks, lambda message: None)
        self._show = show

    def step(self, task: Task, number: int, what: str) -> None:
        """Announce the fit of this number of a task."""
        self._show(self._done + number - 1, f"{task.title} {what}", "")

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
        again = shlex.join(["orthant", *sys.argv[1:]])
        say(
            f"interrupted; {len(journal)} fits are safe in {journal.path}; go on with: {again}",
            "note",
        )
        raise typer.Exit(INTERRUPTED) from None
    for row in sum_up(record.rows):
        record.keep(row)


def _show(record: Record) -> None:
    for name in (QUALITY, BY_SETTING):
        rows = [row for row in record.rows if row.benchmark == name and row.state != SKIPPED]
        if rows:
            line()
            show(rich_table(name, rows))
            for note in notes(rows):
                prose(note)
            prose(explain(name, profile=False))
    line()


def _found(rows: Sequence[Row]) -> dict[Case, float]:
    measured = [row.figures for row in rows if row.benchmark == QUALITY and row.figures]
    return {
        Case(one["set"], one["orthogonal"], one["n_components"]): one["best_found"]
        for one in measured
    }


def _write(path: Path, best: BestKnown) -> None:
    about(path)
    best.write(path)
    line(f"wrote {path}: {len(best.values)} values")


def _leave_with(rows: Sequence[Row]) -> None:
    """Name what was left out, one line each; then the exit code says so too."""
    left_out = [row for row in rows if row.state in (SKIPPED, FAILED)]
    for row in left_out:
        say(f"{row.state}: {row.note}" if row.state == SKIPPED else f"{row.case}: {row.note}")
    if left_out:
        raise typer.Exit(BAD_INPUT)
