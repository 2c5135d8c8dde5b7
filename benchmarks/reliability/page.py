"""Try everything and write the page: `python -m benchmarks reliability --write PAGE`.

Every try is a process of its own with limited memory, so that a crash is seen as a crash.
"""

import argparse
import os
import platform
import tempfile
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import orthonmf
from benchmarks.reliability import files, inputs
from benchmarks.reliability.answers import by_orthonmf, by_scikit_learn
from benchmarks.reliability.faults import FAULTS
from benchmarks.reliability.trying import LONGEST, MEMORY, SECONDS, try_it

SECTIONS = {
    "Values": inputs.VALUES,
    "Shapes and parameters": inputs.SHAPES,
    "Types and layout": inputs.TYPES,
    "Sparse matrices": inputs.SPARSE,
    "Weights": inputs.WEIGHTS,
}
# Imported once, before the processes are forked that use them.
for name in ("sklearn.cluster", "sklearn.decomposition", "h5py", "pandas", "dask.array", "joblib"):
    import_module(name)
import_module("orthonmf.cli.fit")
LIBRARIES = ("numpy", "scipy", "scikit-learn", "h5py", "pandas", "dask")
TEXT = Path(__file__).with_name("page.md")


def names() -> list[str]:
    """The first cells of all rows, in the order of the page."""
    rows = [case.name for section in SECTIONS.values() for case in section]
    rows += [fault.name for fault in FAULTS]
    return rows + [name_of(case) for case in files.FILES]


def in_folder(work, *arguments) -> str:
    """Try it in an empty folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        return try_it(lambda: os.chdir(folder) or work(*arguments))


def rows_of(wanted: str):
    """The tables: a heading, and rows of three cells, for the names that contain a text."""
    for heading, cases in SECTIONS.items():
        chosen = [case for case in cases if wanted in case.name]
        yield (
            heading,
            [(case.name, *by_both(by_orthonmf, by_scikit_learn, case)) for case in chosen],
        )
    faults = [case for case in FAULTS if wanted in case.name]
    yield "Faults", [(case.name, *by_both(case.orthonmf, case.scikit_learn)) for case in faults]
    chosen = [case for case in files.FILES if wanted in case.name]
    readers = files.read_by_orthonmf, files.read_by_users
    yield "Files", [(name_of(case), *by_both(*readers, case)) for case in chosen]


def by_both(ours, theirs, *arguments) -> tuple[str, str]:
    """What either library makes of it."""
    return in_folder(ours, *arguments), in_folder(theirs, *arguments)


def name_of(case) -> str:
    """The first cell of the row of a file."""
    return f"`{case.file}`: {case.name}"


def page(wanted: str = "") -> str:
    """The whole page, tables included."""
    lines = []
    for heading, rows in rows_of(wanted):
        if rows:
            lines += [f"### {heading}", "", "| input | orthonmf | scikit-learn |", "|---|---|---|"]
            lines += [f"| {' | '.join(row)} |" for row in rows] + [""]
    stated = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    machine = f"orthonmf {orthonmf.__version__}, Python {platform.python_version()}, {stated}"
    text = TEXT.read_text(encoding="utf-8")
    for name, value in {
        "MACHINE": machine,
        "SECONDS": str(SECONDS),
        "MEMORY": f"{MEMORY // 2**30} GiB",
        "LONGEST": str(LONGEST),
        "TABLES": "\n".join(lines).strip(),
        "SOAK": TEXT.with_name("soak.md").read_text(encoding="utf-8").strip(),
    }.items():
        text = text.replace(f"@{name}@", value)
    return text


def main(arguments=None) -> None:
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
