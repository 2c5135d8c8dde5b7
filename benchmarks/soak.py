"""Random work for hours, every answer checked, memory and handles watched: `soak --hours 1`.

Fits, certificates, refits, files, commands, processes and Dask with killed workers, round after
round (`soak_cases.py`). Whatever is not as promised is told with the one line that does it again,
and so is anything that grows: the exit code is 1 then.
"""

from __future__ import annotations

import argparse
import ctypes
import faulthandler
import gc
import logging
import os
import sys
import tempfile
import time
import warnings
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import psutil

from benchmarks.soak_cases import ROUND
from experiments.machine import in_words, machine
from experiments.tables import markdown

HANG = 900  # seconds of one case
# What may be added, for good, between the second quarter of the rounds and the last.
ALLOWED = {"memory MB": 30.0, "file descriptors": 2, "threads": 2, "processes": 0,
           "temporary files": 0}  # fmt: skip
FEWEST_ROUNDS = 8  # that tell whether something grows
# mallopt of the GNU C library: thresholds from which memory is given back and mapped, arenas.
GIVE_BACK = {-1: 2**17, -3: 2**17, -8: 1}


@dataclass
class Soak:
    """A seed, and what was seen so far."""

    seed: int
    folder: Path

    def __post_init__(self) -> None:
        self.done: Counter[str] = Counter()
        self.violations: list[str] = []
        self.samples: list[dict[str, float]] = []

    def run_case(self, number: int) -> None:
        """One piece of work; what goes wrong is told at once."""
        kind = ROUND[number % len(ROUND)]
        faulthandler.dump_traceback_later(HANG, exit=True, file=sys.__stderr__)
        logging.disable()  # Dask speaks of killed workers
        try:
            with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                kind(np.random.default_rng([self.seed, number]), Path(folder))
        except Exception as error:
            again = f"python -m benchmarks soak --seed {self.seed} --case {number}"
            self.violations.append(f"{kind.__name__}: {type(error).__name__}: {error}; {again}")
            print(self.violations[-1], flush=True)
        finally:
            logging.disable(logging.NOTSET)
            faulthandler.cancel_dump_traceback_later()
        self.done[kind.__name__] += 1

    def sample(self) -> None:
        """Note what this process holds when nothing is at work.

        The C library keeps memory that is free again for the next array, more of it after every
        large one, and is asked to give it back first where it can be.
        """
        gc.collect()
        give_back = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if give_back is not None:
            give_back(0)
        process = psutil.Process()
        values = (
            process.memory_full_info().uss / 1e6, process.num_fds(), process.num_threads(),
            len(process.children(recursive=True)), sum(len(f) for _, _, f in os.walk(self.folder)),
        )  # fmt: skip
        self.samples.append(dict(zip(ALLOWED, values, strict=True)))


def give_back_at_once() -> None:
    """Have the C library keep no free memory, where it can be told so.

    Else it keeps tens of megabytes for every thread that has once held large arrays, and raises
    the size from which it gives them back: what is in use would not be seen.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    for option, value in GIVE_BACK.items() if mallopt else ():
        mallopt(option, value)


def growth(samples: list[dict[str, float]]) -> pd.DataFrame:
    """What was held after the warm-up and in the end, a row per resource, and which of them grew.

    The first quarter of the rounds warms up; medians of the second and of the last are compared.
    """
    frame = pd.DataFrame(samples)
    quarter = len(frame) // 4
    early, late = frame[quarter : 2 * quarter].median(), frame[len(frame) - quarter :].median()
    limits = pd.Series(ALLOWED)
    verdict = np.where(late - early > limits, "**grows**", "flat")
    if len(frame) < FEWEST_ROUNDS:
        verdict = "too short to tell"
    table = pd.DataFrame({"after the warm-up": early, "in the end": late, "largest": frame.max()})
    table = table.map(lambda value: f"{value:.0f}").assign(allowed=limits, verdict=verdict)
    return table.rename_axis("held by the process").reset_index()


def main(arguments: list[str] | None = None) -> int:
    """Work, print what was seen, write it as Markdown; 1 where anything was not as promised."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks soak", description=__doc__)
    parser.add_argument("--hours", type=float, default=0.0)
    parser.add_argument("--minutes", type=float, default=0.0, help="added to the hours")
    parser.add_argument("--rounds", type=int, help="at least so many, however long they take")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--case", type=int, help="this one alone")
    parser.add_argument("--write", type=Path, help="a file of Markdown")
    given = parser.parse_args(arguments)
    give_back_at_once()
    began, seconds = time.monotonic(), 3600 * given.hours + 60 * given.minutes
    with tempfile.TemporaryDirectory() as folder:
        usual, tempfile.tempdir = tempfile.tempdir, folder
        try:
            soak = Soak(given.seed, Path(folder))
            if given.case is not None:
                soak.run_case(given.case)
                return int(bool(soak.violations))
            number = 0
            while number < (given.rounds or 1) or time.monotonic() - began < seconds:
                for case in range(number * len(ROUND), (number + 1) * len(ROUND)):
                    soak.run_case(case)
                soak.sample()
                number += 1
                spent = (time.monotonic() - began) / 60
                held = ", ".join(f"{value:.0f} {name}" for name, value in soak.samples[-1].items())
                print(f"round {number}, {spent:.1f} minutes: {held}", flush=True)
        finally:
            tempfile.tempdir = usual
    table = growth(soak.samples)
    text = summary(soak, table, time.monotonic() - began)
    print(text)
    if given.write:
        given.write.write_text(text, encoding="utf-8")
    return int(bool(soak.violations) or "**grows**" in set(table["verdict"]))


def summary(soak: Soak, table: pd.DataFrame, seconds: float) -> str:
    """What was done and seen, as Markdown."""
    facts = machine()
    work = pd.DataFrame(soak.done.items(), columns=["work", "cases"])
    violations = "\n".join(f"* {words}" for words in soak.violations) or "Nothing was violated."
    return "\n\n".join((
        f"{seconds / 60:.0f} minutes, {soak.done.total():,} cases, seed {soak.seed}; "
        f"{facts['date'][:10]}, {in_words(facts)}.",
        markdown(work), violations, markdown(table),
    )) + "\n"  # fmt: skip
