"""``orthant fit``: from a file to a folder with the answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np

import orthant
from orthant.certificate import CERTIFICATE_SECONDS
from orthant.cli import options as o
from orthant.cli.annotated import annotate
from orthant.cli.data import (
    Reading,
    as_image_shape,
    make_weights,
    read_data,
    read_weights,
    takes_reading,
)
from orthant.cli.failures import about
from orthant.cli.folder import PAGE, check_folder, read_selection, summary_of, write_folder
from orthant.cli.known import as_written, read_known
from orthant.cli.proving import prove, times_of
from orthant.cli.terminal import line, object_line, progress, prose, table
from orthant.datasets.readers import NamedMatrix
from orthant.errors import InvalidInputError
from orthant.fitting import SEEDINGS, factorize
from orthant.report import Story, find
from orthant.report.chance import captured_by_chance
from orthant.report.story import percent

# Wider tables of a core do not fit a terminal; core.csv has them.
MOST_GROUPS = 8


@takes_reading()
def fit(
    file: o.File,
    reading: Reading,
    components: o.Components = "8",
    orthogonal: o.Orthogonal = "samples",
    output: Annotated[
        Path | None, o.output("Folder to write (default: NAME.orthant here).")
    ] = None,
    report: Annotated[
        bool, o.printing("--report", help="Also write the page report.html.")
    ] = False,
    image_shape: o.ImageShape = None,
    groups: o.Groups = None,
    h5ad: Annotated[
        o.Writing,
        o.printing(
            help="Results of an .h5ad file: into a copy in DIR, into the file itself, or neither."
        ),
    ] = o.Writing.copy,
    json: o.Json = False,
    quiet: o.Quiet = False,
    algorithm: o.Algorithm = "best",
    seeding: o.Seeding = "auto",
    kmeans: o.Kmeans = None,
    n_init: o.NInit = o.N_INIT,
    max_iter: Annotated[int, o.solver(min=1, help="Most sweeps of a descent.")] = o.MAX_ITER,
    tol: Annotated[
        float, o.solver(min=0.0, help="Stop when a sweep gains less than this share.")
    ] = o.TOL,
    certificate: o.Proof = "svd",
    certificate_seconds: o.ProofSeconds = CERTIFICATE_SECONDS,
    sample_weight: Annotated[
        Path | None, o.solver(metavar="FILE", help="One weight per row.")
    ] = None,
    feature_weight: Annotated[
        Path | None, o.solver(metavar="FILE", help="One weight per column.")
    ] = None,
    weights: o.Weights = None,
    seed: o.Seed = None,
    jobs: o.Jobs = None,
    max_memory: o.MaxMemory = None,
    checkpoint: o.CheckpointFile = None,
) -> None:
    """Factorize FILE, write a folder, and say how far from optimal the answer can be."""
    reading = replace(reading, max_memory=max_memory)
    folder = output or Path(f"{_stem(file)}.orthant")
    check_folder(folder)
    _check_checkpoint(checkpoint)
    given: dict[str, Any] = {
        "n_components": components,
        "orthogonal": orthogonal,
        "algorithm": algorithm,
        "seeding": seeding,
        "kmeans": kmeans,
        "n_init": n_init,
        "max_iter": max_iter,
        "tol": tol,
        "certificate": None if certificate == "none" else certificate,
        "certificate_seconds": certificate_seconds,
        "random_state": seed,
        "n_jobs": jobs,
        "max_memory": reading.memory,
    }
    with progress(f"reading {Path(file).name}", quiet):
        data = read_data(file, reading, stream=True)
    with data:
        n, m = data.X.shape
        shape = as_image_shape(image_shape, m)
        about(data.source)
        weighted = {
            **make_weights(
                weights,
                data.X,
                {
                    "sample_weight": read_weights(sample_weight, n, "rows"),
                    "feature_weight": read_weights(feature_weight, m, "columns"),
                },
            ),
            "missing_values": np.nan if reading.missing else None,
        }
        start = _read_seeding(seeding)
        known = read_known(groups, file, reading, n)
        about(data.source)
        with progress(f"factorizing {_shown_name(data)}", quiet):
            options = {**given, "seeding": start, "checkpoint": checkpoint}
            result = factorize(data.X, **options, **weighted)
            result = replace(
                result,
                sample_names=data.row_names,
                feature_names=data.column_names,
                preparation=data.preparation,
            )
        with progress(f"proving {_shown_name(data)}", quiet):
            result = prove(result)
        chance = None
        if report:
            with progress("fitting shuffled data", quiet):
                fitted = {**weighted, "n_jobs": jobs, "orthogonal": orthogonal}
                chance = captured_by_chance(data.X, components, seed=seed, **fitted)
        with progress("writing", quiet):
            story = Story(
                result,
                find(data.X, result, missing=reading.missing, n_jobs=jobs, max_memory=max_memory),
                _shown_name(data),
                data.row_names,
                data.column_names,
                shape,
                selection=read_selection(folder),
                remarks=_remarks(weighted, reading),
                version=orthant.__version__,
                chance=chance,
                **known,
            )
            source = {"file": _absolute(file), "reading": reading.plain()}
            shown = {
                **given,
                "image_shape": image_shape,
                "groups": as_written(groups),
                "weights": weights,
            }
            summary = summary_of(story, source, shown)
            names = write_folder(folder, story, summary, with_page=report)
    if file.endswith(".h5ad") and h5ad is not o.Writing.none and not reading.transpose:
        with progress("writing", quiet):
            names += annotate(Path(file), folder, result, h5ad is o.Writing.in_place)
    if json:
        object_line({**summary, "folder": str(folder), "files": names})
        return
    _tell(story, folder, names)


def _check_checkpoint(path: Path | None) -> None:
    """Find out before hours of work that the file cannot be written."""
    if path is not None and not path.absolute().parent.is_dir():
        raise InvalidInputError(f"--checkpoint: there is no folder {path.absolute().parent}")


def _read_seeding(seeding: str) -> Any:
    """The name of a way to start, or components from a file."""
    if seeding in SEEDINGS or not Path(seeding).exists():
        return seeding
    return read_data(seeding, Reading()).X


def _remarks(weights: dict[str, Any], reading: Reading) -> list[str]:
    remarks = []
    if reading.steps:
        remarks.append(f"The matrix was prepared before the fit: {', '.join(reading.steps)}.")
    if weights["sample_weight"] is not None or weights["feature_weight"] is not None:
        remarks.append("The fit was weighted; shares and energies on this page are not.")
    if weights["missing_values"] is not None:
        remarks.append("Missing entries are left out of the error and drawn as nothing.")
    return remarks


def _stem(file: str) -> str:
    return "stdin" if file == "-" else Path(file).name.split(".")[0] or "matrix"


def _absolute(file: str) -> str:
    return file if file == "-" else str(Path(file).resolve())


def _shown_name(data: NamedMatrix) -> str:
    return Path(data.source).name


def _tell(story: Story, folder: Path, names: list[str]) -> None:
    """The answer in a few lines."""
    result, found, (n, m) = story.result, story.findings, story.shape
    line(f"{story.source}: {n:,} x {m:,}, {found.matrix.n_entries:,} entries")
    rows = [
        (
            str(component),
            f"{len(found.rows_of(component)):,}",
            f"{story.n_columns(component):,}",
            percent(float(found.energies[component])),
            ", ".join(story.column(one) for one in story.distinctive_columns(component, 6)),
        )
        for component in range(result.n_components_found)
    ]
    table(("component", "rows", "features", "energy", "what makes it different"), rows)
    if result.has_full_core:
        _tell_core(story)
    line()
    line(f"relative squared error {result.relative_squared_error:.6g}")
    prose(f"{result.certificate}")
    line(times_of(result))
    prose(f"wrote {folder}/: {' '.join(names)}")
    if PAGE in names:
        line(f"look at {(folder / PAGE).resolve()}")


def _tell_core(story: Story) -> None:
    """The groups of columns, and how much energy every component takes from each."""
    shares = story.core_shares
    line()
    groups = [
        (
            str(group),
            f"{len(story.findings.columns_of(group)):,}",
            percent(float(shares[:, group].sum())),
            ", ".join(story.column(one) for one in story.top_of_group(group, 6)),
        )
        for group in range(story.n_groups)
    ]
    table(("group", "features", "energy", "heaviest features"), groups)
    if story.n_groups > MOST_GROUPS:
        return
    line()
    rows = [
        (f"component {component}", *map(percent, each))
        for component, each in enumerate(shares.tolist())
    ]
    table(("core (energy)", *(f"group {group}" for group in range(story.n_groups))), rows)
