"""``write_report``: the page of a result, from Python."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from orthonmf.engine.losses import KULLBACK_LEIBLER, LOSSES
from orthonmf.engine.matrix import Matrix
from orthonmf.engine.shuffles import MOST_ENTRIES
from orthonmf.errors import InvalidInputError, InvalidTypeError
from orthonmf.factorization import Factorization
from orthonmf.files.whole_files import replacing
from orthonmf.inputs.data import as_source, is_anndata
from orthonmf.inputs.parameters import may_be_missing
from orthonmf.report.chance import captured_by_chance
from orthonmf.report.findings import find
from orthonmf.report.page import page
from orthonmf.report.story import Story
from orthonmf.stability.record import Stability
from orthonmf.version import __version__


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
    shape, fitted = as_source(X).shape, (result.loadings.shape[0], n_features)
    if shape != fitted:
        raise InvalidInputError(
            f"X has shape {shape}, the result is of shape {fitted}; pass the X that was fitted"
        )
    findings = find(X, result, missing=may_be_missing(missing_values), n_jobs=n_jobs)
    chance = None
    if _check_data(findings.matrix, result):
        options = {"missing_values": missing_values, "n_jobs": n_jobs}
        chance = _find_chance(findings.matrix, result, **options)
    story = Story(
        result,
        findings,
        title,
        result.sample_names,
        result.feature_names,
        image_shape,
        chance=chance,
        groups=None if groups is None else _groups_of(groups, X, shape[0]),
        stability=None if stability is None else _check_stability(stability, result),
        version=__version__,
    )
    html = page(story)
    with replacing(Path(path), encoding="utf-8") as file:
        file.write(html)
    return Path(path)


def _check_data(matrix: Matrix, result: Factorization) -> bool:
    """Refuse a matrix that is not the one of the result: its error is another one.

    A fit with weights of rows, which a result does not keep, has another error here, too; but
    its loadings are still the products of the rows with their components. Returns whether the
    errors are the same, so that there were no such weights.
    """
    if result.beta_loss == KULLBACK_LEIBLER:
        return _check_counts(matrix, result)
    k, directions = result.n_components_found, matrix.metric(result.components).directions
    if result.labels is None or result.scales is None:
        lengths = matrix.lengths_of_loadings(result.loadings, result.components)
        products = (lengths * matrix.products(directions)).sum(axis=0)
        squares = np.square(lengths).sum(axis=0)
    else:
        lengths = matrix.lengths_of_scales(result.labels, result.scales, result.components)
        products = (matrix.row_sums(result.labels, lengths, k) * directions).sum(axis=1)
        used = result.labels >= 0
        squares = np.bincount(result.labels[used], np.square(lengths[used]), minlength=k)
    captured = 2 * products - squares if matrix.complete else products
    total = float(matrix.row_squares.sum())
    error = 1.0 - float(captured.sum()) / total if total > 0 else 0.0
    same_error = bool(np.isclose(error, result.relative_error, rtol=1e-4, atol=1e-5))
    if matrix.complete:
        projected = np.allclose(products, squares, rtol=1e-4)
    else:
        again = matrix.express(result.components, result.orthogonal)
        close = np.isclose(_dense(again.loadings), _dense(result.loadings), rtol=1e-3)
        projected = close.all(axis=1).mean() > 0.5  # rows between two components may go to either
    if not same_error and not projected:
        raise InvalidInputError(
            f"X is not the matrix of this result: the relative squared errors are {error:.6g} "
            f"and {result.relative_error:.6g}; pass the X that was fitted"
        )
    return same_error


def _check_counts(matrix: Matrix, result: Factorization) -> bool:
    """The same under the Kullback-Leibler divergence, where rows express alike as well."""
    loss = LOSSES[result.beta_loss]
    again = loss.express(matrix, result.components, result.orthogonal)
    error = loss.relative_error(matrix, again, result.components, result.orthogonal)
    same_error = bool(np.isclose(error, result.relative_error, rtol=1e-4, atol=1e-5))
    same_rows = np.allclose(_dense(again.loadings), _dense(result.loadings), rtol=1e-4)
    if not same_error and not same_rows:
        raise InvalidInputError(
            f"X is not the matrix of this result: the shares of the information lost are "
            f"{error:.6g} and {result.relative_error:.6g}; pass the X that was fitted"
        )
    return same_error


def _find_chance(matrix: Matrix, result: Factorization, **options: Any) -> float | None:
    """What as many components capture of shuffled data; None where X is not in memory, or large."""
    if not matrix.source.in_memory or matrix.n_entries > MOST_ENTRIES:
        return None
    rows = matrix.stored_rows(np.arange(matrix.shape[0]))
    options |= {"orthogonal": result.orthogonal, "beta_loss": result.beta_loss}
    options |= {"feature_weight": result.feature_weight}
    return captured_by_chance(rows, result.n_components, seed=result.random_state, **options)


def _dense(loadings: Any) -> Any:
    return loadings if isinstance(loadings, np.ndarray) else loadings.toarray()


def _check_stability(stability: Any, result: Factorization) -> Stability:
    """Refits of this result, not of another."""
    if not isinstance(stability, Stability) or not stability.is_of(result):
        raise InvalidInputError(
            "stability is not what refits of this result gave; pass result.refit(X)"
        )
    return stability


def _groups_of(groups: Any, X: Any, n: int) -> list[str]:
    """A known group for every row, as text."""
    if isinstance(groups, str):
        if not is_anndata(X) or groups not in X.obs:
            known = f"; there are {', '.join(map(str, X.obs))}" if is_anndata(X) else ""
            raise InvalidInputError(
                f"groups={groups!r} is no column of obs{known}; pass one group for each row"
            )
        groups = X.obs[groups]
    names = [str(name) for name in np.asarray(groups, dtype=object).ravel()]
    if len(names) != n:
        raise InvalidInputError(f"groups has {len(names)} entries for {n} rows; pass one for each")
    return names
