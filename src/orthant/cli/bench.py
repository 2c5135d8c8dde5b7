"""``orthant bench``: speed and memory as ratios measured in one run."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import typer

import orthant
from orthant.baselines.plugins import load_plugins
from orthant.bench.columns import explain
from orthant.bench.definition import BENCHMARKS, profiles_of, tasks_of
from orthant.bench.machine import machine
from orthant.bench.rows import MISSED, REACHED, Row
from orthant.bench.table import machine_line, markdown, notes, rich_table
from orthant.bench.tasks import Progress, run
from orthant.cli import options as o
from orthant.cli.failures import about, printable
from orthant.cli.folder import write_json
from orthant.cli.terminal import line, prose, show
from orthant.cli.writing import Replacing, check_own


@dataclass
class Record:
    """The rows measured so far, in files that are whole after every one of them."""

    folder: Path
    name: str  # of the files
    document: dict[str, Any]
    profile: bool
    rows: list[Row] = field(default_factory=list)

    @property
    def files(self) -> tuple[str, str]:
        """What is written."""
        return f"{self.name}.json", f"{self.name}.md"

    def keep(self, row: Row) -> None:
        """Add a row and write both files again."""
        self.rows.append(row)
        document = {**self.document, "rows": [one.plain() for one in self.rows]}
        text = markdown(self.document, self.rows, profile=self.profile)
        about(self.folder)
        with Replacing(self.folder) as files:
            files.text(self.files[0], lambda file: write_json(file, document))
            files.text(self.files[1], lambda file: file.write(text))


def bench(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help=f"One of {', '.join(BENCHMARKS)}, or a baseline; all benchmarks by default.",
            show_default=False,
        ),
    ] = None,
    profile: Annotated[
        bool,
        typer.Option(
            "--profile", help="Show where the time of a fit goes instead: small, large, sparse."
        ),
    ] = False,
    tiny: Annotated[
        bool,
        typer.Option("--tiny", help="Sizes that take a moment, to try the harness; no verdicts."),
    ] = False,
    plugin: o.Plugin = None,
    output: Annotated[Path, o.output("Folder to write.", panel=None)] = Path("orthant-bench"),
) -> None:
    """Measure orthant against other programs: seconds, errors, memory, growth.

    Every program runs in processes of its own; what counts are ratios of one run. Missed goals
    are told and are no failure of the command. How good the default answers are is a command of
    its own: orthant bench quality.
    """
    load_plugins(plugin or ())
    tasks = profiles_of(name, tiny=tiny) if profile else tasks_of(name, tiny=tiny)
    document = {"orthant": orthant.__version__, "machine": machine(), "tiny": tiny}
    record = Record(output, "profile" if profile else "bench", document, profile)
    check_own(output, record.files, record.files[0])
    prose(machine_line(document))
    progress = Progress(tasks, _tell)
    for benchmark, own in groupby(tasks, lambda task: task.benchmark):
        rows = []
        for row in run(list(own), progress, judged=not tiny):
            record.keep(row)
            rows.append(row)
        _show(benchmark, rows, profile)
    _sum_up(record)


def _tell(message: str) -> None:
    """Progress, on stderr and line by line so that it reads well in a log too."""
    print(printable(message), file=sys.stderr, flush=True)


def _show(benchmark: str, rows: list[Row], profile: bool) -> None:
    line()
    show(rich_table(benchmark, rows, profile=profile))
    for note in notes(rows):
        prose(note)
    prose(explain(benchmark, profile))
    sys.stdout.flush()


def _sum_up(record: Record) -> None:
    verdicts = [row.verdict.partition(":")[0] for row in record.rows]
    counts = {verdict: verdicts.count(verdict) for verdict in dict.fromkeys(verdicts)}
    line()
    if not record.profile:
        order = sorted(counts, key=lambda one: (one != REACHED, one != MISSED))
        line(f"{len(verdicts)} rows: " + ", ".join(f"{counts[one]} {one}" for one in order))
    line(f"wrote {record.folder}/: {' '.join(record.files)}")
