"""``write_report``: the page of a result, from Python."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from orthonmf.errors import InvalidInputError
from orthonmf.factorization import Factorization
from orthonmf.files.whole_files import replacing
from orthonmf.inputs.data import as_source
from orthonmf.inputs.parameters import may_be_missing
from orthonmf.report.findings import find
from orthonmf.report.page import page
from orthonmf.report.story import Story
from orthonmf.version import __version__


def write_report(
    result: Factorization,
    X: Any,
    path: str | os.PathLike[str],
    *,
    title: str = "X",
    image_shape: tuple[int, int] | None = None,
    missing_values: Any = None,
    n_jobs: int | None = None,
) -> Path:
    """Write one self-contained page about a result: what ``orthonmf fit --report`` writes.

    Parameters
    ----------
    result
        A Factorization; its names are those of the page, and its certificate is computed unless
        that has been done.
    X
        The (n, m) matrix that was factorized.
    path
        The file; it is whole or not there.
    title
        What the data are called.
    image_shape
        (height, width) where the features are pixels.
    missing_values, n_jobs
        As for :func:`orthonmf.factorize`.

    Returns
    -------
    Path
        Where the page is.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import orthonmf
    >>> X = orthonmf.datasets.make_planted(30, 12, 3, 0.1, random_state=0).X
    >>> result = orthonmf.factorize(X, 3, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = orthonmf.write_report(result, X, pathlib.Path(folder) / "page.html")
    ...     page.name
    'page.html'
    """
    n_features = result.components.shape[1]
    if image_shape is not None and np.prod(image_shape) != n_features:
        raise InvalidInputError(
            f"image_shape={image_shape!r} does not hold the {n_features} features"
        )
    rows = as_source(X).shape[0]
    if rows != result.loadings.shape[0]:
        raise InvalidInputError(
            f"X has {rows} rows, the result {result.loadings.shape[0]}; pass the X that was fitted"
        )
    story = Story(
        result,
        find(X, result, missing=may_be_missing(missing_values), n_jobs=n_jobs),
        title,
        result.sample_names,
        result.feature_names,
        image_shape,
        version=__version__,
    )
    html = page(story)
    with replacing(Path(path), encoding="utf-8") as file:
        file.write(html)
    return Path(path)
