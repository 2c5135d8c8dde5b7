"""Stores: files and folders of named arrays, in which matrices lie as AnnData puts them.

HDF5 and Zarr differ in how an array is found and in what may be wrong with it. What is done with
it is the same.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import prod
from typing import Any

import numpy as np

from orthonmf.files.readers.record import NUMBERS, TEXTS, NamedMatrix, Names, Request, StoredRows
from orthonmf.inputs.sparse_structure import COMPRESSED
from orthonmf.numerics.arrays import Array


class Store(ABC):
    """An open store: its arrays and groups, looked at with care."""

    array_type: Any
    group_type: Any

    def __init__(self, request: Request, root: Any) -> None:
        self.request, self.root = request, root

    @abstractmethod
    def at(self, group: Any, path: str) -> Any:
        """The array or group at a path that must be there."""

    @abstractmethod
    def attribute(self, group: Any, *names: str) -> Any:
        """The first of some attributes that is there, or None."""

    @abstractmethod
    def check_content(self, array: Any, kinds: str) -> None:
        """Refuse an array that cannot be trusted or is not of these kinds; nothing is read."""

    @abstractmethod
    def stored_bytes(self, array: Any) -> int:
        """How much of an array is there, as packed as it is."""

    def matrix(self, here: Any) -> Any:
        """An array, or the rows of one that is left where it is, or a CSR array of a group."""
        if not isinstance(here, self.array_type):
            return self.sparse(here)
        n_bytes = prod(self.request.check_shape(here.shape)) * here.dtype.itemsize
        if self.request.streams(n_bytes, self.stored_bytes(here)):
            self.check(here, NUMBERS, whole=False)
            return StoredRows(here, self.request)
        return self.read(here)

    def sparse(self, group: Any, kind: str | None = None, shape: Any = None) -> Any:
        """The CSR array of a group with data, indices and indptr, as AnnData and h5sparse do it."""
        if not isinstance(group, self.group_type) or not set(COMPRESSED) <= set(group):
            raise self.request.error(f"{group.name!r} is neither an array nor a sparse matrix")
        if shape is None:
            kind = str(self.attribute(group, "encoding-type", "h5sparse_format"))
            shape = self.attribute(group, "shape", "h5sparse_shape")
        if shape is None:
            raise self.request.error(f"the sparse matrix {group.name!r} does not say its shape")
        size = self.request.check_shape(tuple(np.ravel(shape).tolist()))
        parts = [self.read(self.at(group, name)) for name in COMPRESSED]
        return self.request.sparse("csc" if str(kind).startswith("csc") else "csr", parts, size)

    def read(self, array: Any, kinds: str = NUMBERS) -> Array:
        """All of an array, once its content and its size have been checked."""
        self.check(array, kinds, whole=True)
        return np.asarray(array[...])

    def check(self, array: Any, kinds: str, *, whole: bool) -> None:
        """Refuse an array that cannot be trusted or, if the whole of it is read, is too large."""
        self.check_content(array, kinds)
        if whole:
            self.check_size(array, array.shape, "declared shape")

    def check_size(self, array: Any, shape: Any, what: str) -> None:
        """Refuse a declared shape, of an array or of its pieces, that takes too much memory."""
        size = prod(shape or ()) * max(1, np.dtype(array.dtype).itemsize)
        self.request.check_size(size, f"the array {array.name!r} with {what} {shape}")

    def add_names(self, X: Any, genes: str = "var") -> NamedMatrix:
        """A matrix with the names of cells (obs) and genes, where the store has them."""
        sides = zip(("obs", genes), X.shape, strict=True)
        return self.request.matrix(X, *(self._index(part, size) for part, size in sides))

    def _index(self, part: str, size: int) -> Names:
        """The names of one side; None if there are none that fit."""
        # Files of early versions hold one table instead of a group.
        group = self.at(self.root, part) if part in self.root else None
        if not isinstance(group, self.group_type):
            return None
        name = self.attribute(group, "_index") or "_index"
        if not isinstance(name, str) or name not in group:
            return None
        array = self.at(group, name)
        if not isinstance(array, self.array_type) or array.shape != (size,):
            return None
        return self.texts(array)

    def texts(self, array: Any) -> tuple[str, ...]:
        """An array of text, or of what can be written as text."""
        values = self.read(array, TEXTS + NUMBERS)
        return tuple(
            one.decode("utf-8", "replace") if isinstance(one, bytes) else str(one) for one in values
        )
