"""What every benchmark is made of: tasks that yield rows, and the one loop that runs them."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from orthonmf.bench.data import Data
from orthonmf.bench.measuring import MeasurementError, SkippedError
from orthonmf.bench.rows import FAILED, NOT_JUDGED, SKIPPED, Row

CANNOT = (SkippedError, MeasurementError)
Step = Callable[[str], None]  # says what is measured now


class Task(ABC):
    """Some measurements that belong together; most are one process on one matrix."""

    benchmark: str  # the name of the benchmark it is part of
    data: Data

    @property
    def title(self) -> str:
        """What it is measured on."""
        return self.data.title

    @property
    def n_steps(self) -> int:
        """How many processes it starts."""
        return 1

    @abstractmethod
    def rows(self, step: Step) -> Iterator[Row]:
        """Measure; ``step`` is called before every process."""


@dataclass(frozen=True, slots=True)
class SettingTask(Task):
    """A task on one matrix in one setting."""

    data: Data
    orthogonal: str

    @property
    def title(self) -> str:
        """The matrix and the setting."""
        return f"{self.data.title} {self.orthogonal}"


class Progress:
    """Says what is measured now, and how much of the whole is done."""

    def __init__(self, tasks: Sequence[Task], tell: Callable[[str], None]) -> None:
        self._total, self._tell = sum(task.n_steps for task in tasks), tell
        self._done, self._begun, self._started = 0, 0, time.perf_counter()

    def step(self, task: Task, what: str) -> None:
        """Announce the next process of a task."""
        self._begun += 1
        gone = round(time.perf_counter() - self._started)
        place = f"{self._begun} of {self._total}, {gone // 60}:{gone % 60:02d}"
        self._tell(f"[{place}] {task.benchmark}: {task.title}: {what}")

    def finish(self, task: Task) -> None:
        """Count all steps of a task, also those that it left out."""
        self._done += task.n_steps
        self._begun = self._done


def run(tasks: Sequence[Task], progress: Progress, *, judged: bool = True) -> Iterator[Row]:
    """Rows as they are measured; what cannot be measured is a row that says so.

    ``judged`` is False for sizes so small that a verdict would mean nothing.
    """
    for task in tasks:
        for row in _rows_or_reason(task, partial(progress.step, task)):
            yield row if judged or row.state else replace(row, state=NOT_JUDGED)
        progress.finish(task)


def _rows_or_reason(task: Task, step: Step) -> Iterator[Row]:
    try:
        yield from task.rows(step)
    except CANNOT as error:
        yield without_figures(Row(task.benchmark, task.title), error)


def without_figures(row: Row, error: Exception) -> Row:
    """The row of a measurement that was skipped or has failed."""
    state = SKIPPED if isinstance(error, SkippedError) else FAILED
    return replace(row, state=state, note=str(error))
