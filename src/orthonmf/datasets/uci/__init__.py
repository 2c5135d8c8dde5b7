"""Data sets of the UCI Machine Learning Repository on which earlier methods were compared."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from orthonmf.datasets.uci.catalog import CATALOG, Entry
from orthonmf.datasets.uci.download import DownloadError
from orthonmf.datasets.uci.fetch import fetch
from orthonmf.datasets.uci.record import Content, UciSet
from orthonmf.extras import import_extra
from orthonmf.inputs.parameters import as_choice
from orthonmf.numerics.arrays import Array

__all__ = ["DownloadError", "UciSet", "load_uci"]

HOME_VARIABLE = "ORTHONMF_DATA_HOME"


def load_uci(name: str, data_home: str | os.PathLike[str] | None = None) -> UciSet:
    """Load a data set: from the cache, from original files put there, or by a download.

    Parameters
    ----------
    name
        "amazon-commerce-reviews", "arcene-train", "mfeat-pix", "pems-train", "bow-kos" or
        "bow-nips".
    data_home
        The folder of the cached files, or of original files to read; it may be read-only when the
        set is cached in it. By default the one that the environment variable
        ``ORTHONMF_DATA_HOME`` names, or else the user's cache folder.

    Shape, number of non-zeros and Frobenius norm are compared with the known ones (of "pems-train"
    only the shape is known).

    Raises
    ------
    InvalidInputError
        For an unknown name, a folder that cannot be written when it has to be, or a file that is
        damaged or not the set; the message names the file, and the line where there is one.
    DownloadError
        When a file is not there and cannot be downloaded; an OSError too.
    MissingExtraError
        When pooch is needed and not installed.

    Examples
    --------
    With the file in the folder, or with a network:

    >>> from orthonmf.datasets import load_uci
    >>> load_uci("mfeat-pix").X.shape  # doctest: +SKIP
    (2000, 240)
    """
    entry = CATALOG[as_choice(name, tuple(CATALOG), "name")]
    content = fetch(entry, _folder(data_home))
    return UciSet(
        name=entry.name,
        X=content.X.astype(np.float64),
        y=_labels(content, entry),
        feature_names=content.feature_names,
        description=entry.description,
        citation=entry.citation,
        license=entry.license,
    )


def _folder(data_home: str | os.PathLike[str] | None) -> Path:
    chosen = data_home or os.environ.get(HOME_VARIABLE)
    if not chosen:
        chosen = import_extra("pooch", "data").os_cache("orthonmf")
    return Path(chosen).expanduser()


def _labels(content: Content, entry: Entry) -> Array | None:
    """The labels of the file, or those that follow from the order of the rows."""
    if content.y is not None:
        return content.y.astype(np.int64)
    if entry.rows_per_class is not None:
        return np.arange(entry.shape[0]) // entry.rows_per_class
    return None
