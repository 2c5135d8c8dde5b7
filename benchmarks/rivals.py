"""Who is measured: orthonmf and what it is compared with, judged by the same three errors.

Over samples the error of an answer is that of its labels and directions with the best scale for
every row; of blocks, that of the best rank-one matrix in every block; of groups with a core between
them, that of the scales that taking turns between the two sides ends with. Nobody's own account of
its error is used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.cluster import KMeans, SpectralBiclustering, SpectralCoclustering
from sklearn.decomposition import NMF
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import row_norms

from orthonmf import factorize
from orthonmf.baselines import solve
from tests.oracles.three_factors import captured_by_groups

Array = np.ndarray

# The baselines of the paper's first experiment, and the seconds each may take.
BASELINES = ("nmf", "pnmf", "onfs-ding", "nhl", "onmf-a", "hals", "em-onmf")
BASELINE_SECONDS = 5.0
NMF_ITERATIONS = 100_000
BLOCK_ROWS = 8192


@dataclass(frozen=True, slots=True)
class Answer:
    """Rows given to directions (k, m), or rows and columns given to blocks.

    With ``core`` the labels of rows and columns number groups that may all meet. ``seconds`` is
    None unless the program counts its own time without what only measures it.
    """

    labels: Array
    directions: Array | None = None
    column_labels: Array | None = None
    seconds: float | None = None
    note: str = ""
    core: bool = False


Contestant = Callable[[Any, int, int], Answer]


def ask_for(k: int, setting: str) -> dict[str, Any]:
    """What `factorize` is asked for in a setting, or with a core between as many groups."""
    if setting == "core":
        return {"n_components": (k, k), "orthogonal": "both"}
    return {"n_components": k, "orthogonal": setting}


def fit_ours(X: Any, k: int, seed: int, setting: str = "samples") -> Answer:
    """Everything as it is by default, without the certificate."""
    result = factorize(X, **ask_for(k, setting), random_state=seed, certificate=None)
    labels, core = np.asarray(result.labels), setting == "core"
    return Answer(labels, None if core else result.components, result.feature_labels, core=core)


def three_lines(X: Any, k: int, seed: int) -> Answer:
    """Normalize, weighted KMeans, rescale: what one would write with scikit-learn."""
    if isinstance(X, np.ndarray):
        norms = np.linalg.norm(X, axis=1)
        unit = X / np.where(norms > 0, norms, 1.0)[:, None]
    else:
        norms = row_norms(X)
        unit = normalize(X)
    model = KMeans(k, n_init=1, random_state=seed).fit(unit, sample_weight=norms**2)
    # The center of a cluster is its weighted sum over its weight: same direction.
    directions = normalize(model.cluster_centers_)
    (X @ directions.T)[np.arange(X.shape[0]), model.labels_]  # the scales
    return Answer(model.labels_, directions)


def sklearn_nmf(X: Any, k: int, seed: int) -> Answer:
    """NMF with its default solver, run until it stops by itself.

    Its components overlap, so for the error every row keeps the one that captures most of it.
    """
    model = NMF(k, random_state=seed, max_iter=NMF_ITERATIONS)
    model.fit_transform(X)
    directions = normalize(model.components_)
    return Answer(best_labels(X, directions), directions)


def co_clustering(X: Any, k: int, seed: int) -> Answer:
    """Spectral co-clustering as scikit-learn has it."""
    model = SpectralCoclustering(k, random_state=seed).fit(X)
    return Answer(model.row_labels_, column_labels=model.column_labels_)


def bicluster(X: Any, k: int, seed: int) -> Answer:
    """Spectral biclustering as scikit-learn has it, with as many clusters of columns as of rows."""
    filled = [np.flatnonzero(np.asarray(X.sum(axis=axis)).ravel()) for axis in (1, 0)]
    model = SpectralBiclustering((k, k), random_state=seed).fit(X[filled[0]][:, filled[1]])
    labels = [np.full(size, -1) for size in X.shape]  # it takes no row or column of zeros
    labels[0][filled[0]], labels[1][filled[1]] = model.row_labels_, model.column_labels_
    return Answer(labels[0], column_labels=labels[1], core=True)


def ding_three_factors(X: Any, k: int, seed: int) -> Answer:
    """The updates of Ding, Li, Peng & Park; every row and column keeps its largest entry."""
    run = solve("onmf-ding-double", X, k, random_state=seed, time_limit=BASELINE_SECONDS)
    labels = [np.asarray(run.W).argmax(axis=0), np.asarray(run.A).argmax(axis=1)]
    return Answer(labels[0], None, labels[1], run.seconds, run.stop_reason, core=True)


def baseline(name: str) -> Contestant:
    """One of the earlier methods, made exactly orthogonal at its end (not counted as its time)."""

    def fit(X: Any, k: int, seed: int) -> Answer:
        run = solve(name, X, k, random_state=seed, time_limit=BASELINE_SECONDS)
        assert run.hardened is not None
        directions = normalize(run.hardened.A.T)
        labels = np.asarray(run.hardened.W).argmax(axis=0)
        return Answer(labels, directions, seconds=run.seconds, note=run.stop_reason)

    return fit


CONTESTANTS: dict[str, Contestant] = {
    "orthonmf": fit_ours,
    "orthonmf both": partial(fit_ours, setting="both"),
    "orthonmf core": partial(fit_ours, setting="core"),
    "three lines": three_lines,
    "sklearn NMF": sklearn_nmf,
    "co-clustering": co_clustering,
    "biclustering": bicluster,
    "Ding's three factors": ding_three_factors,
    **{name: baseline(name) for name in BASELINES},
}


def program(name: str) -> Contestant:
    """A program by its name; that of a baseline is enough, also of one of the user."""
    return CONTESTANTS[name] if name in CONTESTANTS else baseline(name)


def best_labels(X: Any, directions: Array) -> Array:
    """(n,) the direction that captures most of every row."""
    return (X @ directions.T).argmax(axis=1)


def error_of(X: Any, answer: Answer) -> float:
    """Relative squared error of an answer in float64, whatever the type of the data."""
    if answer.column_labels is not None:
        judge = core_error if answer.core else block_error
        return judge(X, answer.labels, answer.column_labels)
    assert answer.directions is not None
    return direction_error(X, answer.labels, answer.directions)


def direction_error(X: Any, labels: Array, directions: Array) -> float:
    """Relative squared error when every row keeps its projection on its unit direction.

    Rows of label -1 keep nothing. A projection is never negative: loadings are not.
    """
    captured = total = 0.0
    U = normalize(directions.astype(np.float64))
    for start in range(0, X.shape[0], BLOCK_ROWS):
        rows, own = X[start : start + BLOCK_ROWS].astype(np.float64), labels[start:][:BLOCK_ROWS]
        scales = np.maximum(rows @ U.T, 0.0)[np.arange(len(own)), own]
        captured += float(np.square(scales[own >= 0]).sum())
        total += float(row_norms(rows, squared=True).sum())
    return 1.0 - captured / total


def block_error(X: Any, row_labels: Array, column_labels: Array) -> float:
    """Relative squared error when every block is replaced by its best rank-one matrix."""
    captured = 0.0
    for label in np.unique(row_labels[row_labels >= 0]):
        block = X[row_labels == label][:, column_labels == label].astype(np.float64)
        if block.size:
            captured += float(np.linalg.norm(block, 2)) ** 2
    return 1.0 - captured / float(row_norms(X.astype(np.float64), squared=True).sum())


def core_error(X: Any, row_labels: Array, column_labels: Array) -> float:
    """Relative squared error of groups of rows and of columns with the best core between them."""
    X = X.astype(np.float64)
    groups = _indicator(row_labels), _indicator(column_labels)
    captured = captured_by_groups(X, *groups, np.ones(X.shape[1]))
    return 1.0 - captured / float(row_norms(X, squared=True).sum())


def _indicator(labels: Array) -> Array:
    """(n, k) zeros and ones: which group every row or column is in; none for label -1."""
    return (labels[:, None] == np.arange(labels.max() + 1)).astype(np.float64)
