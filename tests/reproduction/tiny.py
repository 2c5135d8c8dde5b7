"""A small experiment, and a program for it: ``python -m tests.reproduction.tiny DIR JOBS``."""

import sys
from pathlib import Path

from orthonmf.reproduction.definition import PLANTED, Definition, Method, Setting, plan_all
from orthonmf.reproduction.runner import carry_out

NOISES, SEEDS = (0.1, 1.0), (0, 1)
TINY = Definition(
    name="experiment-2",
    title="Tiny",
    settings=tuple(Setting(PLANTED, "samples", 40, 8, 2, noise) for noise in NOISES),
    methods=(
        Method("onmf-apx", SEEDS, 30.0),
        Method("best", SEEDS, 30.0),
        Method("em-onmf", SEEDS, 30.0),
        Method("onmfs", SEEDS, 30.0),  # takes a while, so that there is a middle to kill it in
    ),
)
RUNS = plan_all([TINY])

if __name__ == "__main__":
    carry_out(RUNS, Path(sys.argv[1]), jobs=int(sys.argv[2]))
