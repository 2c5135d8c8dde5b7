"""``orthant reproduce``: the paper's experiments, run again."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from orthant.baselines import BASELINES
from orthant.baselines.plugins import load_plugins
from orthant.cli import options as o
from orthant.cli.failures import INTERRUPTED, about, say
from orthant.cli.lists import as_names
from orthant.cli.terminal import line
from orthant.errors import InvalidInputError
from orthant.progress import count_progress
from orthant.reproduction.definition import Run, choose_methods, plan_all
from orthant.reproduction.methods import takes_setting
from orthant.reproduction.paper import FULL, OURS, QUICK, experiments
from orthant.reproduction.results import publish
from orthant.reproduction.rows import RESULTS, is_missing
from orthant.reproduction.runner import Progress, carry_out, rows_on_disk
from orthant.validation.parameters import name_nearest

ALL = "all"
FOLDER, QUICK_FOLDER = Path("reproduction"), Path("reproduction-quick")

NAMES = (*experiments(), ALL)


def reproduce(
    name: Annotated[
        str,
        typer.Argument(
            help="The experiment, or all.",
            show_default=False,
            **{**o.one_of(NAMES), "metavar": "NAME"},
        ),
    ],
    quick: Annotated[
        bool, typer.Option("--quick", help="Three noises, three seeds, 5 seconds a run.")
    ] = False,
    output: Annotated[
        Path | None,
        o.output(
            f"Folder for rows, figures and page (default: {FOLDER}; quick: {QUICK_FOLDER}).",
            panel=None,
            show_default=False,
        ),
    ] = None,
    jobs: Annotated[
        int,
        typer.Option(
            "--jobs", "-j", min=1, help="Runs at the same time; with more than one, no times."
        ),
    ] = 1,
    data_home: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where the real data sets lie.")
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Only these methods, such as best,nmf or your own."),
    ] = None,
    plugin: o.Plugin = None,
    page_only: Annotated[
        bool, typer.Option("--page-only", help="Run nothing; figures and page from the rows there.")
    ] = False,
) -> None:
    """Run the paper's experiments again, and compare with what it says.

    NAME is experiment-1, experiment-2, inner-dimensions, double-factor, real-data or all. One row
    per run goes to results.csv as soon as it is finished; an interrupted command goes on where
    it ended. Every run has one core and is timed, unless several run at once.
    """
    load_plugins(plugin or ())
    folder = output or (QUICK_FOLDER if quick else FOLDER)
    about(folder)
    if not page_only:
        _run(_runs(name, quick, methods), folder, jobs, data_home)
    for path in publish(folder):
        line(f"wrote {path}")


def _runs(name: str, quick: bool, methods: str | None) -> list[Run]:
    known = experiments(QUICK if quick else FULL)
    wanted = list(known.values()) if name == ALL else [known[name]]
    if methods is None:
        return plan_all(wanted)
    try:
        return plan_all(choose_methods(wanted, as_names(methods, "--methods"), takes_setting))
    except KeyError as error:
        names = (*OURS, *BASELINES)
        raise InvalidInputError(
            f"--methods: {name} runs no {error.args[0]!r}; there are {', '.join(names)}"
            f"{name_nearest(error.args[0], names)}"
        ) from error


def _run(runs: list[Run], folder: Path, jobs: int, data_home: Path | None) -> None:
    try:
        with count_progress(len(runs)) as show:
            carry_out(
                runs, folder, data_home=data_home, jobs=jobs,
                report=lambda now: show(now.done, _what(now), _left(now)),
            )  # fmt: skip
    except KeyboardInterrupt:
        safe = len(rows_on_disk(runs, folder))
        again = shlex.join(["orthant", *sys.argv[1:]])
        say(
            f"interrupted; {safe} of {len(runs)} rows are safe in {folder / RESULTS}; "
            f"go on with: {again}",
            "note",
        )
        raise typer.Exit(INTERRUPTED) from None
    missing = [row for row in rows_on_disk(runs, folder) if is_missing(row)]
    line(f"{len(runs) - len(missing)} of {len(runs)} runs are in {folder / RESULTS}")
    for reason in sorted({row.stop_reason for row in missing}):
        say(reason, "note")


def _what(now: Progress) -> str:
    return "starting" if now.row is None else f"{now.row.experiment} {now.row.method}"


def _left(now: Progress) -> str:
    if now.seconds_left is None:
        return ""
    minutes, seconds = divmod(round(now.seconds_left), 60)
    hours, minutes = divmod(minutes, 60)
    return f"about {hours}:{minutes:02}:{seconds:02} left"
