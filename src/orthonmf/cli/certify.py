"""``orthonmf certify``: how far an answer can be from the best one, now or by other labels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import orthonmf
from orthonmf.certificate import CERTIFICATE_SECONDS, CERTIFICATES
from orthonmf.cli import options as o
from orthonmf.cli.certificates import plain_certificate, tell_proof
from orthonmf.cli.data import SIDES, Reading, read_data, takes_reading, weights_of
from orthonmf.cli.failures import about
from orthonmf.cli.folder import MODEL, PAGE, SUMMARY, read_folder, write_files
from orthonmf.cli.terminal import as_json, line, object_line, progress
from orthonmf.engine.losses import FROBENIUS, LOSSES
from orthonmf.errors import InvalidInputError
from orthonmf.factorization import Factorization
from orthonmf.files.readers import read_names

PROOFS = {name: about for name, about in CERTIFICATES.items() if name is not None}


@takes_reading()
def certify(
    place: Annotated[str, o.argument("FILE|DIR", "A matrix, or a folder that fit wrote.")],
    reading: Reading,
    labels: Annotated[
        Path | None, o.value("FILE", "The group of every row, one a line; empty or -1 for none.")
    ] = None,
    feature_labels: Annotated[
        Path | None, o.value("FILE", "The group of every column, one a line.")
    ] = None,
    components: Annotated[
        str | None,
        o.components(
            "How many groups were allowed (default: as many as the labels name); K,L: groups of "
            "rows and of columns, with a core between them."
        ),
    ] = None,
    beta_loss: Annotated[
        str | None, o.choice("--beta-loss", "What an entry costs; a folder knows.", LOSSES, None)
    ] = None,
    certificate: Annotated[str, o.proof(PROOFS)] = "tight",
    certificate_seconds: o.ProofSeconds = CERTIFICATE_SECONDS,
    data: Annotated[
        str | None, o.value("FILE", "The data of a folder, if they are no longer where they were.")
    ] = None,
    sample_weight: Annotated[Path | None, o.value("FILE", "One weight per row.")] = None,
    feature_weight: Annotated[
        Path | None, o.value("FILE", "One weight per column; a folder knows.")
    ] = None,
    json: o.Json = False,
    quiet: o.Quiet = False,
    jobs: o.Jobs = None,
) -> None:
    """Say how far the labels of FILE, or the answer in DIR, can be from the best ones.

    Labels may come from any program: scales are fitted to them, and the error is compared with
    what no partition into as many groups can go below. The certificate of a folder is kept in its
    model and summary.
    """
    folder = Path(place)
    proof = {"method": certificate, "seconds": certificate_seconds, "n_jobs": jobs}
    if (folder / SUMMARY).exists():
        known = (labels, feature_labels, components, feature_weight, beta_loss)
        if any(known) or replace(reading, max_bytes=None) != Reading():
            raise InvalidInputError(
                f"{place}: a folder knows its labels, components, loss, feature weights and how "
                "its data are read; leave these options out, or name the FILE"
            )
        result = _certify_folder(folder, data, reading.max_bytes, sample_weight, proof, quiet)
    elif data is not None:
        raise InvalidInputError("--data names the data of a folder; give FILE itself")
    elif labels is None and feature_labels is None:
        raise InvalidInputError(
            f"{place} is no folder that fit wrote; of a matrix give the partition with --labels, "
            "--feature-labels or both"
        )
    else:
        matrix = read_data(place, reading, quiet=quiet, stream=True)
        with progress(f"proving {folder.name}", quiet):
            sides = zip((labels, feature_labels), matrix.X.shape, SIDES, strict=True)
            groups = [
                None if path is None else read_names(path, *side, may_be_empty=True)
                for path, *side in sides
            ]
            weights = weights_of(matrix.X, sample_weight, feature_weight)
            about(place)
            options = {"n_components": components, **proof, **weights}
            options["beta_loss"] = beta_loss or FROBENIUS
            result = orthonmf.certify(matrix.X, *groups, **options)
    if json:
        told = plain_certificate(result.certificate)
        error = {LOSSES[result.beta_loss].error_name: result.relative_error}
        object_line({**error, "certificate": told})
        return
    tell_proof(result)
    line(f"the certificate took {result.certificate.seconds:.2f} s")
    if (folder / PAGE).exists():
        line(f"orthonmf report {place} makes its page again")


def _certify_folder(
    folder: Path,
    data: str | None,
    max_bytes: str | None,
    sample_weight: Path | None,
    proof: dict[str, Any],
    quiet: bool,
) -> Factorization:
    """The answer in a folder with a certificate, which is written there too."""
    summary, result, file, reading = read_folder(folder, data, max_bytes)
    matrix = read_data(file, reading, quiet=quiet, stream=True)
    with progress(f"proving {Path(file).name}", quiet):
        about(file)
        kind = summary["options"].get("weights")
        weight = weights_of(matrix.X, sample_weight, None, kind)["sample_weight"]
        options = {"sample_weight": weight, "missing_values": reading.missing_values}
        result.certify(matrix.X, **proof, **options)
    summary["certificate"] = plain_certificate(result.certificate)
    write_files(folder, {MODEL: result, SUMMARY: as_json(summary)})
    return result
