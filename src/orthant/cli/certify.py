"""``orthant certify``: how far an answer can be from the best one, now or by other labels."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import orthant
from orthant.certificate import CERTIFICATE_SECONDS
from orthant.cli import options as o
from orthant.cli.data import (
    Reading,
    make_weights,
    most_bytes,
    read_data,
    read_weights,
    takes_reading,
)
from orthant.cli.failures import about
from orthant.cli.folder import MODEL, PAGE, SUMMARY, read_model, read_summary, write_json
from orthant.cli.proving import times_of
from orthant.cli.report import source_of
from orthant.cli.terminal import line, object_line, progress, prose
from orthant.cli.writing import Replacing
from orthant.datasets.readers import read_names
from orthant.errors import InvalidInputError
from orthant.factorization import Factorization
from orthant.persistence import save


@takes_reading()
def certify(
    place: Annotated[
        str,
        typer.Argument(
            metavar="FILE|DIR", help="A matrix, or a folder that fit wrote.", show_default=False
        ),
    ],
    reading: Reading,
    labels: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The group of every row, one a line; empty for none."),
    ] = None,
    feature_labels: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The group of every column, one a line."),
    ] = None,
    components: Annotated[
        str | None,
        typer.Option(
            "--components",
            "-k",
            parser=o.parse_sizes,
            metavar="K|K,L",
            help="How many groups were allowed (default: as many as the labels name); K,L: "
            "groups of rows and of columns, with a core between them.",
        ),
    ] = None,
    certificate: o.Proof = "tight",
    certificate_seconds: o.ProofSeconds = CERTIFICATE_SECONDS,
    data: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="The data of a folder, if they are no longer where they were."
        ),
    ] = None,
    sample_weight: Annotated[
        Path | None, typer.Option(metavar="FILE", help="One weight per row.")
    ] = None,
    feature_weight: Annotated[
        Path | None, typer.Option(metavar="FILE", help="One weight per column; a folder knows.")
    ] = None,
    json: o.Json = False,
    quiet: o.Quiet = False,
    jobs: o.Jobs = None,
) -> None:
    """Say how far the labels of FILE, or the answer in DIR, can be from the best ones.

    Labels may come from any program: scales are fitted to them, and the error
    is compared with what no partition into as many groups can go below. The
    certificate of a folder is kept in its model and summary.
    """
    if certificate == "none":
        raise InvalidInputError("--certificate none proves nothing; leave it out")
    folder = Path(place)
    weights = {"sample_weight": sample_weight, "feature_weight": feature_weight}
    if (folder / SUMMARY).exists():
        _refuse_what_a_folder_knows(
            place, reading, labels, feature_labels, components, feature_weight
        )
        proof = {"method": certificate, "seconds": certificate_seconds, "n_jobs": jobs}
        result = _certify_folder(folder, data, proof, weights["sample_weight"], reading, quiet)
    else:
        if data is not None:
            raise InvalidInputError("--data names the data of a folder; give FILE itself")
        groups = {"labels": labels, "feature_labels": feature_labels}
        options = {
            "n_components": components,
            "method": certificate,
            "seconds": certificate_seconds,
            "n_jobs": jobs,
        }
        result = _certify_file(place, reading, groups, weights, options, quiet)
    found = result.certificate
    if json:
        told = {**asdict(found), "sentence": str(found)}
        error = result.relative_squared_error
        object_line({"relative_squared_error": error, "certificate": told})
        return
    line(f"relative squared error {result.relative_squared_error:.6g}")
    prose(f"{found}")
    line(times_of(result))
    if (folder / PAGE).exists():
        line(f"orthant report {place} makes its page again")


def _refuse_what_a_folder_knows(place: str, reading: Reading, *given: Any) -> None:
    """A folder has labels, feature weights, and how its data are read: none may be given again."""
    if any(one is not None for one in given):
        raise InvalidInputError(
            f"{place}: a folder knows its labels, components and feature weights; leave --labels, "
            "--feature-labels, --components and --feature-weight out, or name the FILE"
        )
    if replace(reading, max_bytes=None) != Reading():
        raise InvalidInputError(
            f"{place}: a folder knows how its data are read; of these options only --max-bytes "
            "has a meaning here"
        )


def _certify_folder(
    folder: Path,
    data: str | None,
    proof: dict[str, Any],
    sample_weight: Path | None,
    reading: Reading,
    quiet: bool,
) -> Factorization:
    """The answer in a folder with a certificate, which is written there too."""
    summary = read_summary(folder)
    result = read_model(folder / MODEL, most_bytes(reading.max_bytes))
    file, known = source_of(folder, summary, data)
    with progress(f"reading {Path(file).name}", quiet):
        held = read_data(file, replace(known, max_bytes=reading.max_bytes), stream=True)
    with held, progress(f"proving {Path(file).name}", quiet):
        about(file)
        given = {"sample_weight": read_weights(sample_weight, held.X.shape[0], "rows")}
        kind = summary.get("options", {}).get("weights")
        result.certify(
            held.X,
            **proof,
            sample_weight=make_weights(kind, held.X, given)["sample_weight"],
            missing_values=np.nan if known.missing else None,
        )
    about(folder)
    found = result.certificate
    told = {**asdict(found), "sentence": str(found)}
    with Replacing(folder) as files:
        files.other(MODEL, lambda path: save(result, path))
        files.text(SUMMARY, lambda written: write_json(written, {**summary, "certificate": told}))
    return result


def _certify_file(
    place: str,
    reading: Reading,
    groups: dict[str, Path | None],
    weights: dict[str, Path | None],
    options: dict[str, Any],
    quiet: bool,
) -> Factorization:
    """The partition that label files describe, with its certificate."""
    if not any(groups.values()):
        raise InvalidInputError(
            "give the partition with --labels, --feature-labels or both, or a folder of orthant fit"
        )
    with progress(f"reading {Path(place).name}", quiet):
        held = read_data(place, reading, stream=True)
    with held, progress(f"proving {Path(place).name}", quiet):
        sides = dict(zip(groups, ("rows", "columns"), strict=True))
        counts = dict(zip(sides, held.X.shape, strict=True))
        given = {
            name: None if path is None else read_names(path, counts[name], sides[name])
            for name, path in groups.items()
        }
        weighted = {
            name: read_weights(path, count, side)
            for (name, path), count, side in zip(
                weights.items(), held.X.shape, ("rows", "columns"), strict=True
            )
        }
        about(place)
        return orthant.certify(held.X, **given, **weighted, **options)
