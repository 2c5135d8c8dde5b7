"""How long the remaining runs will take, judged by those that are done."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from orthant.reproduction.definition import Run
from orthant.reproduction.rows import Row

Kind = tuple[str, str, int]  # experiment, method, components: runs of a kind take about as long


class TimeLeft:
    """Counts the runs of every kind that remain, and averages those that are done."""

    def __init__(self, runs: Iterable[Run], jobs: int) -> None:
        self._waiting = Counter(
            (run.experiment, run.method, run.setting.n_components) for run in runs
        )
        self._jobs = jobs
        self._taken: dict[Kind, list[float]] = defaultdict(list)

    def after(self, row: Row, seconds: float) -> float:
        """The seconds left once this row, which came so long after the one before, is done."""
        kind = (row.experiment, row.method, row.n_components)
        self._waiting[kind] -= 1
        self._taken[kind].append(seconds)
        everything = [one for taken in self._taken.values() for one in taken]
        usual = sum(everything) / len(everything)
        return sum(count * self._average(kind, usual) for kind, count in self._waiting.items())

    def _average(self, kind: Kind, usual: float) -> float:
        taken = self._taken[kind] if self._jobs == 1 else []
        return sum(taken) / len(taken) if taken else usual
