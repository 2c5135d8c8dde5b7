"""``orthonmf transform``: new rows expressed by the components of a model."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, TextIO

import numpy as np

from orthonmf.cli import options as o
from orthonmf.cli.data import PREPARING, Reading, read_data, takes_reading
from orthonmf.cli.failures import about, writing_stdout
from orthonmf.cli.folder import MODEL, read_model
from orthonmf.cli.terminal import object_line, progress
from orthonmf.engine.losses import LOSSES
from orthonmf.engine.profiles import average_row
from orthonmf.factorization import Factorization
from orthonmf.files.readers import FileError, NamedMatrix
from orthonmf.files.whole_files import replacing
from orthonmf.inputs.data import as_matrix
from orthonmf.report import Story, find
from orthonmf.report.tables import assignments, names_or_numbers, write_rows


@takes_reading(*PREPARING)
def transform(
    model: Annotated[Path, o.argument("MODEL", "A model.npz, or the folder it is in.")],
    file: o.File,
    reading: Reading,
    output: Annotated[Path | None, o.output("File to write (default: stdout).", "CSV")] = None,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Give the rows of FILE to the components of MODEL and write a table of them.

    Over samples and both: the component, scale and share captured of every row. Over features:
    the loading of every row on every component.
    """
    path = model / MODEL if model.is_dir() else model
    fitted = read_model(path, reading.max_bytes)
    stream = fitted.preparation is None  # rows that are prepared are read whole
    data = read_data(file, reading, quiet=quiet, stream=stream)
    with progress(f"expressing {Path(file).name}", quiet):
        # Columns that are named otherwise may stand in another order.
        names = zip(data.column_names or (), fitted.feature_names or (), strict=False)
        for place, (name, wanted) in enumerate(names):
            if name != wanted:
                raise FileError(
                    f"{data.source}: column {place} is {name!r}, but the model has {wanted!r} there"
                )
        story = _transform(data, fitted, reading.missing_values)
    if json:
        k, findings = fitted.n_components_found, story.findings
        counts = [len(findings.rows_of(component)) for component in range(k)]
        told = {"rows": story.shape[0], "components": k, "captured": findings.captured}
        object_line({**told, "rows_per_component": counts})
    if output is not None:
        about(output)
        with replacing(output, encoding="utf-8", newline="") as written:
            _write(written, story)
    elif not json:
        with writing_stdout():
            _write(sys.stdout, story)


def _transform(data: NamedMatrix, fitted: Factorization, missing: float | None) -> Story:
    if fitted.preparation is not None:
        data = replace(data, X=fitted.preparation.apply(data.X))
    matrix = as_matrix(data.X, feature_weight=fitted.feature_weight, missing_values=missing)
    projected = LOSSES[fitted.beta_loss].express(matrix, fitted.components, fitted.orthogonal)
    result = replace(
        fitted,
        loadings=projected.loadings,
        labels=projected.labels,
        scales=projected.scales,
        sample_names=data.row_names,
    )
    average = average_row(fitted.loadings, fitted.components)
    findings = find(data.X, result, missing_values=missing, average=average)
    return Story(result, findings, data.source)


def _write(file: TextIO, story: Story) -> None:
    if story.result.labels is not None:
        write_rows(file, *assignments(story))
        return
    loadings = np.asarray(story.result.loadings)
    headings = ("row", *(f"component_{number}" for number in range(loadings.shape[1])))
    names = names_or_numbers(story.result.sample_names, len(loadings))
    rows = ((name, *values) for name, values in zip(names, loadings.tolist(), strict=True))
    write_rows(file, headings, rows)
