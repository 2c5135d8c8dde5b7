"""Whole fits against those of others, and alone where only fixed costs are left.

Medians over seeds, each program in processes of its own that take turns and are warmed by one fit;
ours without the certificate, whose time stands apart. A speed goal asks for the ratio of the
medians and for that of the fewest seconds: other work on the machine slows many threads more than
few, which moves medians. The error must not be above theirs. One call, as one types it, is the
median of nine processes that do nothing else, in wall and CPU time, with one thread and with two.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from time import process_time, sleep

import pandas as pd
from threadpoolctl import threadpool_limits

from benchmarks.data import EXPERIMENT_ONE, LARGE, ONE_CALL, TINY, Data, real
from benchmarks.rivals import BASELINES, ask_for, error_of, program
from benchmarks.rows import Row, SkippedError, clock, guard, judge, measure, without_figures
from orthonmf import factorize

WARM_SEED = 10**6
# What a default fit may leave to be gained: errors that differ by less are the same answer.
SAME_ERROR = 1e-4
# Ours by what is asked for; samples are plain "orthonmf".
OURS = {"both": "orthonmf both", "core": "orthonmf core"}
OVERHEAD_GOAL = 3.0  # milliseconds
# Threads of BLAS wait busily for more work, and that is nobody's time; after so long they sleep.
UNTIL_IDLE = 0.1


@dataclass(frozen=True, slots=True)
class Rival:
    """Somebody to compare with, and how many times faster we should be, or how little slower."""

    name: str
    goal: float | None = None
    most_ms_more: float | None = None
    n_seeds: int = 5
    warm_rows: int | None = None


@dataclass(frozen=True, slots=True)
class Contest:
    """Some matrices, ours and some rivals; every round starts a fresh process for each."""

    matrices: tuple[Data, ...]
    tiny: Data
    rivals: tuple[Rival, ...]
    orthogonal: str = "samples"
    n_seeds: int = 5
    n_rounds: int = 2

    def rows(self, tiny: bool) -> Iterator[Row]:
        """One row for every matrix and rival, also when it fails."""
        if tiny:
            rivals = (replace(self.rivals[0], n_seeds=1),)
            yield from replace(self, rivals=rivals, n_seeds=2, n_rounds=1)._contest(self.tiny)
            return
        for data in self.matrices:
            yield from self._contest(data)

    def _contest(self, data: Data) -> Iterator[Row]:
        ours = Rival(OURS.get(self.orthogonal, "orthonmf"), n_seeds=self.n_seeds)
        fits: dict[str, list[Row]] = {entrant.name: [] for entrant in (ours, *self.rivals)}
        failures: dict[str, Exception] = {}
        for number in range(self.n_rounds):
            for entrant in (ours, *self.rivals):
                if entrant.name in failures or ours.name in failures:
                    continue
                seeds = range(number * entrant.n_seeds, (number + 1) * entrant.n_seeds)
                try:
                    fits[entrant.name] += measure(
                        time_fits, data, entrant.name, seeds, entrant.warm_rows
                    )
                except Exception as error:
                    failures[entrant.name] = error
        proof = guard(data.title, measure, time_certificate, data, self.orthogonal)
        for rival in self.rivals:
            error = failures.get(ours.name) or failures.get(rival.name)
            if error is not None:
                yield without_figures(data.title, error, rival.name)
            else:
                yield compare(data, rival, fits[ours.name], fits[rival.name]) | {
                    "certificate_seconds": proof.get("seconds")
                }


def compare(data: Data, rival: Rival, our_fits: list[Row], their_fits: list[Row]) -> Row:
    """Ours and theirs in one row."""
    ours, theirs = pd.DataFrame(our_fits), pd.DataFrame(their_fits)
    row = {
        "case": data.title,
        "against": rival.name,
        "ms": 1e3 * ours["seconds"].median(),
        "their_ms": 1e3 * theirs["seconds"].median(),
        "ratio": theirs["seconds"].median() / ours["seconds"].median(),
        "ratio_of_fewest": theirs["seconds"].min() / ours["seconds"].min(),
        "cpu_ms": 1e3 * ours["cpu_seconds"].median(),
        "their_cpu_ms": 1e3 * theirs["cpu_seconds"].median(),
        "error": ours["error"].median(),
        "their_error": theirs["error"].median(),
        "largest_error": ours["error"].max(),
        "their_largest_error": theirs["error"].max(),
        "note": ", ".join(sorted({note for note in theirs["note"] if note})),
    }
    goals = [("error", "<=", row["their_error"] * (1 + SAME_ERROR))]
    if rival.goal is not None:
        goals += [("ratio", ">=", rival.goal), ("ratio_of_fewest", ">=", rival.goal)]
    if rival.most_ms_more is not None:
        goals.append(("ms", "<=", row["their_ms"] + rival.most_ms_more))
    return judge(row, *goals)


def time_fits(data: Data, name: str, seeds: range, warm_rows: int | None = None) -> list[Row]:
    """Fit once to warm up, on so many rows or on all, then once for every seed."""
    X, k, fit = data.make(), data.n_components, program(name)
    fit(X[:warm_rows], k, WARM_SEED)
    rows = []
    for seed in seeds:
        sleep(UNTIL_IDLE)
        began = process_time()
        answer, taken = clock(partial(fit, X, k, seed))
        row = {"cpu_seconds": process_time() - began, "note": answer.note}
        row["seconds"] = taken if answer.seconds is None else answer.seconds
        rows.append(row | {"error": error_of(X, answer)})
    return rows


def one_call(tiny: bool) -> Iterator[Row]:
    """One call as one types it: medians of processes that fit every matrix once, by threads."""
    matrices, n_rounds = ((TINY,), 2) if tiny else (ONE_CALL, 9)
    rival = Rival("three lines", most_ms_more=10.0)
    for threads in (1, 2):
        fits = [
            row
            for seed in range(n_rounds)
            for name in ("orthonmf", rival.name)
            for row in measure(time_calls, matrices, name, seed, threads)
        ]
        for data in matrices:
            own = [row for row in fits if row["case"] == data.title]
            ours, theirs = ([row for row in own if row["program"] == name]
                            for name in ("orthonmf", rival.name))  # fmt: skip
            if ours:
                yield {"threads": threads} | compare(data, rival, ours, theirs)


def time_calls(matrices: tuple[Data, ...], name: str, seed: int, threads: int) -> list[Row]:
    """Fit every matrix that can be had, with so many threads."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    rows = []
    with threadpool_limits(threads):
        for data in matrices:
            with suppress(SkippedError):
                (row,) = time_fits(data, name, range(seed, seed + 1))
                rows.append(row | {"case": data.title, "program": name})
    return rows


def time_certificate(data: Data, setting: str) -> Row:
    """Seconds of the default certificate of a default fit."""
    X = data.make()
    result = factorize(X, **ask_for(data.n_components, setting), random_state=0)
    return {"seconds": result.certificate.seconds}


BLOCKS = Data("blocks", 2_000, 500, 8, noise=0.1)
GROUPS = replace(BLOCKS, kind="groups")


def of_baselines(*names: str) -> Contest:
    """The data of the paper's first experiment against some baselines."""
    rivals = tuple(Rival(name, n_seeds=1, warm_rows=500) for name in names)
    return Contest((EXPERIMENT_ONE,), TINY, rivals, n_seeds=20, n_rounds=1)


CONTESTS = {
    "small": Contest(
        (replace(EXPERIMENT_ONE, noise=0.1), EXPERIMENT_ONE), TINY,
        (Rival("three lines", 3.0, 10), Rival("sklearn NMF", 50.0, 3)), n_seeds=20,
    ),
    "large": Contest(LARGE, replace(TINY, dtype="float32"), (Rival("three lines", 30.0, 2),)),
    "both": Contest(
        (BLOCKS,), Data("blocks", 120, 30, 3), (Rival("co-clustering"),), orthogonal="both"
    ),
    "core": Contest(
        (GROUPS, real("mfeat-pix"), real("bow-kos")), Data("groups", 120, 30, 3),
        tuple(
            Rival(name, n_seeds=1, warm_rows=200)
            for name in ("biclustering", "Ding's three factors")
        ),
        orthogonal="core", n_rounds=1,
    ),
    "baselines": of_baselines(*BASELINES),
}  # fmt: skip


def speed(tiny: bool) -> Iterator[Row]:
    """One call as one types it, small and large matrices, and disjoint blocks."""
    yield from one_call(tiny)
    for name in ("small", "large", "both"):
        yield from CONTESTS[name].rows(tiny)


def overhead(tiny: bool) -> Iterator[Row]:
    """Milliseconds of many fits so small that nothing but fixed costs is left."""
    data = Data("planted", 20, 10, 3)

    def time() -> Row:
        fits = pd.DataFrame(measure(time_fits, data, "orthonmf", range(3 if tiny else 200)))
        row = {"case": data.title, "ms": 1e3 * fits["seconds"].median()}
        row["fewest_ms"] = 1e3 * fits["seconds"].min()
        row["certificate_ms"] = 1e3 * measure(time_certificate, data, "samples")["seconds"]
        return judge(row, ("ms", "<", OVERHEAD_GOAL))

    yield guard(data.title, time)
