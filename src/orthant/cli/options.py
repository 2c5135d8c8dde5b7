"""The options that commands share, said once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from orthant.certificate import CERTIFICATES, FORMER
from orthant.datasets.readers import FORMATS
from orthant.errors import OrthantError
from orthant.kmeans.solve import SUBROUTINES
from orthant.onmf.choices import NAMES, SEEDINGS, SETTINGS
from orthant.onmf.options import DEFAULTS
from orthant.validation.parameters import as_n_init, name_nearest

READING, SOLVER, OUTPUT = "Reading the file", "Solver", "Output"
PREPARING = "Preparing the matrix"
N_INIT, MAX_ITER, TOL = DEFAULTS["n_init"], DEFAULTS["max_iter"], DEFAULTS["tol"]
LONGEST_LIST = 25
KINDS_OF_PROOF = {name or "none": about for name, about in CERTIFICATES.items()}


def parse_n_init(text: str) -> Any:
    """A positive integer, or "auto"."""
    try:
        return as_n_init(int(text) if text.lstrip("+-").isdigit() else text)
    except OrthantError as error:
        raise typer.BadParameter(str(error)) from error


def parse_sizes(text: str) -> Any:
    """A positive integer, or two of them with a comma between."""
    found = re.fullmatch(r"\s*(\d{1,9})\s*(?:,\s*(\d{1,9})\s*)?", str(text))
    sizes = [int(one) for one in found.groups() if one is not None] if found else []
    if not sizes or min(sizes) < 1:
        raise typer.BadParameter(f"{text!r} is no positive integer, nor two such as 6,4")
    return sizes[0] if len(sizes) == 1 else (sizes[0], sizes[1])


def one_of(names: Iterable[str | None]) -> dict[str, Any]:
    """How an option takes a name out of a table; "none" stands for None."""
    known = ["none" if name is None else name for name in names]

    def parse(text: str) -> str:
        if text not in known:
            meant = name_nearest(text, known)
            raise typer.BadParameter(f"{text!r} is not one of {', '.join(known)}{meant}")
        return text

    # Lists that are long break better in the column of the help texts.
    listed = "|".join(known)
    return {"parser": parse, "metavar": listed if len(listed) <= LONGEST_LIST else "NAME"}


def explain(table: Mapping[str, str]) -> str:
    """The names of a table and what they mean."""
    return "; ".join(f"{name}: {meaning}" for name, meaning in table.items())


_reading = partial(typer.Option, rich_help_panel=READING)
solver = partial(typer.Option, rich_help_panel=SOLVER)
printing = partial(typer.Option, rich_help_panel=OUTPUT)


def output(help: str, metavar: str = "DIR", panel: str | None = OUTPUT, **given: Any) -> Any:
    """Where a command writes; commands with few options show them without panels."""
    return typer.Option(
        "--output", "-o", metavar=metavar, help=help, rich_help_panel=panel, **given
    )


class Writing(StrEnum):
    """Where the results of an AnnData file go."""

    copy = "copy"
    in_place = "in-place"
    none = "none"


File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help=f"The matrix: {' '.join(f'.{name}' for name in FORMATS)}, or - for stdin.",
        show_default=False,
    ),
]
Format = Annotated[
    str | None,
    _reading(metavar="NAME", help=f"Format, when the name does not tell: {' '.join(FORMATS)}."),
]
Key = Annotated[
    str | None, _reading(metavar="NAME", help="Which array of a file that holds several.")
]
_FOUND_OUT = "Text: whether the first {} holds names; found out by default."
Header = Annotated[
    bool | None,
    _reading("--header/--no-header", help=_FOUND_OUT.format("line"), show_default=False),
]
Index = Annotated[
    bool | None,
    _reading("--index/--no-index", help=_FOUND_OUT.format("column"), show_default=False),
]
Transpose = Annotated[
    bool, _reading("--transpose", help="Turn the matrix: its columns are the rows.")
]
Missing = Annotated[
    bool, _reading("--missing", help="NaN and empty cells are missing and left out of the error.")
]
MaxBytes = Annotated[
    str | None,
    _reading(
        metavar="SIZE",
        help="Refuse files that would take more memory, such as 500M or 8G (default: half of it).",
    ),
]
RowNames = Annotated[Path | None, _reading(metavar="FILE", help="Names of the rows, one per line.")]
FeatureNames = Annotated[
    Path | None, _reading(metavar="FILE", help="Names of the columns, one per line.")
]

Columns = Annotated[
    str | None, _reading(metavar="NAMES", help="Only these columns of the file: name,name.")
]
Drop = Annotated[str | None, _reading(metavar="NAMES", help="All columns of the file but these.")]
_preparing = partial(typer.Option, rich_help_panel=PREPARING)
Normalize = Annotated[
    str | None,
    _preparing(
        "--normalize",
        help="rows: every row at length 1; totals: at the median total, before all else.",
        **one_of(("rows", "totals")),
    ),
]
Log1p = Annotated[bool, _preparing("--log1p", help="log(1 + x) of every entry.")]
Tfidf = Annotated[bool, _preparing("--tfidf", help="Counts of terms times how rare each is.")]
ScaleFeatures = Annotated[
    bool, _preparing("--scale-features", help="Columns over the root of their mean square.")
]
Weights = Annotated[
    str | None,
    solver(
        "--weights",
        help="Weights made from the matrix. chi-square: 1 over totals of rows and columns.",
        **one_of(("chi-square",)),
    ),
]

Components = Annotated[
    str,
    typer.Option(
        "--components",
        "-k",
        parser=parse_sizes,
        metavar="K|K,L",
        help="How many components; over both K,L: groups of rows and of columns with a core.",
    ),
]
Orthogonal = Annotated[
    str, typer.Option("--orthogonal", help="What components share none of.", **one_of(SETTINGS))
]
Algorithm = Annotated[str, solver("--algorithm", help=f"{explain(NAMES)}.", **one_of(NAMES))]
Seeding = Annotated[
    str,
    solver(
        "--seeding",
        metavar="NAME",
        help=f"best: {', '.join(SEEDINGS)}, or a file with components to start from.",
    ),
]
Kmeans = Annotated[
    str | None,
    solver(
        "--kmeans",
        help=f"paper: the k-means subroutine, {', '.join(SUBROUTINES)}.",
        **one_of(SUBROUTINES),
    ),
]
Proof = Annotated[
    str,
    solver(
        "--certificate",
        help=f"Lower bound. {explain(KINDS_OF_PROOF)}.",
        **one_of({**CERTIFICATES, **FORMER}),
    ),
]
ProofSeconds = Annotated[
    float,
    solver("--certificate-seconds", min=0.0, help="What the search of a tight one may take."),
]
NInit = Annotated[
    str,
    solver(
        "--n-init",
        parser=parse_n_init,
        metavar="N|auto",
        help="Tournaments of starts; paper: starts.",
    ),
]
Seed = Annotated[int | None, solver("--seed", min=0, help="Seed: same seed, same bits.")]
Jobs = Annotated[int | None, solver("--jobs", "-j", help="Threads (default: all cores).")]
MaxMemory = Annotated[
    str | None,
    solver(
        metavar="SIZE",
        help="Memory for blocks of rows at work, such as 1G; larger .npy .h5 .zarr stay on disk.",
    ),
]
CheckpointFile = Annotated[
    Path | None,
    solver(
        "--checkpoint",
        metavar="FILE",
        help="Keep what is found so far in FILE, and go on from it after a break.",
    ),
]
Json = Annotated[bool, printing("--json", help="Print one JSON object, for machines.")]
Quiet = Annotated[bool, printing("--quiet", "-q", help="No progress.")]
Plugin = Annotated[
    list[str] | None,
    typer.Option(
        "--plugin",
        metavar="FILE|MODULE",
        help="Python that registers methods of your own (orthant.baselines.register).",
    ),
]
ImageShape = Annotated[
    str | None,
    printing(metavar="HxW", help="Features are pixels of pictures of this size, such as 8x8."),
]
Groups = Annotated[
    str | None,
    printing(
        metavar="FILE|obs:NAME",
        help="Known groups of the rows for the page: a name per line, or what obs of .h5ad says.",
    ),
]
