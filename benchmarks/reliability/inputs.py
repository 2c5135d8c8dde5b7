"""Matrices, options and weights that are hard, wrong or hostile, and how good an answer is."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import dask.array
import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.decomposition import NMF

import orthonmf
from benchmarks.reliability.trying import Try
from orthonmf.datasets import make_planted

HUGE = np.finfo(np.float64).max
DEFAULTS = {"n_components": 3, "random_state": 0}


class Input(NamedTuple):
    """What is handed to both: a matrix made on the spot, and options by the name they share."""

    name: str
    make: Callable[[], Any]
    options: Mapping[str, Any] = MappingProxyType({})
    wrong: bool = False  # whether any answer is a wrong one


def plain() -> np.ndarray:
    """40 x 8 with three parts and some noise, which both explain to about 97 %."""
    return make_planted(40, 8, 3, noise=0.05, random_state=0).X


def with_entry(value: float) -> Callable[[], np.ndarray]:
    """The plain matrix with one entry at [3, 2]."""
    return lambda: changed((3, 2), value)(plain())


def times(scale: Any, dtype: Any = np.float64) -> Callable[[], np.ndarray]:
    """The plain matrix times something."""
    return lambda: (plain() * scale).astype(dtype)


def with_holes() -> np.ndarray:
    X = plain()
    X[[0, 7]] = 0
    X[:, 5] = 0
    return X


def corrupt_csr(**parts: Any) -> Callable[[], Any]:
    """A CSR matrix whose arrays were changed after it was made."""

    def make() -> Any:
        X = sparse.csr_array(plain())
        for name, change in parts.items():
            setattr(X, name, change(getattr(X, name).copy()))
        return X

    return make


def changed(place: Any, value: Any) -> Callable[[np.ndarray], np.ndarray]:
    def change(array: np.ndarray) -> np.ndarray:
        array[place] = value
        return array

    return change


def with_duplicates() -> Any:
    """Every entry stored as two halves, the columns of a row backwards."""
    X = sparse.csr_array(plain())
    data, indices = np.repeat(X.data / 2, 2)[::-1].copy(), np.repeat(X.indices, 2)[::-1].copy()
    return sparse.csr_array((data, indices, (X.indptr[-1] - X.indptr[::-1]) * 2), shape=X.shape)


def memory_map() -> Any:
    path = Path(tempfile.mkdtemp()) / "X.npy"
    np.save(path, plain())
    return np.load(path, mmap_mode="r")


def with_text() -> Any:
    return pd.DataFrame(plain(), columns=list("abcdefgh")).assign(who="somebody")


def with_mask() -> Any:
    X = np.ma.masked_array(plain(), mask=np.zeros((40, 8), bool))
    X[3, 2] = np.ma.masked
    return X


def weights(value: Any) -> dict[str, Any]:
    """Sample weights with one of them changed."""
    return {"sample_weight": changed(7, value)(np.ones(40))}


CASES = {
    "Values": [
        Input("a NaN", with_entry(np.nan)),
        Input("+infinity", with_entry(np.inf)),
        Input("-infinity", with_entry(-np.inf)),
        Input("-0.1", with_entry(-0.1)),
        Input("-1e-17", with_entry(-1e-17)),
        Input("-0.0", with_entry(-0.0)),
        Input("all entries times 1e-310", times(1e-310)),
        Input("all entries times 1e-200", times(1e-200)),
        Input("all entries times 1e160", times(1e160)),
        Input("all entries times 1e300", times(1e300)),
        Input("float32, times 1e30", times(1e30, np.float32)),
        Input("one entry the largest double", with_entry(HUGE)),
        Input("rows from 1e-150 to 1e150", times(np.logspace(-150, 150, 40)[:, None])),
        Input("all zeros", lambda: np.zeros((40, 8))),
        Input("zero rows and a zero column", with_holes),
        Input("constant", lambda: np.ones((40, 8))),
        Input("two different rows, k = 3", lambda: np.tile(plain()[:2], (20, 1))),
    ],
    "Shapes and parameters": [
        Input("no rows", lambda: np.zeros((0, 8))),
        Input("no columns", lambda: np.zeros((5, 0))),
        Input("one dimension", lambda: plain()[0]),
        Input("three dimensions", lambda: plain()[None]),
        Input("None", lambda: None),
        Input("one row", lambda: plain()[:1]),
        Input("one column", lambda: plain()[:, :1]),
        Input("k = 0", plain, {"n_components": 0}),
        Input("k = 2.5", plain, {"n_components": 2.5}),
        Input("k = True", plain, {"n_components": True}, wrong=True),
        Input("k = 41, more than rows", plain, {"n_components": 41}),
        Input("max_iter = 0", plain, {"max_iter": 0}),
        Input("tol = nan", plain, {"tol": float("nan")}),
        Input("random_state = 'a'", plain, {"random_state": "a"}),
    ],
    "Types and layout": [
        Input("float16", lambda: plain().astype(np.float16)),
        Input("booleans", lambda: plain() > 0.5),
        Input("long doubles", lambda: plain().astype(np.longdouble)),
        Input("complex", lambda: plain().astype(complex)),
        Input("numbers as text", lambda: plain().astype(str)),
        Input("words", lambda: np.array([["a", "b"], ["c", "d"]])),
        Input("rows of different lengths", lambda: [[1.0, 2.0], [3.0]]),
        Input("objects, one of them None", lambda: np.where(plain() > 2, None, 1.0)),
        Input("dates", lambda: np.full((40, 8), np.datetime64("2026-01-01")), wrong=True),
        Input("a masked array with a mask", with_mask, wrong=True),
        Input("big-endian numbers", lambda: plain().astype(">f8")),
        Input("Fortran order, negative strides", lambda: np.asfortranarray(plain())[::-1, ::-1]),
        Input("a read-only memory map", memory_map),
        Input("numpy.matrix", lambda: np.matrix(plain())),
        Input("a frame with a column of text", with_text),
        Input("a Dask array", lambda: dask.array.from_array(plain(), chunks=(10, 8))),
    ],
    "Sparse matrices": [
        Input("CSR, 64-bit indices", corrupt_csr(indices=np.int64, indptr=np.int64)),
        Input("CSR, unsorted, entries stored twice", with_duplicates),
        Input("COO", lambda: sparse.coo_array(plain())),
        Input("LIL", lambda: sparse.lil_array(plain())),
        Input("CSR, NaN", corrupt_csr(data=changed(7, np.nan))),
        Input("CSR, negative", corrupt_csr(data=changed(7, -1.0))),
        Input(
            "CSR, a column that is not there", corrupt_csr(indices=changed(7, 10**6)), wrong=True
        ),
        Input("CSR, a negative column", corrupt_csr(indices=changed(7, -5)), wrong=True),
        Input("CSR, row pointers that fall", corrupt_csr(indptr=changed(5, 10**8)), wrong=True),
        Input(
            "CSR, row pointers beyond the end", corrupt_csr(indptr=changed(-1, 10**9)), wrong=True
        ),
        Input("CSR, fewer columns than entries", corrupt_csr(indices=lambda indices: indices[:-9])),
        Input("CSR without entries", lambda: sparse.csr_array((40, 8))),
    ],
    "Weights": [
        Input("a negative weight", plain, weights(-1.0)),
        Input("a NaN weight", plain, weights(np.nan)),
        Input("a weight of 1e300", plain, weights(1e300)),
        Input("all weights zero", plain, {"sample_weight": np.zeros(40)}),
        Input("39 weights for 40 rows", plain, {"sample_weight": np.ones(39)}),
    ],
}


def by_orthonmf(case: Input) -> str:
    """`orthonmf.factorize` over samples with its default settings."""
    X = case.make()
    result = orthonmf.factorize(X, **{**DEFAULTS, **case.options})
    return say(X, result.loadings, result.components, case)


def by_scikit_learn(case: Input) -> str:
    """scikit-learn's NMF, or with weights its KMeans, with their default settings."""
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
    for densify in ("compute", "toarray"):
        matrix = getattr(matrix, densify)() if hasattr(matrix, densify) else matrix
    if isinstance(matrix, np.ma.MaskedArray):
        return None
    try:
        return np.asarray(matrix).astype(np.longdouble)
    except (TypeError, ValueError):
        return None


SECTIONS = {
    heading: [
        Try(case.name, partial(by_orthonmf, case), partial(by_scikit_learn, case)) for case in cases
    ]
    for heading, cases in CASES.items()
}
