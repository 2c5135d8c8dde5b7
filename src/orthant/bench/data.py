"""The matrices that are measured on, made in the process that measures, from a seed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import coo_array

from orthant.bench.measuring import SkippedError
from orthant.datasets import make_planted
from orthant.datasets.uci import HOME_VARIABLE
from orthant.errors import OrthantError
from orthant.reproduction.data import real_set
from orthant.reproduction.paper import N_COMPONENTS_REAL, PUBLISHED

CHUNK_ROWS = 100_000


@dataclass(frozen=True, slots=True)
class Data:
    """A description of a matrix that travels between processes as JSON.

    Attributes
    ----------
    kind
        A key of ``MAKERS``: "planted", "blocks", "groups" (with a core between those of both
        sides), "uniform", "sparse", or "uci" for a real set.
    n_samples, n_features, n_components
        Shape, and how many components are planted (or asked for, where none are).
    noise
        Mean of the exponential noise on planted components.
    density
        Share of entries that are not zero, for "sparse".
    dtype
        "float32" or "float64".
    name
        Which real set, for "uci".
    """

    kind: str
    n_samples: int
    n_features: int
    n_components: int
    noise: float = 0.5
    density: float = 1.0
    dtype: str = "float64"
    name: str = ""

    @property
    def title(self) -> str:
        """Shape, components and type in a few words."""
        shape = f"{self.n_samples:,} x {self.n_features:,}"
        return f"{self.name or shape} k={self.n_components} {self.dtype}"

    def make(self, seed: int = 0) -> Any:
        """The matrix: a C-ordered array or a CSR array."""
        return MAKERS[self.kind](self, np.random.default_rng(seed))


def real(name: str) -> Data:
    """A real set of the paper's table."""
    return Data("uci", *PUBLISHED[name].shape, N_COMPONENTS_REAL, name=name)


def _draw_planted(data: Data, rng: np.random.Generator) -> Any:
    orthogonal = "samples" if data.kind == "planted" else "both"
    k = data.n_components
    sizes = (k, k) if data.kind == "groups" else k
    shape = (data.n_samples, data.n_features)
    return make_planted(*shape, sizes, data.noise, orthogonal, rng).X.astype(data.dtype)


def _draw_uniform(data: Data, rng: np.random.Generator) -> Any:
    """Entries without structure, filled in place so that nothing of this size is held twice."""
    X = np.empty((data.n_samples, data.n_features), dtype=data.dtype)
    for start in range(0, len(X), CHUNK_ROWS):
        rng.random(out=X[start : start + CHUNK_ROWS], dtype=X.dtype)
    return X


def _draw_sparse(data: Data, rng: np.random.Generator) -> Any:
    shape = (data.n_samples, data.n_features)
    size = round(data.density * shape[0] * shape[1])
    places = rng.choice(shape[0] * shape[1], size, replace=False, shuffle=False)
    positions = tuple(one.astype(np.int32) for one in np.divmod(places, shape[1]))
    return coo_array((rng.random(size), positions), shape=shape).tocsr().astype(data.dtype)


def _load_real(data: Data, rng: np.random.Generator) -> Any:
    # Nothing is downloaded in the middle of a measurement that nobody asked to be online.
    if not os.environ.get(HOME_VARIABLE):
        raise SkippedError(f"set {HOME_VARIABLE} to the folder that holds the sets")
    try:
        X = real_set(data.name, (data.n_samples, data.n_features))
    except (OrthantError, OSError) as error:
        raise SkippedError(str(error)) from error
    return X.astype(data.dtype)


MAKERS = {
    "planted": _draw_planted,
    "blocks": _draw_planted,
    "groups": _draw_planted,
    "uniform": _draw_uniform,
    "sparse": _draw_sparse,
    "uci": _load_real,
}
