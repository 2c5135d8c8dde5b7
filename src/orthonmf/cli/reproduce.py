"""``orthonmf reproduce``: the paper's experiments, run again."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

from orthonmf.baselines import BASELINES
from orthonmf.baselines.plugins import load_plugins
from orthonmf.cli import options as o
from orthonmf.cli.failures import about, leave_interrupted, say
from orthonmf.cli.lists import as_names
from orthonmf.cli.terminal import line
from orthonmf.errors import InvalidInputError
from orthonmf.inputs.parameters import name_nearest
from orthonmf.progress import Show, count_progress
from orthonmf.reproduction.definition import Run, choose_methods, plan_all
from orthonmf.reproduction.measuring import takes_setting
from orthonmf.reproduction.paper import FULL, OURS, QUICK, experiments
from orthonmf.reproduction.results import publish
from orthonmf.reproduction.rows import RESULTS, is_missing
from orthonmf.reproduction.runner import Progress, carry_out, rows_on_disk

ALL = "all"
FOLDER, QUICK_FOLDER = Path("reproduction"), Path("reproduction-quick")

NAMES = (*experiments(), ALL)


def reproduce(
    name: Annotated[
        str, o.argument("NAME", "The experiment, or all.", parser=o.one_of(NAMES)["parser"])
    ],
    quick: Annotated[
        bool, o.flag("--quick", "Three noises, three seeds, 5 seconds a run.")
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
        o.value(
            None, "Runs at the same time; with more than one, no times.", "--jobs", "-j", min=1
        ),
    ] = 1,
    data_home: Annotated[Path | None, o.value("DIR", "Where the real data sets lie.")] = None,
    methods: Annotated[
        str | None, o.value("NAMES", "Only these methods, such as best,nmf or your own.")
    ] = None,
    plugin: o.Plugin = None,
    page_only: Annotated[
        bool, o.flag("--page-only", "Run nothing; figures and page from the rows there.")
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
            tell = partial(_tell, show)
            carry_out(runs, folder, data_home=data_home, jobs=jobs, report=tell)
    except KeyboardInterrupt:
        safe = len(rows_on_disk(runs, folder))
        leave_interrupted(f"{safe} of {len(runs)} rows are safe in {folder / RESULTS}")
    missing = [row for row in rows_on_disk(runs, folder) if is_missing(row)]
    line(f"{len(runs) - len(missing)} of {len(runs)} runs are in {folder / RESULTS}")
    for reason in sorted({row.stop_reason for row in missing}):
        say(reason, "note")


def _tell(show: Show, now: Progress) -> None:
    """Show how many runs are done, which was the last, and how long the others take."""
    what, left = "starting", ""
    if now.row is not None and now.seconds_left is not None:
        minutes, seconds = divmod(round(now.seconds_left), 60)
        what = f"{now.row.experiment} {now.row.method}"
        left = f"about {minutes // 60}:{minutes % 60:02}:{seconds:02} left"
    show(now.done, what, left)
