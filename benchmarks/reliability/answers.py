"""Fit a hard input with each library, and say how good the answer is."""

from __future__ import annotations

from typing import Any

import numpy as np

import orthonmf
from benchmarks.reliability.inputs import Input

DEFAULTS = {"n_components": 3, "random_state": 0}


def by_orthonmf(case: Input) -> str:
    """`orthonmf.factorize` over samples with its default settings."""
    X = case.make()
    result = orthonmf.factorize(X, **{**DEFAULTS, **case.options})
    return say(X, result.loadings, result.components, case)


def by_scikit_learn(case: Input) -> str:
    """scikit-learn's NMF, or with weights its KMeans, with their default settings."""
    from sklearn.cluster import KMeans
    from sklearn.decomposition import NMF

    X, options = case.make(), {**DEFAULTS, **case.options}
    if "sample_weight" in options:
        weight = options.pop("sample_weight")
        model = KMeans(options.pop("n_components"), **options).fit(X, sample_weight=weight)
        return "answer" if np.isfinite(model.cluster_centers_).all() else "**NaN in the answer**"
    model = NMF(**options)
    return say(X, model.fit_transform(X), model.components_, case)


def say(X: Any, loadings: Any, components: Any, case: Input) -> str:
    """How much of the squared norm is left over, in arithmetic with a wider range of exponents."""
    W, H = wide(loadings), wide(components)
    if case.wrong:
        return "**an answer**, silently"
    if not (np.isfinite(W).all() and np.isfinite(H).all()):
        return "**NaN or infinity in the answer**"
    data = wide(X)
    if data is None or "sample_weight" in case.options:
        return "answer"
    total = (data**2).sum()
    if not total > 0:
        return "answer: zero" if not np.any(W @ H) else "**an answer that is not zero**"
    left = float(((data - W @ H) ** 2).sum() / total)
    words = "answer" if left < 0.9999 else "**answer**"
    return f"{words}, {left:.1%} left over"


def wide(matrix: Any) -> Any:
    """A dense matrix of long doubles; None for what holds no numbers."""
    if hasattr(matrix, "compute"):
        matrix = matrix.compute()
    if hasattr(matrix, "toarray"):
        matrix = matrix.toarray()
    if isinstance(matrix, np.ma.MaskedArray):
        return None
    try:
        return np.asarray(matrix).astype(np.longdouble)
    except (TypeError, ValueError):
        return None
