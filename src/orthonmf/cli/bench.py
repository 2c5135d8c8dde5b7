"""``orthonmf bench``: speed and memory as ratios measured in one run."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import orthonmf
from orthonmf.baselines.plugins import load_plugins
from orthonmf.bench.columns import explain
from orthonmf.bench.definition import BENCHMARKS, profiles_of, tasks_of
from orthonmf.bench.machine import machine
from orthonmf.bench.rows import MISSED, REACHED, Row
from orthonmf.bench.table import machine_line, markdown, notes, rich_table
from orthonmf.bench.tasks import Progress, run
from orthonmf.cli import options as o
from orthonmf.cli.failures import about, printable
from orthonmf.cli.terminal import line, prose, show, write_json
from orthonmf.cli.writing import Replacing, check_own

PROFILE = "profile"


@dataclass
class Record:
    """The rows measured so far, in files that are whole after every one of them."""

    folder: Path
    name: str  # of the files
    document: dict[str, Any]
    rows: list[Row] = field(default_factory=list)

    @property
    def profile(self) -> bool:
        """Whether the rows tell where time goes."""
        return self.name == PROFILE

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
        o.argument(
            "NAME",
            f"One of {', '.join(BENCHMARKS)}, or a baseline; all benchmarks by default.",
        ),
    ] = None,
    profile: Annotated[
        bool,
        o.flag("--profile", "Show where the time of a fit goes instead: small, large, sparse."),
    ] = False,
    tiny: Annotated[
        bool, o.flag("--tiny", "Sizes that take a moment, to try the harness; no verdicts.")
    ] = False,
    plugin: o.Plugin = None,
    output: Annotated[Path, o.output("Folder to write.", panel=None)] = Path("orthonmf-bench"),
) -> None:
    """Measure orthonmf against other programs: seconds, errors, memory, growth.

    Every program runs in processes of its own; what counts are ratios of one run. Missed goals
    are told and are no failure of the command. How good the default answers are is a command of
    its own: orthonmf bench quality.
    """
    load_plugins(plugin or ())
    tasks = profiles_of(name, tiny=tiny) if profile else tasks_of(name, tiny=tiny)
    record = begin_record(output, PROFILE if profile else "bench", tiny=tiny)
    # On stderr and line by line, so that it reads well in a log too.
    tell = partial(print, file=sys.stderr, flush=True)
    progress = Progress(tasks, lambda message: tell(printable(message)))
    for benchmark, own in groupby(tasks, lambda task: task.benchmark):
        first = len(record.rows)
        for row in run(list(own), progress, judged=not tiny):
            record.keep(row)
        show_rows(benchmark, record.rows[first:], profile)
    _sum_up(record)


def begin_record(folder: Path, name: str, **options: Any) -> Record:
    """A record without rows, in a folder that is ours; the machine is told."""
    document = {"orthonmf": orthonmf.__version__, "machine": machine(), **options}
    record = Record(folder, name, document)
    check_own(folder, record.files, record.files[0])
    prose(machine_line(document))
    return record


def show_rows(benchmark: str, rows: list[Row], profile: bool = False) -> None:
    """The table of a benchmark, what its rows have to say, and what its figures are."""
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
