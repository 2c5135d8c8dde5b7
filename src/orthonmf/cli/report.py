"""``orthonmf report``: the page of a folder that ``fit`` wrote, made again."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

from orthonmf.cli import options as o
from orthonmf.cli.data import as_image_shape, read_data, read_known
from orthonmf.cli.folder import PAGE, read_folder, read_selection, read_stability, write_files
from orthonmf.cli.terminal import line, object_line, progress
from orthonmf.files.readers import FileError
from orthonmf.report import Story, find, page


def report(
    folder: Annotated[Path, o.argument("DIR", "A folder that fit wrote.")],
    data: Annotated[
        str | None, o.value("FILE", "The data, if they are no longer where they were.")
    ] = None,
    image_shape: o.ImageShape = None,
    groups: o.Groups = None,
    json: o.Json = False,
    quiet: o.Quiet = False,
    max_bytes: o.MaxBytes = None,
) -> None:
    """Make the page of DIR again, with the curve over k if select-k wrote into it."""
    summary, result, file, reading = read_folder(folder, data, max_bytes)
    matrix = read_data(file, reading, quiet=quiet)
    with progress(f"looking at {Path(file).name}", quiet):
        findings = find(matrix.X, result, missing_values=reading.missing_values)
        n, m = findings.matrix.shape
        options = summary["options"]
        known_before = read_known(groups or options.get("groups"), file, reading, n)
    captured = summary.get("captured")
    same = isinstance(captured, float) and math.isclose(captured, findings.captured, rel_tol=1e-6)
    if not same:
        raise FileError(f"{file}: it is not what was factorized, or has changed since")
    story = Story(
        result,
        findings,
        Path(matrix.source).name,
        image_shape=as_image_shape(image_shape or options.get("image_shape"), m),
        selection=read_selection(folder),
        remarks=summary["remarks"],
        chance=summary.get("captured_by_chance"),
        stability=read_stability(folder, result, max_bytes),
        by_command=True,
        **known_before,
    )
    write_files(folder, {PAGE: page(story)})
    written = (folder / PAGE).resolve()
    if json:
        object_line({"page": str(written), "bytes": written.stat().st_size})
    else:
        line(f"look at {written}")
