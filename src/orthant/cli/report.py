"""``orthant report``: the page of a folder that ``fit`` wrote, made again."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import typer

import orthant
from orthant.cli import options as o
from orthant.cli.data import Reading, as_image_shape, most_bytes, read_data
from orthant.cli.failures import about
from orthant.cli.folder import MODEL, PAGE, read_model, read_selection, read_summary
from orthant.cli.known import read_known
from orthant.cli.terminal import line, object_line, progress
from orthant.cli.writing import Replacing
from orthant.datasets.readers import FileError
from orthant.report import Story, find, page


def report(
    folder: Annotated[
        Path,
        typer.Argument(metavar="DIR", help="A folder that fit wrote.", show_default=False),
    ],
    data: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="The data, if they are no longer where they were."),
    ] = None,
    image_shape: o.ImageShape = None,
    groups: o.Groups = None,
    json: o.Json = False,
    quiet: o.Quiet = False,
    max_bytes: o.MaxBytes = None,
) -> None:
    """Make the page of DIR again, with the curve over k if select-k wrote into it."""
    summary = read_summary(folder)
    result = read_model(folder / MODEL, most_bytes(max_bytes))
    file, reading = source_of(folder, summary, data)
    with progress(f"reading {Path(file).name}", quiet):
        held = read_data(file, reading)
        shapes = (result.loadings.shape[0], result.components.shape[1])
        if tuple(held.X.shape) != shapes:
            raise FileError(f"{file}: its shape {held.X.shape} is not {shapes}, that of the model")
        found = find(held.X, result, missing=reading.missing)
        groups = groups or summary.get("options", {}).get("groups")
        known = read_known(groups, file, reading, shapes[0])
    captured = summary.get("captured")
    if not isinstance(captured, float) or not math.isclose(captured, found.captured, rel_tol=1e-6):
        raise FileError(f"{file}: it is not what was factorized, or has changed since")
    shape = image_shape or summary.get("options", {}).get("image_shape")
    story = Story(
        result,
        found,
        Path(file).name,
        held.row_names,
        held.column_names,
        as_image_shape(shape, shapes[1]),
        selection=read_selection(folder),
        remarks=[str(one) for one in summary.get("remarks") or ()],
        version=orthant.__version__,
        chance=summary.get("captured_by_chance"),
        **known,
    )
    about(folder)
    with Replacing(folder) as files:
        html = page(story)
        files.text(PAGE, lambda written: written.write(html))
    place = (folder / PAGE).resolve()
    if json:
        object_line({"page": str(place), "bytes": place.stat().st_size})
    else:
        line(f"look at {place}")


def source_of(folder: Path, summary: dict[str, Any], data: str | None) -> tuple[str, Reading]:
    """Where the data of a folder are, unless ``data`` names them, and how they are read."""
    given = summary["input"]
    file = data or given["file"]
    if file == "-" and data is None:
        raise FileError(f"{folder}: the data came from stdin; name them with --data FILE")
    return file, Reading.from_plain(given["reading"])
