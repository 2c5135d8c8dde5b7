"""The matrices that are measured on, made in the process that measures, from a seed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import coo_array

from benchmarks.rows import SkippedError
from experiments.paper import N_COMPONENTS_REAL, PUBLISHED
from experiments.uci import HOME_VARIABLE, DataError, load_uci
from orthonmf.datasets import make_planted

CHUNK_ROWS = 100_000
SETTINGS = ("samples", "features", "both")


@dataclass(frozen=True, slots=True)
class Data:
    """A description of a matrix, which is made where it is needed."""

    kind: str  # planted, blocks, groups (with a core between), uniform, sparse, or uci: a real set
    n_samples: int
    n_features: int
    n_components: int  # asked for
    noise: float = 0.5  # mean of the exponential noise on planted components
    density: float = 1.0  # share of entries that are not zero, for "sparse"
    dtype: str = "float64"
    name: str = ""  # which real set, for "uci"
    planted: int = 0  # components; 0 for as many as are asked for

    @property
    def title(self) -> str:
        """Shape, components and type in a few words."""
        shape = f"{self.n_samples:,} x {self.n_features:,}"
        planted = self.kind in ("planted", "blocks", "groups")
        noise = f" noise {self.noise:g}" if planted else ""
        of = f" of {self.planted}" if self.planted else ""
        return f"{self.name or shape} k={self.n_components}{of} {self.dtype}{noise}"

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Samples, features and components."""
        return self.n_samples, self.n_features, self.n_components

    def make(self, seed: int = 0) -> Any:
        """The matrix: a C-ordered array or a CSR array."""
        rng = np.random.default_rng(seed)
        if self.kind == "uci":
            return _load(self.name).astype(self.dtype)
        if self.kind == "uniform":
            return _draw_uniform(self, rng)
        if self.kind == "sparse":
            return _draw_sparse(self, rng)
        n, m, k = self.n_samples, self.n_features, self.planted or self.n_components
        orthogonal = "samples" if self.kind == "planted" else "both"
        components = (k, k) if self.kind == "groups" else k
        return make_planted(n, m, components, self.noise, orthogonal, rng).X.astype(self.dtype)


def real(name: str) -> Data:
    """A real set of the paper's table."""
    return Data("uci", *PUBLISHED[name].shape, N_COMPONENTS_REAL, name=name)


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
    positions = tuple(indices.astype(np.int32) for indices in np.divmod(places, m))
    return coo_array((rng.random(size), positions), shape=(n, m)).tocsr().astype(data.dtype)


def _load(name: str) -> Any:
    # Nothing is downloaded in the middle of a measurement that nobody asked to be online.
    if not os.environ.get(HOME_VARIABLE):
        raise SkippedError(f"set {HOME_VARIABLE} to the folder that holds the sets")
    try:
        return load_uci(name)
    except (DataError, OSError) as error:
        raise SkippedError(str(error)) from error


EXPERIMENT_ONE = Data("planted", 5_000, 100, 10)
LARGE = (
    Data("planted", 200_000, 100, 50, dtype="float32"),
    Data("planted", 50_000, 1_000, 50, dtype="float32"),
)
OF_THE_PAPER = tuple(name for name in PUBLISHED if name != "pems-train")  # nobody has that one
SPARSE = tuple(real(name) for name in ("bow-kos", "bow-nips", "amazon-commerce-reviews"))
# As one calls it: few and many components for what is planted, tables and expression sets.
ONE_CALL = (
    *(Data("planted", 5_000, 100, k, planted=10) for k in (6, 10, 14)),
    *SPARSE,
    Data("planted", 20, 10, 3),
    Data("planted", 150, 4, 3),
    Data("planted", 307, 41, 6),
    Data("planted", 50, 4_434, 4),
    Data("planted", 249, 6_982, 6),
)
TINY = Data("planted", 300, 20, 3)
