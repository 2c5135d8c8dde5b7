"""The options that commands share, said once, and how their texts are read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import typer

from orthonmf.certificate import CERTIFICATES
from orthonmf.engine.losses import LOSSES
from orthonmf.errors import InvalidInputError, OrthoNMFError
from orthonmf.files.readers import FORMATS
from orthonmf.inputs.parameters import as_n_init, name_nearest
from orthonmf.kmeans.subroutines import SUBROUTINES
from orthonmf.onmf.algorithms import INITS, NAMES, SETTINGS
from orthonmf.onmf.options import DEFAULTS

READING, SOLVER, OUTPUT = "Reading the file", "Solver", "Output"
N_INIT, MAX_ITER, TOL = "auto", DEFAULTS["max_iter"], DEFAULTS["tol"]
LONGEST_LIST = 25
MOST_NUMBERS = 1000


def parse_n_init(text: str) -> Any:
    """A positive integer, or "auto"."""
    try:
        return as_n_init(int(text) if text.lstrip("+-").isdigit() else text)
    except OrthoNMFError as error:
        raise typer.BadParameter(str(error)) from error


def parse_sizes(text: str) -> Any:
    """A positive integer, or two of them with a comma between."""
    written = re.fullmatch(r"\s*\d{1,18}\s*(,\s*\d{1,18}\s*)?", str(text))
    sizes = [int(size) for size in str(text).split(",")] if written else []
    if not sizes or min(sizes) < 1:
        raise typer.BadParameter(f"{text!r} is no positive integer, nor two such as 6,4")
    return sizes[0] if len(sizes) == 1 else (sizes[0], sizes[1])


def as_numbers(text: str, option: str) -> list[int]:
    """The numbers of 2:20 (20 included), 2:40:2 or 3,5,8."""
    ends = re.fullmatch(r"(\d{1,18}):(\d{1,18})(?::(\d{1,18}))?", text.strip())
    numbers: Sequence[int]
    if ends:
        first, last, step = int(ends[1]), int(ends[2]), int(ends[3] or 1)
        numbers = range(first, last + 1, step) if step else range(0)
    elif re.fullmatch(r"\d{1,18}(,\s*\d{1,18})*", text.strip()):
        numbers = list(dict.fromkeys(map(int, text.split(","))))
    else:
        raise InvalidInputError(f"{option}: {text!r} is no range; write for instance 2:20 or 3,5,8")
    if not 0 < len(numbers) <= MOST_NUMBERS or min(numbers) < 1:
        raise InvalidInputError(
            f"{option}: {text!r} must name 1 to {MOST_NUMBERS} positive numbers"
        )
    return list(numbers)


def as_candidates(text: str, option: str) -> list[int] | list[tuple[int, int]]:
    """Numbers as above, or with two ranges, 2:8,2:8, all pairs of them."""
    if not re.fullmatch(r"\s*\d+:[\d:]+\s*,\s*\d+:[\d:]+\s*", text):
        return as_numbers(text, option)
    down, across = (as_numbers(numbers, option) for numbers in text.split(","))
    if len(down) * len(across) > MOST_NUMBERS:
        raise InvalidInputError(f"{option}: {text!r} names more than {MOST_NUMBERS} pairs")
    return list(product(down, across))


def as_names(text: str, option: str) -> list[str]:
    """The names of a list such as ID,Year, each once."""
    names = list(dict.fromkeys(name.strip() for name in text.split(",")))
    if not all(names):
        raise InvalidInputError(f"{option}: {text!r} holds an empty name; write for instance a,b")
    return names


def one_of(names: Iterable[str | None]) -> dict[str, Any]:
    """How an option takes a name out of a table; "none" stands for None."""
    choices = ["none" if name is None else name for name in names]

    def parse(text: str) -> str:
        if text not in choices:
            meant = name_nearest(text, choices)
            raise typer.BadParameter(f"{text!r} is not one of {', '.join(choices)}{meant}")
        return text

    # Lists that are long break better in the column of the help texts.
    listed = "|".join(choices)
    return {"parser": parse, "metavar": listed if len(listed) <= LONGEST_LIST else "NAME"}


def explain(table: Mapping[str | None, str]) -> str:
    """The names of a table and what they mean."""
    return "; ".join(f"{name or 'none'}: {meaning}" for name, meaning in table.items())


def value(metavar: str, help: str, *names: str, panel: str | None = None, **given: Any) -> Any:
    """An option that takes a value; commands with few options show them without panels."""
    return typer.Option(*names, metavar=metavar, help=help, rich_help_panel=panel, **given)


def flag(name: str, help: str, panel: str | None = None, **given: Any) -> Any:
    """An option that takes no value."""
    return typer.Option(name, help=help, rich_help_panel=panel, **given)


def choice(name: str, help: str, table: Iterable[str | None], panel: str | None = SOLVER) -> Any:
    """An option that takes a name out of a table."""
    return flag(name, help, panel, **one_of(table))


def output(help: str, metavar: str = "DIR", panel: str | None = OUTPUT) -> Any:
    """Where a command writes."""
    return value(metavar, help, "--output", "-o", panel=panel)


def argument(metavar: str, help: str) -> Any:
    """What stands before all options."""
    return typer.Argument(metavar=metavar, help=help, show_default=False)


def proof(kinds: Mapping[str | None, str]) -> Any:
    """What the lower bound of a certificate is made of."""
    return choice("--certificate", f"Lower bound. {explain(kinds)}.", kinds)


def components(help: str) -> Any:
    """How many components, or groups of both sides."""
    return value("K|K,L", help, "--components", "--k", "-k", parser=parse_sizes)


reading = partial(value, panel=READING)
solver = partial(value, panel=SOLVER)
printing = partial(value, panel=OUTPUT)
page_flag = partial(flag, "--report", panel=OUTPUT)


File = Annotated[
    str,
    argument("FILE", f"The matrix: {' '.join(f'.{name}' for name in FORMATS)}, or - for stdin."),
]
MaxBytes = Annotated[
    str | None,
    reading(
        "SIZE",
        "Refuse files that would take more memory, such as 500M or 8G (default: half of it).",
    ),
]
Weights = Annotated[
    str | None,
    choice(
        "--weights",
        "Weights made from the matrix. chi-square: 1 over totals of rows and columns.",
        ("chi-square",),
    ),
]
Components = Annotated[
    str,
    components("How many components; over both K,L: groups of rows and of columns with a core."),
]
Orthogonal = Annotated[
    str,
    choice(
        "--orthogonal",
        "What is in one component alone: samples (rows), features (columns) or both.",
        SETTINGS,
        None,
    ),
]
BetaLoss = Annotated[
    str,
    choice("--beta-loss", f"What an entry costs: {' or '.join(LOSSES)}, for counts.", LOSSES),
]
Algorithm = Annotated[str, choice("--algorithm", f"{explain(NAMES)}.", NAMES)]
Init = Annotated[
    str,
    solver("NAME", f"Where to start: {', '.join(INITS)}, or a file with components."),
]
Kmeans = Annotated[
    str | None,
    choice(
        "--kmeans",
        f"For --algorithm paper, its k-means subroutine: {', '.join(SUBROUTINES)}.",
        SUBROUTINES,
    ),
]
Proof = Annotated[str, proof(CERTIFICATES)]
ProofSeconds = Annotated[
    float, solver("SECONDS", "What the search of a tight one may take.", min=0.0)
]
NInit = Annotated[
    str,
    solver(
        "N|auto",
        "How many tournaments of starts; with --algorithm paper how many starts.",
        parser=parse_n_init,
    ),
]
Refits = Annotated[
    int,
    solver(
        "N",
        "Fit N times more under random weights (20 is good): certainty of every row, and a section "
        "of the page.",
        min=0,
    ),
]
Seed = Annotated[
    int | None,
    solver("N", "Same seed, same bits (default: one is drawn and printed).", min=0),
]
Jobs = Annotated[int | None, solver("N", "Threads (default: all cores).", "--jobs", "-j")]
MaxMemory = Annotated[
    str | None,
    solver(
        "SIZE", "Memory for blocks of rows at work, such as 1G; larger .npy .h5 .zarr stay on disk."
    ),
]
CheckpointFile = Annotated[
    Path | None,
    solver("FILE", "Keep what is found so far in FILE, and go on from it after a break."),
]
Json = Annotated[bool, flag("--json", "Print one JSON object, for machines.", OUTPUT)]
Quiet = Annotated[bool, printing("", "No progress.", "--quiet", "-q")]
ImageShape = Annotated[
    str | None, printing("HxW", "Features are pixels of pictures of this size, such as 8x8.")
]
Groups = Annotated[
    str | None,
    printing(
        "FILE|obs:NAME",
        "Known groups of the rows for the page: a name per line, or what obs of .h5ad says.",
    ),
]
