"""One set of the table: read once, fitted in every setting, with every k and seed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from orthonmf.bench.measuring import SkippedError
from orthonmf.bench.quality.best_known import BestKnown, Case
from orthonmf.bench.quality.fits import OURS, PROGRAMS, TEN, THREE_LINES, Fit, Matrix, fit_once
from orthonmf.bench.quality.gaps import QUALITY, figures_of
from orthonmf.bench.quality.journal import FitJournal
from orthonmf.bench.quality.sets import NamedSet
from orthonmf.bench.rows import FAILED, Row
from orthonmf.bench.tasks import Step, Task
from orthonmf.errors import OrthoNMFError
from orthonmf.inputs.data import as_matrix


@dataclass(frozen=True, slots=True)
class Grid:
    """What is fitted on every set."""

    orthogonal: Sequence[str]
    n_components: Sequence[int]
    seeds: Sequence[int]
    n_ten: int = 0  # how many of the seeds are fitted with ten tournaments too

    def cases(self, name: str) -> list[Case]:
        """The rows of a set."""
        return [Case(name, *one) for one in product(self.orthogonal, self.n_components)]

    def programs(self, case: Case) -> dict[str, Sequence[int]]:
        """Who takes part in a row, and with which seeds."""
        seeds = {OURS: self.seeds, THREE_LINES: self.seeds, TEN: self.seeds[: self.n_ten]}
        return {
            name: own
            for name, own in seeds.items()
            if own and case.orthogonal in PROGRAMS[name].settings
        }


@dataclass(frozen=True, slots=True)
class QualityTask(Task):
    """All rows of one set; fits that the journal has are not done again."""

    held: NamedSet
    grid: Grid
    known: BestKnown
    journal: FitJournal
    benchmark: str = QUALITY

    @property
    def title(self) -> str:
        """The name of the set."""
        return self.held.name

    @property
    def n_steps(self) -> int:
        """How many fits."""
        return sum(
            len(seeds)
            for case in self.grid.cases(self.title)
            for seeds in self.grid.programs(case).values()
        )

    def rows(self, step: Step) -> Iterator[Row]:
        """One row for every setting and number of components, also when a fit fails."""
        matrix = self._load()
        for case in self.grid.cases(self.title):
            yield self._row(matrix, case, step)

    def _load(self) -> Matrix:
        """The matrix, refused where it is not what a fit takes."""
        try:
            X = self.held.load()
            as_matrix(X)
        except (OrthoNMFError, OSError, MemoryError) as error:
            place, why = self.held.source, str(error) or "not enough memory"
            raise SkippedError(why if place in why else f"{place}: {why}") from error
        return Matrix(X)

    def _row(self, matrix: Matrix, case: Case, step: Step) -> Row:
        fits: dict[str, list[Fit]] = {}
        failures: dict[str, str] = {}
        wanted = self.grid.programs(case)
        # Programs take turns, so that a slow minute of the machine slows all of them.
        for number, seed in enumerate(self.grid.seeds):
            for name in (one for one, seeds in wanted.items() if number < len(seeds)):
                step(f"{case.orthogonal} k={case.n_components} seed {seed} {name}")
                try:
                    if name not in failures:
                        fits.setdefault(name, []).append(self._fit(name, matrix, case, seed))
                except (OrthoNMFError, ValueError, MemoryError) as error:
                    failures[name] = " ".join(str(error).split()) or "not enough memory"
        return self._compare(case, fits, failures)

    def _fit(self, name: str, matrix: Matrix, case: Case, seed: int) -> Fit:
        fit = self.journal.get(matrix.digest, case, name, seed)
        if fit is None:
            fit = fit_once(name, matrix, case, seed)
            self.journal.add(matrix.digest, case, name, seed, fit)
        return fit

    def _compare(
        self, case: Case, fits: Mapping[str, list[Fit]], failures: Mapping[str, str]
    ) -> Row:
        """The row of a case; who failed is left out of it with a note, and without ours no row."""
        note = "; ".join(f"{name} failed: {why}" for name, why in failures.items())
        if OURS in failures:
            return Row(self.benchmark, case.title, state=FAILED, note=note)
        complete = {name: own for name, own in fits.items() if name not in failures}
        figures = figures_of(case, complete, self.known.of(case))
        return Row(self.benchmark, case.title, figures=figures, note=note)
