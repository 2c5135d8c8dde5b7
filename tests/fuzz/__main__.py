"""Damage files at random and read them: ``python -m tests.fuzz --minutes 30``."""

import argparse
import sys
from itertools import count, takewhile
from time import monotonic

from tests.fuzz.campaign import Cases, campaign


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0, help="how long")
    parser.add_argument("--count", type=int, help="how many files, in place of a time")
    parser.add_argument("--seed", type=int, default=0, help="the same seed makes the same files")
    parser.add_argument("--case", type=int, help="read this one file again")
    parser.add_argument("--format", action="append", default=[], help="only these formats")
    parser.add_argument("--keep", default="fuzz-failures", help="folder for files that fail")
    given = parser.parse_args()
    end = monotonic() + 60 * given.minutes
    numbers = takewhile(lambda number: monotonic() < end, count())
    if given.case is not None:
        numbers = [given.case]
    elif given.count is not None:
        numbers = range(given.count)
    seen = campaign(Cases(given.seed, given.format), numbers, given.keep)
    print(seen.table())
    print(f"{len(seen.failures)} failures, kept in {given.keep}")
    sys.exit(1 if seen.failures else 0)


if __name__ == "__main__":
    main()
