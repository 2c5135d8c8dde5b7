"""Measure orthonmf: `python -m benchmarks [NAME ...] [--tiny] [-o FOLDER]`.

Every program runs in processes of its own; what counts are ratios of one run. Missed goals are
told and are no failure of the command. Some benchmarks have options of their own, which
`python -m benchmarks NAME --help` shows.
"""

from __future__ import annotations

import argparse
import sys
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path

# The module of each benchmark whose function of that name yields rows.
ROWS = {
    "speed": "speed", "one_call": "speed", "overhead": "speed", "sweep": "sweep",
    "memory": "memory", "growth": "memory", "places": "places", "certificates": "certificates",
    "gpu": "gpu", "certainty": "certainty", "counts": "counts",
    "out_of_core": "out_of_core", "scheduler": "scheduler",
}  # fmt: skip
# Parts of speed by themselves, and what is only compared when asked for.
CONTESTS = ("small", "large", "both", "core", "baselines")
# Those with a command line of their own.
COMMANDS = {
    "quality": "quality", "reliability": "reliability.page", "tables": "tables", "soak": "soak"
}  # fmt: skip
USUAL = ("sweep", "speed", "core", "overhead", "memory", "places", "growth")


def rows_of(name: str, tiny: bool):
    """The rows of a benchmark, or of a contest with the baseline of this name."""
    if name in ROWS:
        return getattr(import_module(f"benchmarks.{ROWS[name]}"), name)(tiny)
    speed = import_module("benchmarks.speed")
    contest = speed.CONTESTS[name] if name in CONTESTS else speed.of_baselines(name)
    return contest.rows(tiny)


def main(arguments: list[str]) -> int:
    """Run some benchmarks, or one that has options of its own; the exit code."""
    if arguments and arguments[0] in COMMANDS:
        command = import_module(f"benchmarks.{COMMANDS[arguments[0]]}")
        return command.main(arguments[1:]) or 0
    baselines = import_module("orthonmf.baselines").BASELINES
    names = ", ".join((*ROWS, *CONTESTS, *COMMANDS, *baselines))
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    told = f"of {names}; by default {', '.join(USUAL)}"
    parser.add_argument("names", nargs="*", metavar="NAME", default=USUAL, help=told)
    parser.add_argument("--tiny", action="store_true", help="sizes that take a moment, no verdicts")
    parser.add_argument("-o", "--output", type=Path, default=Path("out/benchmarks"))
    given = parser.parse_args(arguments)
    for name in given.names:
        if name not in (*ROWS, *CONTESTS, *baselines):
            parser.error(f"{name!r} is none of {names}, or stands first by itself")
    rows = import_module("benchmarks.rows")
    with rows.quick_processes() if given.tiny else nullcontext():
        for name in given.names:
            rows.record(name, rows_of(name, given.tiny), given.output, judged=not given.tiny)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
