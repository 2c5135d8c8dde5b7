"""AnnData files with the results in them: obsm, varm and uns."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from orthant.cli.writing import Replacing
from orthant.extras import import_extra
from orthant.factorization import Factorization

LOADINGS, WEIGHTS, ABOUT = "X_orthant", "orthant", "orthant"


def annotate(file: Path, folder: Path, result: Factorization, in_place: bool) -> list[str]:
    """Write the results into a copy of a file, which takes its place or stands in the folder.

    ``obsm["X_orthant"]`` holds the loadings, ``varm["orthant"]`` the components transposed, and
    ``uns["orthant"]`` the labels, the error and what is proven.
    """
    target = file.resolve() if in_place else folder / f"{file.stem}.orthant.h5ad"
    with Replacing(target.parent) as files:
        files.other(target.name, lambda path: _write(file, path, result))
    return [] if in_place else [target.name]


def _write(file: Path, path: Path, result: Factorization) -> None:
    h5py = import_extra("h5py", "files")
    write_elem = _write_elem()
    shutil.copyfile(file, path)
    os.chmod(path, 0o644)
    loadings = result.loadings
    dense = loadings.toarray() if hasattr(loadings, "toarray") else np.asarray(loadings)
    with h5py.File(path, "r+") as held:
        for group, name, value in (
            ("obsm", LOADINGS, dense),
            ("varm", WEIGHTS, np.ascontiguousarray(result.components.T)),
            ("uns", ABOUT, _about(result)),
        ):
            if group not in held:
                write_elem(held, group, {})
            write_elem(held[group], name, value)


def _write_elem() -> Any:
    try:
        return import_extra("anndata.io", "files").write_elem
    except ImportError:  # before anndata 0.11
        return import_extra("anndata.experimental", "files").write_elem


def _about(result: Factorization) -> dict[str, Any]:
    certificate = result.certificate
    values: dict[str, Any] = {
        "orthogonal": result.orthogonal,
        "error": float(result.error),
        "relative_squared_error": float(result.relative_squared_error),
        "certificate": str(certificate),
    }
    if certificate.ratio is not None:
        values["ratio"] = float(certificate.ratio)
    if result.labels is not None:
        values["labels"] = result.labels
    if result.feature_labels is not None:
        values["feature_labels"] = result.feature_labels
    if result.core is not None:
        values["core"] = result.core
    return values
