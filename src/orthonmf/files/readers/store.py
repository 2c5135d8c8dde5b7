"""Stores: HDF5 files and Zarr folders of named arrays, and AnnData in either of them.

What could open another file, run code or take too much memory is refused before it is read. Then
h5py and zarr read arrays, and anndata reads what belongs to its tables.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np

from orthonmf.extras import import_extra
from orthonmf.files.readers.record import (
    NUMBERS,
    FileError,
    NamedMatrix,
    Names,
    Request,
    StoredRows,
)
from orthonmf.inputs.sparse import COMPRESSED
from orthonmf.numerics.arrays import Array

MOST_OBJECTS = 10_000
MOST_NAMED = 20  # keys in a message
# Maps of cells that AnnData files hold, the one that people look at first in front.
MAPS = ("X_umap", "X_tsne", "spatial", "X_pca")
OLD_ANNDATA = (
    "it is in the layout of AnnData before version 0.7, with the keys {}; write it anew with "
    "anndata.read_h5ad(FILE).write_h5ad(NEW) and read NEW, or take a matrix without its names: "
    "--format h5 --key X"
)


class Store(ABC):
    """An open store: its arrays and groups, looked at with care."""

    array_type: Any
    group_type: Any

    def __init__(self, request: Request, root: Any) -> None:
        self.request, self.root = request, root

    @abstractmethod
    def child(self, group: Any, name: str) -> Any:
        """What lies in a group under a name that is there; no link out of it is followed."""

    @abstractmethod
    def check_array(self, array: Any) -> None:
        """Refuse an array that lies elsewhere, or in pieces that cannot be trusted."""

    @abstractmethod
    def stored_bytes(self, array: Any) -> int:
        """How much of an array is there, as packed as it is."""

    def at(self, path: str) -> Any:
        """The array or group at a path that must be there."""
        here = self.root
        for name in path.strip("/").split("/"):
            if not isinstance(here, self.group_type) or name not in here:
                raise self.request.error(f"there is no {path!r} in it; it has {self.list_keys()}")
            here = self.child(here, name)
        return here

    def find(self, path: str, kind: Any) -> Any:
        """The array or group at a path; None where there is none of this kind."""
        try:
            here = self.at(path)
        except FileError:
            return None
        return here if isinstance(here, kind) else None

    def list_keys(self) -> str:
        """The names of what is in the store, for messages."""
        return ", ".join(sorted(self.root)[:MOST_NAMED]) or "nothing"

    def walk(self, element: Any) -> Iterator[Any]:
        """An element and all that lies below it, each once."""
        waiting, seen = [element], set()
        while waiting:
            here = waiting.pop()
            if self.identity(here) in seen:  # a second link to it, maybe from within itself
                continue
            seen.add(self.identity(here))
            if len(seen) > MOST_OBJECTS:
                raise self.request.error(
                    f"it holds more than {MOST_OBJECTS:,} objects; name one by --key"
                )
            yield here
            if isinstance(here, self.group_type):
                waiting.extend(self.child(here, name) for name in here)

    def identity(self, element: Any) -> Any:
        """What tells an element from all others."""
        return element.name

    def find_only_matrix(self) -> Any:
        """The element called X, the one array of two dimensions, or the one sparse group."""
        if "X" in self.root:
            return self.child(self.root, "X")
        matrices = {here.name: here for here in self.walk(self.root) if self._is_matrix(here)}
        return matrices[self.request.only_one(list(matrices), "two-dimensional array of numbers")]

    def _is_matrix(self, here: Any) -> bool:
        if isinstance(here, self.array_type):
            return here.ndim == 2 and np.dtype(here.dtype).kind in NUMBERS
        return set(COMPRESSED) <= set(here)

    def matrix(self, here: Any) -> Any:
        """An array, or the rows of one that is left where it is, or a CSR array of a group."""
        if not isinstance(here, self.array_type):
            return self.sparse(here)
        n_bytes = prod(self.request.check_shape(here.shape)) * np.dtype(here.dtype).itemsize
        if self.request.streams(n_bytes, self.stored_bytes(here)):
            self.check(here, whole=False)
            return StoredRows(here, self.request)
        return self.read(here)

    def sparse(self, group: Any, kind: str | None = None, shape: Any = None) -> Any:
        """The CSR array of a group with data, indices and indptr, as AnnData and 10x have it."""
        if not isinstance(group, self.group_type) or not set(COMPRESSED) <= set(group):
            raise self.request.error(f"{group.name!r} is neither an array nor a sparse matrix")
        if shape is None:
            about = group.attrs
            kind = str(about.get("encoding-type", about.get("h5sparse_format")))
            shape = about.get("shape", about.get("h5sparse_shape"))
        if shape is None:
            raise self.request.error(f"the sparse matrix {group.name!r} does not say its shape")
        size = self.request.check_shape(tuple(np.ravel(shape).tolist()))
        parts = [self.read(self.child(group, name)) for name in COMPRESSED]
        return self.request.sparse("csc" if str(kind).startswith("csc") else "csr", parts, size)

    def read(self, array: Any) -> Array:
        """All of an array of numbers, once its content and its size have been checked."""
        self.check(array, whole=True)
        return np.asarray(array[...])

    def check(self, array: Any, *, whole: bool) -> None:
        """Refuse what is no array of numbers, cannot be trusted or, if read whole, is too large."""
        if not isinstance(array, self.array_type):
            raise self.request.error(f"{array.name!r} is no array")
        if np.dtype(array.dtype).kind not in NUMBERS:
            raise self.request.error(f"{array.name!r} holds {array.dtype} values, not numbers")
        if whole:
            self.check_size(array, array.shape, "declared shape")
        self.check_array(array)

    def check_size(self, array: Any, shape: Any, what: str) -> None:
        """Refuse a declared shape, of an array or of its pieces, that takes too much memory."""
        size = prod(shape or ()) * max(1, np.dtype(array.dtype).itemsize)
        self.request.check_size(size, f"the array {array.name!r} with {what} {shape}")

    def texts(self, element: Any) -> tuple[str, ...]:
        """An array, a column of categories or one with missing entries, as anndata reads it."""
        for here in self.walk(element):
            if isinstance(here, self.array_type):
                self.check_array(here)
                self.check_size(here, here.shape, "declared shape")
        import pandas as pd

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of files that anndata did not write
            values = import_extra("anndata.io", "files").read_elem(element)
        return tuple(
            text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)
            for text in pd.Series(values, dtype=object)
        )

    def read_anndata(self, key: str) -> NamedMatrix:
        """A matrix of an AnnData with the names of cells and genes."""
        if any(isinstance(self.find(side, object), self.array_type) for side in ("obs", "var")):
            raise self.request.error(OLD_ANNDATA.format(self.list_keys()))
        # What is raw may have more genes than X, with names of their own.
        genes = "raw/var" if key.strip("/").startswith("raw/") else "var"
        X = self.matrix(self.at(key))
        sides = zip(("obs", genes), X.shape, strict=True)
        return self.request.matrix(X, *(self._names(side, size) for side, size in sides))

    def _names(self, side: str, size: int) -> Names:
        """The names of cells or genes; None if there are none that fit."""
        table = self.find(side, self.group_type)
        if table is None:
            return None
        index = self.find(f"{side}/{table.attrs.get('_index', '_index')}", self.array_type)
        return self.texts(index) if index is not None and index.shape == (size,) else None

    def read_observation(self, name: str, expected: int) -> tuple[str, ...]:
        """What ``obs`` of an AnnData says of every cell under a name, as texts."""
        table = self.at("obs")
        if not isinstance(table, self.group_type):
            raise self.request.error(OLD_ANNDATA.format(self.list_keys()))
        if name not in table:
            listed = ", ".join(sorted(set(table) - {table.attrs.get("_index")})) or "nothing"
            raise self.request.error(f"obs has no {name!r}; it has {listed}")
        values = self.texts(self.child(table, name))
        if len(values) != expected:
            raise self.request.error(f"obs {name!r} has {len(values)} entries for {expected} rows")
        return values

    def read_map(self, expected: int) -> tuple[str, Array] | None:
        """The name and the positions (n, 2) of a map of the cells in ``obsm``, if there is one."""
        for name in MAPS:
            array = self.find(f"obsm/{name}", self.array_type)
            shape: tuple[int, ...] = () if array is None else array.shape
            if len(shape) == 2 and shape[0] == expected and shape[1] >= 2:
                return name, self.read(array)[:, :2].astype(np.float64)
        return None
