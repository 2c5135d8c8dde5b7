"""Run the paper's experiments again and compare with what it says: `python -m experiments all`.

One row per run goes to results.csv as soon as it is finished; an interrupted command goes on where
it ended. Every run has one core and is timed, unless several run at once.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from experiments.bounds import prove
from experiments.measuring import takes_setting
from experiments.page import publish
from experiments.paper import FULL, QUICK, choose_methods, experiments, plan
from experiments.runner import RESULTS, carry_out, is_missing

ALL, REAL = "all", "real-data"


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """The options of the command."""
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    parser.add_argument("name", choices=(*experiments(), ALL), help="the experiment, or all")
    parser.add_argument(
        "--quick", action="store_true", help="three noises, three seeds, 5 seconds a run"
    )
    parser.add_argument("-o", "--output", type=Path, help="folder (default: out/experiments)")
    parser.add_argument(
        "-j", "--jobs", type=int, default=1, help="runs at the same time; if several, no times"
    )
    parser.add_argument("--data-home", type=Path, help="where the real data sets lie")
    parser.add_argument("--methods", help="only these methods: best,nmf or any other baseline")
    parser.add_argument("--page-only", action="store_true", help="figures and page, no runs")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Run, then write summary, figures and page; the exit code."""
    given = parse(arguments)
    folder = given.output or Path("out/experiments-quick" if given.quick else "out/experiments")
    if not given.page_only:
        scale = QUICK if given.quick else FULL
        known = experiments(scale)
        chosen = list(known.values()) if given.name == ALL else [known[given.name]]
        if given.methods:
            chosen = choose_methods(chosen, given.methods.split(","), takes_setting)
        try:
            results = carry_out(plan(chosen), folder, given.data_home, given.jobs)
            if given.name in (ALL, REAL) and not given.methods:
                prove(folder, scale.proof_limit, given.data_home)
        except KeyboardInterrupt:
            where = folder / RESULTS
            print(f"interrupted; rows are safe in {where}, and the same command goes on",
                  file=sys.stderr)  # fmt: skip
            return 130
        for reason in {row["stop_reason"] for row in results.rows.values() if is_missing(row)}:
            print(reason, file=sys.stderr)
    for path in publish(folder):
        print(f"wrote {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
