"""Try everything and write the page: `python -m benchmarks reliability --write PAGE`.

Every try is a process of its own with limited memory, so that a crash is seen as a crash. What
they use is imported once, before they are forked.
"""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import orthonmf
from benchmarks.reliability.faults import FAULTS
from benchmarks.reliability.files import FILES
from benchmarks.reliability.inputs import SECTIONS
from benchmarks.reliability.trying import LONGEST, MEMORY, SECONDS, try_it

EVERYTHING = {**SECTIONS, "Faults": FAULTS, "Files": FILES}
LIBRARIES = ("numpy", "scipy", "scikit-learn", "h5py", "pandas", "dask")
TEXT = Path(__file__).with_name("page.md")


def names() -> list[str]:
    """The first cells of all rows, in the order of the page."""
    return [case.name for tries in EVERYTHING.values() for case in tries]


def in_folder(work: Callable[[], str]) -> str:
    """Try it in an empty folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        return try_it(lambda: os.chdir(folder) or work())


def tables(wanted: str) -> str:
    """A table for every section, with the rows whose names contain a text."""
    lines = []
    for heading, tries in EVERYTHING.items():
        if chosen := [case for case in tries if wanted in case.name]:
            lines += [f"### {heading}", "", "| input | orthonmf | scikit-learn |", "|---|---|---|"]
            for case in chosen:
                answers = in_folder(case.orthonmf), in_folder(case.scikit_learn)
                lines.append(f"| {case.name} | {' | '.join(answers)} |")
            lines.append("")
    return "\n".join(lines).strip()


def page(wanted: str = "") -> str:
    """The whole page, tables included."""
    stated = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    text = TEXT.read_text(encoding="utf-8")
    for name, value in {
        "MACHINE": f"orthonmf {orthonmf.__version__}, Python {platform.python_version()}, {stated}",
        "SECONDS": str(SECONDS),
        "MEMORY": f"{MEMORY // 2**30} GiB",
        "LONGEST": str(LONGEST),
        "TABLES": tables(wanted),
        "SOAK": TEXT.with_name("soak.md").read_text(encoding="utf-8").strip(),
    }.items():
        text = text.replace(f"@{name}@", value)
    return text


def main(arguments: list[str] | None = None) -> None:
    """Print the page or write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, help="the page to write; printed otherwise")
    parser.add_argument("--only", default="", help="rows whose name contains this text")
    given = parser.parse_args(arguments)
    text = page(given.only)
    if given.write:
        given.write.write_text(text, encoding="utf-8")
    else:
        print(text, end="")
