"""``write_report``: the page of a result, from Python."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from orthonmf.engine.losses import LOSSES
from orthonmf.engine.matrix import Matrix
from orthonmf.errors import InvalidInputError, InvalidTypeError
from orthonmf.factorization import Factorization
from orthonmf.files.whole_files import replacing
from orthonmf.inputs.data import is_anndata
from orthonmf.report.chance import captured_by_chance
from orthonmf.report.findings import find
from orthonmf.report.page import page
from orthonmf.report.story import Story
from orthonmf.stability.record import Stability


def write_report(
    result: Any,
    X: Any,
    path: str | os.PathLike[str],
    *,
    title: str = "X",
    image_shape: tuple[int, int] | None = None,
    groups: Any = None,
    stability: Stability | None = None,
    missing_values: Any = None,
    n_jobs: int | None = None,
) -> Path:
    """Write one self-contained page about a result: what ``orthonmf fit --report`` writes.

    Parameters
    ----------
    result
        A Factorization, or a fitted estimator that has one as ``result_``; its names are those of
        the page, and its certificate is computed unless that has been done.
    X
        The (n, m) matrix that was factorized; data of another error are refused. Where it is in
        memory, as many components are also fitted to a shuffled copy: what chance alone gives.
    path
        The file; it is whole or not there.
    title
        What the data are called.
    image_shape
        (height, width) where the features are pixels.
    groups
        A known group for each of the n rows, to be counted against the components; of an AnnData
        also the name of a column of its ``obs``.
    stability
        What ``result.refit(X)`` gave, to be shown as well.
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
    result = getattr(result, "result_", result)
    if not isinstance(result, Factorization):
        raise InvalidTypeError(
            f"a {type(result).__name__} is no Factorization; pass what factorize returned, or a "
            "fitted OrthogonalNMF"
        )
    n_features = result.components.shape[1]
    if image_shape is not None and np.prod(image_shape) != n_features:
        raise InvalidInputError(
            f"image_shape={image_shape!r} does not hold the {n_features} features"
        )
    options = {"missing_values": missing_values, "n_jobs": n_jobs}
    findings = find(X, result, **options)
    chance = None
    if _has_same_error(findings.matrix, result):
        chance = captured_by_chance(findings.matrix, result, **options)
    if stability is not None and not (isinstance(stability, Stability) and stability.is_of(result)):
        raise InvalidInputError(
            "stability is not what refits of this result gave; pass result.refit(X)"
        )
    story = Story(
        result,
        findings,
        title,
        image_shape=image_shape,
        chance=chance,
        groups=None if groups is None else _groups_of(groups, X, len(findings.row_labels)),
        stability=stability,
    )
    html = page(story)
    with replacing(Path(path), encoding="utf-8") as file:
        file.write(html)
    return Path(path)


def _has_same_error(matrix: Matrix, result: Factorization) -> bool:
    """Whether rows expressed by the components have the error of the fit; others are refused.

    The matrix is another one where its rows have other loadings. A fit with weights of rows, which
    a result does not keep, has another error here, but the same loadings; where entries are missing
    a row between two components may go to either.
    """
    loss = LOSSES[result.beta_loss]
    expressed = loss.express(matrix, result.components, result.orthogonal)
    error = loss.relative_error(matrix, expressed, result.components, result.orthogonal)
    same_error = bool(np.isclose(error, result.relative_error, rtol=1e-4, atol=1e-5))
    component_codes = np.arange(1.0, 1.0 + result.n_components_found)  # one number for every row
    now, then = (loadings @ component_codes for loadings in (expressed.loadings, result.loadings))
    alike = np.isclose(now, then, rtol=1e-3)
    mostly_alike = 2 * np.count_nonzero(alike[then > 0]) >= np.count_nonzero(then > 0)
    if not mostly_alike or (matrix.complete and not same_error and not alike.all()):
        raise InvalidInputError(
            f"X is not the matrix of this result: it has the {loss.error} {error:.6g} in place of "
            f"{result.relative_error:.6g}; pass the X that was fitted"
        )
    return same_error


def _groups_of(groups: Any, X: Any, n: int) -> list[str]:
    """A known group for every row, as text."""
    if isinstance(groups, str):
        if not is_anndata(X) or groups not in X.obs:
            columns = f"; there are {', '.join(map(str, X.obs))}" if is_anndata(X) else ""
            raise InvalidInputError(
                f"groups={groups!r} is no column of obs{columns}; pass one group for each row"
            )
        groups = X.obs[groups]
    names = [str(name) for name in np.asarray(groups, dtype=object).ravel()]
    if len(names) != n:
        raise InvalidInputError(f"groups has {len(names)} entries for {n} rows; pass one for each")
    return names
