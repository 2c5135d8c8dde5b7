"""The options that commands share, said once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from orthant.bounds.table import CERTIFICATES
from orthant.kmeans.solve import SUBROUTINES
from orthant.onmf.choices import NAMES, SEEDINGS, SETTINGS
from orthant.onmf.options import DEFAULTS

READING, SOLVER, OUTPUT = "Reading the file", "Solver", "Output"
N_INIT, MAX_ITER, TOL = DEFAULTS["n_init"], DEFAULTS["max_iter"], DEFAULTS["tol"]
LONGEST_LIST = 25


def one_of(names: Iterable[str | None]) -> dict[str, Any]:
    """How an option takes a name out of a table; "none" stands for None."""
    known = ["none" if name is None else name for name in names]

    def parsed(text: str) -> str:
        if text not in known:
            raise typer.BadParameter(f"{text!r} is not one of {', '.join(known)}")
        return text

    # Lists that are long break better in the column of the help texts.
    listed = "|".join(known)
    return {"parser": parsed, "metavar": listed if len(listed) <= LONGEST_LIST else "NAME"}


def told(table: Mapping[str, str]) -> str:
    """The names of a table and what they mean."""
    return "; ".join(f"{name}: {meaning}" for name, meaning in table.items())


class Writing(StrEnum):
    """Where the results of an AnnData file go."""

    copy = "copy"
    in_place = "in-place"
    none = "none"


File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="The matrix: .npy .npz .mtx .csv .tsv (.gz) .parquet .h5ad .h5 .zarr, or - for stdin.",
        show_default=False,
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help="Format, when the name does not tell: npy npz mtx csv tsv parquet h5ad h5 zarr edges.",
        rich_help_panel=READING,
    ),
]
Key = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Which array of a file that holds several.",
        rich_help_panel=READING,
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Text: whether the first line holds names; found out by default.",
        show_default=False,
        rich_help_panel=READING,
    ),
]
Index = Annotated[
    bool | None,
    typer.Option(
        "--index/--no-index",
        help="Text: whether the first column holds names; found out by default.",
        show_default=False,
        rich_help_panel=READING,
    ),
]
Transpose = Annotated[
    bool,
    typer.Option(
        "--transpose", help="Turn the matrix: its columns are the rows.", rich_help_panel=READING
    ),
]
Missing = Annotated[
    bool,
    typer.Option(
        "--missing",
        help="NaN and empty cells are missing and left out of the error.",
        rich_help_panel=READING,
    ),
]
MaxBytes = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="Refuse files that would take more memory, such as 500M or 8G (default: half of it).",
        rich_help_panel=READING,
    ),
]
MaxMemory = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="Memory for blocks of rows at work, such as 1G; larger .npy .h5 .zarr stay on disk.",
        rich_help_panel=SOLVER,
    ),
]
CheckpointFile = Annotated[
    Path | None,
    typer.Option(
        "--checkpoint",
        metavar="FILE",
        help="Keep what is found so far in FILE, and go on from it after a break.",
        rich_help_panel=SOLVER,
    ),
]
RowNames = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Names of the rows, one per line.", rich_help_panel=READING),
]
FeatureNames = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Names of the columns, one per line.", rich_help_panel=READING
    ),
]

Components = Annotated[int, typer.Option("--components", "-k", min=1, help="How many components.")]
Orthogonal = Annotated[
    str,
    typer.Option("--orthogonal", help="What components share none of.", **one_of(SETTINGS)),
]
Algorithm = Annotated[
    str,
    typer.Option("--algorithm", help=f"{told(NAMES)}.", rich_help_panel=SOLVER, **one_of(NAMES)),
]
Seeding = Annotated[
    str,
    typer.Option(
        "--seeding",
        metavar="NAME",
        help=f"best: {', '.join(SEEDINGS)}, or a file with components to start from.",
        rich_help_panel=SOLVER,
    ),
]
Kmeans = Annotated[
    str | None,
    typer.Option(
        "--kmeans",
        help=f"paper: the k-means subroutine, {', '.join(SUBROUTINES)}.",
        rich_help_panel=SOLVER,
        **one_of(SUBROUTINES),
    ),
]
Proof = Annotated[
    str,
    typer.Option(
        "--certificate",
        help="Lower bound: svd, dual (stronger, slower) or none.",
        rich_help_panel=SOLVER,
        **one_of(CERTIFICATES),
    ),
]
NInit = Annotated[
    int,
    typer.Option(
        "--n-init", min=1, help="Independent starts; the best is kept.", rich_help_panel=SOLVER
    ),
]
Seed = Annotated[
    int | None,
    typer.Option("--seed", min=0, help="Seed: same seed, same bits.", rich_help_panel=SOLVER),
]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", "-j", help="Threads (default: all cores).", rich_help_panel=SOLVER),
]
Json = Annotated[
    bool,
    typer.Option("--json", help="Print one JSON object, for machines.", rich_help_panel=OUTPUT),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.", rich_help_panel=OUTPUT)]
ImageShape = Annotated[
    str | None,
    typer.Option(
        metavar="HxW",
        help="Features are pixels of pictures of this size, such as 8x8.",
        rich_help_panel=OUTPUT,
    ),
]
