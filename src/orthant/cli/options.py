"""The options that commands share, said once."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

READING, SOLVER, OUTPUT = "Reading the file", "Solver", "Output"


class Setting(StrEnum):
    """What components share none of."""

    samples = "samples"
    features = "features"
    both = "both"


class Algorithm(StrEnum):
    """Ours, or the published one."""

    best = "best"
    paper = "paper"


class Kmeans(StrEnum):
    """The k-means subroutine of the published algorithm."""

    kmeans_plus_plus = "k-means++"
    greedy = "greedy-k-means++"
    ls_plus_plus = "ls++"
    local_search = "local-search"


class Proof(StrEnum):
    """How the lower bound is found."""

    svd = "svd"
    dual = "dual"
    none = "none"


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
Orthogonal = Annotated[Setting, typer.Option("--orthogonal", help="What components share none of.")]
AlgorithmName = Annotated[
    Algorithm,
    typer.Option(
        "--algorithm",
        help="best: as good an answer as we find; paper: as published.",
        rich_help_panel=SOLVER,
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
