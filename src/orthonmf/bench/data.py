"""The matrices that are measured on, made in the process that measures, from a seed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import coo_array

from orthonmf.bench.measuring import SkippedError
from orthonmf.datasets import make_planted
from orthonmf.datasets.uci import HOME_VARIABLE
from orthonmf.errors import OrthoNMFError
from orthonmf.reproduction.data import real_set
from orthonmf.reproduction.paper import N_COMPONENTS_REAL, PUBLISHED

CHUNK_ROWS = 100_000


@dataclass(frozen=True, slots=True)
class Data:
    """A description of a matrix that travels between processes as JSON."""

    kind: str  # a key of MAKERS; groups: with a core between those of both sides, uci: a real set
    n_samples: int
    n_features: int
    n_components: int  # planted, or asked for where none are
    noise: float = 0.5  # mean of the exponential noise on planted components
    density: float = 1.0  # share of entries that are not zero, for "sparse"
    dtype: str = "float64"
    name: str = ""  # which real set, for "uci"

    @property
    def title(self) -> str:
        """Shape, components and type in a few words."""
        shape = f"{self.n_samples:,} x {self.n_features:,}"
        return f"{self.name or shape} k={self.n_components} {self.dtype}"

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Samples, features and components."""
        return self.n_samples, self.n_features, self.n_components

    def make(self, seed: int = 0) -> Any:
        """The matrix: a C-ordered array or a CSR array."""
        return MAKERS[self.kind](self, np.random.default_rng(seed))


def real(name: str) -> Data:
    """A real set of the paper's table."""
    return Data("uci", *PUBLISHED[name].shape, N_COMPONENTS_REAL, name=name)


def _draw_planted(data: Data, rng: np.random.Generator) -> Any:
    orthogonal = "samples" if data.kind == "planted" else "both"
    n, m, k = data.sizes
    components = (k, k) if data.kind == "groups" else k
    return make_planted(n, m, components, data.noise, orthogonal, rng).X.astype(data.dtype)


def _draw_uniform(data: Data, rng: np.random.Generator) -> Any:
    """Entries without structure, filled in place so that nothing of this size is held twice."""
    X = np.empty((data.n_samples, data.n_features), dtype=data.dtype)
    for start in range(0, len(X), CHUNK_ROWS):
        rng.random(out=X[start : start + CHUNK_ROWS], dtype=X.dtype)
    return X


def _draw_sparse(data: Data, rng: np.random.Generator) -> Any:
    n, m, _ = data.sizes
    size = round(data.density * n * m)
    places = rng.choice(n * m, size, replace=False, shuffle=False)
    positions = tuple(one.astype(np.int32) for one in np.divmod(places, m))
    return coo_array((rng.random(size), positions), shape=(n, m)).tocsr().astype(data.dtype)


def _load_real(data: Data, rng: np.random.Generator) -> Any:
    # Nothing is downloaded in the middle of a measurement that nobody asked to be online.
    if not os.environ.get(HOME_VARIABLE):
        raise SkippedError(f"set {HOME_VARIABLE} to the folder that holds the sets")
    try:
        X = real_set(data.name, data.sizes[:2])
    except (OrthoNMFError, OSError) as error:
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
