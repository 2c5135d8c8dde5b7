"""The one door: raw input is checked here, once, and becomes a Matrix that code may trust."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from narwhals.dependencies import is_into_dataframe
from scipy.sparse import csr_array, issparse

from orthonmf.engine.dask.source import DaskSource
from orthonmf.engine.executors import executor_for
from orthonmf.engine.first_look import scan
from orthonmf.engine.matrix import Matrix
from orthonmf.engine.missing import MaskedMatrix, fill
from orthonmf.engine.sources import ArraySource, CsrSource, SlicedSource, Source
from orthonmf.errors import (
    InvalidInputError,
    InvalidTypeError,
    MissingEntryError,
    NegativeEntryError,
)
from orthonmf.inputs.arrays import (
    as_array,
    check_dimensions,
    is_plain,
    refuse_cut_map,
    refuse_dtype,
)
from orthonmf.inputs.parameters import (
    as_bytes,
    as_n_jobs,
    as_weights,
    check_amounts,
    may_be_missing,
)
from orthonmf.inputs.sparse import as_csr
from orthonmf.inputs.tensors import (
    StreamedMatrix,
    is_on_device,
    is_tensor,
    source_of_tensor,
    streamed_source,
)
from orthonmf.typing import Array


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """A matrix and its weights as they were given, never a converted copy, and how to read them."""

    X: Any
    sample_weight: Any = None
    feature_weight: Any = None
    missing_values: Any = None
    n_jobs: int | None = None
    max_memory: int | str | None = None

    def read(self) -> Matrix:
        """The matrix as it is now, checked and ready for passes; a MaskedMatrix if entries miss.

        Raises
        ------
        InvalidInputError, InvalidTypeError
            Naming the first offending position and what to do about it.
        """
        source = as_source(self.X)
        row_weights = as_weights(self.sample_weight, source.shape[0], "sample_weight")
        column_weights = as_weights(self.feature_weight, source.shape[1], "feature_weight")
        executor = executor_for(source, as_n_jobs(self.n_jobs), as_bytes(self.max_memory))
        look = partial(scan, source, executor, row_weights, column_weights)
        scanned = look()
        offense = scanned.offense
        may_miss = may_be_missing(self.missing_values)
        masked = may_miss and offense is not None and np.isnan(offense[2])
        if masked:
            if not source.kernel.fills_gaps:
                raise InvalidInputError(
                    "X has missing entries, which can be left out of arrays and sparse matrices in "
                    "memory or on disk alone; of a tensor pass X.cpu()"
                )
            scanned = look(prepare=fill)
        if scanned.offense is not None:
            raise _offense(*scanned.offense, self.X)
        kind = MaskedMatrix if masked else Matrix
        return kind(source, executor, scanned)


def as_matrix(X: Any, **given: Any) -> Matrix:
    """The matrix that `Data` of these fields are."""
    return Data(X, **given).read()


def as_source(X: Any) -> Source:
    """A source for whatever holds a matrix; its structure is checked, its entries are not.

    A memory map is an array too: its source sees that the rows lie on disk.
    """
    if is_plain(X) or is_into_dataframe(X):  # never ask a frame: it answers with its columns
        return ArraySource(as_array(X))
    if is_anndata(X):
        return as_source(X.X)
    refuse_networkx(X)
    if hasattr(type(X), "to_memory") and getattr(type(X), "format", None) in ("csr", "csc"):
        X = X.to_memory()  # a sparse matrix in the file of a backed AnnData
    if issparse(X):
        for part in ("data", "indices", "indptr"):
            refuse_cut_map(getattr(X, part, None))
        return CsrSource(as_csr(X))
    if is_of_dask(X):
        return _dask_source(X)
    if is_tensor(X) or is_on_device(X):
        return source_of_tensor(X)
    if isinstance(X, StreamedMatrix):
        return streamed_source(X, as_source(X.X))
    if is_sliceable(X):
        check_dimensions(X.shape)
        refuse_dtype(X.dtype)
        return SlicedSource(X)
    return ArraySource(as_array(X))


def is_anndata(X: Any) -> bool:
    """Whether X is an AnnData, or something that looks like one.

    Its class is asked: some objects, such as a Delayed of Dask, say yes to any name.
    """
    return all(hasattr(type(X), name) for name in ("X", "obs_names", "var_names", "layers"))


def refuse_networkx(X: Any) -> None:
    """Refuse a graph of networkx, or what it lists, with what to pass."""
    if type(X).__module__.split(".")[0] == "networkx":
        raise InvalidTypeError(
            f"X is networkx's {type(X).__name__}; pass networkx.bipartite.biadjacency_matrix("
            "G, rows, columns) with sample_names=rows and feature_names=columns, or the graph "
            "itself to orthonmf.BipartiteCorrelationClustering"
        )


def is_of_dask(X: Any) -> bool:
    """Whether X is a collection of Dask; dask is not imported to find out."""
    return type(X).__module__.split(".")[0] == "dask"


def _dask_source(X: Any) -> DaskSource:
    if not hasattr(type(X), "chunks"):  # an object of Dask may say yes to any name
        raise InvalidTypeError(
            f"X is a {type(X).__name__} of Dask, but a Dask array is needed; a dataframe becomes "
            "one with X.to_dask_array(lengths=True)"
        )
    check_dimensions(X.shape)
    refuse_dtype(X.dtype)
    return DaskSource(X, _check_block)


def _check_block(block: Any) -> Array | csr_array:
    """A block of a Dask array; what it holds is checked wherever it is computed."""
    if issparse(block):
        return as_csr(block)
    if isinstance(block, np.ndarray):
        return as_array(block)
    raise InvalidTypeError(
        f"blocks of X must be NumPy arrays or SciPy sparse ones; got {type(block).__name__}"
    )


def is_sliceable(X: Any) -> bool:
    """Whether X is read by slices of its rows, never as a whole: HDF5, zarr and their like."""
    is_array = isinstance(X, np.ndarray | np.generic) or hasattr(X, "__dlpack__")
    numeric = isinstance(getattr(X, "dtype", None), np.dtype)
    sized = isinstance(getattr(X, "shape", None), tuple)
    return numeric and sized and hasattr(X, "__getitem__") and not is_array


def _offense(row: int, column: int, value: float, X: Any) -> InvalidInputError:
    place = f"X[{row}, {column}]"
    if np.isnan(value):
        return MissingEntryError(
            f"Input X contains NaN, the first at {place}",
            "pass missing_values=numpy.nan to leave missing entries out of the error (over samples "
            "or features), or impute them, for instance with sklearn.impute.SimpleImputer",
        )
    if np.isposinf(value):
        return InvalidInputError(
            f"Input X contains infinity, the first at {place}. Cap or remove such values"
        )
    remedy = "clip it with numpy.maximum(X, 0) or shift it to start at zero"
    if is_anndata(X):  # it may have kept the counts that it was made of
        places = [f"X.layers[{name!r}] (layer={name!r} in annotate)" for name in X.layers]
        places += ["X.raw.to_adata()"] if X.raw is not None else []
        remedy += f"; what X was made of may be there: {', '.join(places[:5])}" if places else ""
    return NegativeEntryError(
        f"Negative values in data: the first is {place} = {value:g}. The factorization needs a "
        "non-negative matrix",
        remedy,
    )


def as_directions(directions: Any, k: int, n_features: int) -> Array:
    """Up to k non-negative, non-zero rows of ``n_features`` finite numbers, in float64."""
    try:
        source = as_source(directions)
    except (InvalidInputError, InvalidTypeError) as error:
        raise type(error)(f"init cannot be used as directions: {error}") from error
    rows = source.rows(np.arange(source.shape[0]))
    if source.shape[0] > k or source.shape[1] != n_features:
        raise InvalidInputError(
            f"init must hold at most {k} rows of {n_features} numbers; got shape {source.shape}"
        )
    check_amounts(rows, "init")
    empty = np.flatnonzero(~rows.any(axis=1))
    if len(empty):
        raise InvalidInputError(f"init[{int(empty[0])}] is zero everywhere")
    return rows
