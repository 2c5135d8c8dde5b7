"""Damage files at random and read them: ``python -m tests.fuzz --minutes 30``."""

import argparse
import sys
import time
from itertools import count

from tests.fuzz.campaign import Cases, campaign


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, help="how long (default: one minute)")
    parser.add_argument("--hours", type=float, help="how long, in hours")
    parser.add_argument("--count", type=int, help="how many files, in place of a time")
    parser.add_argument("--seed", type=int, default=0, help="the same seed makes the same files")
    parser.add_argument("--case", type=int, help="read this one file again")
    parser.add_argument("--format", action="append", default=[], help="only these formats")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--keep", default="fuzz-failures", help="folder for files that fail")
    given = parser.parse_args()
    cases = Cases(given.seed, given.format)
    seconds = None
    if given.case is not None:
        numbers = [given.case]
    elif given.count is not None:
        numbers = range(given.count)
    else:
        numbers = count()
        seconds = 60 * ((given.minutes or 0) + 60 * (given.hours or 0) or 1)
    start = time.monotonic()
    seen = campaign(
        cases, numbers, jobs=given.jobs, keep=given.keep, seconds=seconds,
        tell=lambda failure: print(failure, flush=True),
    )  # fmt: skip
    print(seen.table())
    total = sum(sum(ended.values()) for ended in seen.counts.values())
    spent = time.monotonic() - start
    print(f"{total} files in {spent:.0f} s; {len(seen.failures)} failures, kept in {given.keep}")
    sys.exit(1 if seen.failures else 0)


if __name__ == "__main__":
    main()
