"""Stores: HDF5 files and Zarr folders of named arrays, with 10x Genomics and AnnData in them.

h5py and zarr give groups and arrays of the same interface, anndata reads the tables that are its
own. Refused before it is read is what could open another file (links, external storage and
virtual datasets of HDF5), run code (a codec of Zarr unpickles), or take too much memory.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array

from orthonmf.extras import import_extra
from orthonmf.files.readers.request import FileError, NamedMatrix, Names, Request, StoredRows
from orthonmf.inputs.sparse import as_checked_csr
from orthonmf.typing import REAL, Array

COMPRESSED = ("data", "indices", "indptr")  # the parts of a sparse matrix
MOST_OBJECTS = 10_000
# Going over an array that is almost all claim would take for ever; gzip cannot do much more.
MOST_UNPACKED = 1000
MOST_NAMED = 20  # keys in a message
# Maps of cells that AnnData files hold, the one that people look at first in front.
MAPS = ("X_umap", "X_tsne", "spatial", "X_pca")
OLD_ANNDATA = (
    "it is in the layout of AnnData before version 0.7; anndata.read_h5ad(FILE).write_h5ad(NEW) "
    "brings it up to date, --format h5 --key X takes a matrix without its names"
)
ZARR_MARKS = ("zarr.json", ".zgroup", ".zarray")  # what is in every Zarr store
MOST_EMPTY, PIECES_PER_STORED = 20_000, 10  # more pieces than these allow are an empty claim


def read_h5(request: Request) -> NamedMatrix:
    """A two-dimensional dataset, a sparse group, or the matrix of a 10x file."""
    with _open_hdf5(request) as store:
        if request.key is None and store.find("matrix", store.group_type) is not None:
            return _read_tenx(store)
        return request.matrix(store.read_chosen())


def read_h5ad(request: Request) -> NamedMatrix:
    """``X`` (or the layer named) of an AnnData file, with the names of cells and genes."""
    with _open_hdf5(request) as store:
        advice = _advise_raw(store) if request.key in (None, "X") else ""
        return replace(_read_anndata(store), where_negative=advice)


def read_zarr(request: Request) -> NamedMatrix:
    """The matrix of a Zarr folder, with names where AnnData put them."""
    zarr = import_extra("zarr", "files")
    if not request.path.is_dir():
        raise request.error("a Zarr store is a folder")
    if not any((request.path / name).exists() for name in ZARR_MARKS):
        raise request.error(
            "the folder holds no matrix that is known: neither a Zarr store (zarr.json, .zgroup) "
            "nor files of 10x Genomics (matrix.mtx, barcodes.tsv, features.tsv)"
        )
    with request.decoding("this is no Zarr store, or a damaged one"):
        root = zarr.open(str(request.path), mode="r", use_consolidated=False)
        store = _Zarr(request, root, zarr.Array, zarr.Group)
        if isinstance(store.root, store.array_type):
            return request.matrix(store.matrix(store.root))
        if "obs" in store.root and "var" in store.root:
            return _read_anndata(store)
        return request.matrix(store.read_chosen())


def read_observation(request: Request, name: str, expected: int) -> tuple[str, ...]:
    """What ``obs`` of an AnnData file says of every cell under a name, as texts."""
    with _open_hdf5(request) as store:
        table = store.at("obs")
        if not isinstance(table, store.group_type):
            raise request.error(OLD_ANNDATA)
        if name not in table:
            listed = ", ".join(sorted(set(table) - {table.attrs.get("_index")})) or "nothing"
            raise request.error(f"obs has no {name!r}; it has {listed}")
        values = store.texts(store.child(table, name))
    if len(values) != expected:
        raise request.error(f"obs {name!r} has {len(values)} entries for {expected} rows")
    return values


def read_map(request: Request, expected: int) -> tuple[str, Array] | None:
    """The name and the positions (n, 2) of a map of the cells, if the file has one."""
    with _open_hdf5(request) as store:
        for name in MAPS:
            array = store.find(f"obsm/{name}", store.array_type)
            shape: tuple[int, ...] = () if array is None else array.shape
            if len(shape) == 2 and shape[0] == expected and shape[1] >= 2:
                return name, store.numbers(array)[:, :2].astype(np.float64)
    return None


def _read_tenx(store: Store) -> NamedMatrix:
    """A 10x matrix: genes by cells, by columns; read as cells by genes, by rows."""
    genes, cells = np.ravel(store.numbers(store.at("matrix/shape"))).tolist()
    X = store.sparse(store.at("matrix"), "csr", (cells, genes))
    names = store.find("matrix/features/name", store.array_type)
    barcodes = store.texts(store.at("matrix/barcodes"))
    return store.request.matrix(X, barcodes, None if names is None else store.texts(names))


def _read_anndata(store: Store) -> NamedMatrix:
    """A matrix of an AnnData with the names of cells and genes."""
    if any(store.find(side, store.array_type) is not None for side in ("obs", "var")):
        raise store.request.error(OLD_ANNDATA)
    key = store.request.key or "X"
    # What is raw may have more genes than X, with names of their own.
    genes = "raw/var" if key.strip("/").startswith("raw/") else "var"
    X = store.matrix(store.at(key))
    sides = zip(("obs", genes), X.shape, strict=True)
    return store.request.matrix(X, *(_names(store, side, size) for side, size in sides))


def _names(store: Store, side: str, size: int) -> Names:
    """The names of cells or genes; None if there are none that fit."""
    table = store.find(side, store.group_type)
    if table is None:
        return None
    index = store.find(f"{side}/{table.attrs.get('_index', '_index')}", object)
    if index is None or getattr(index, "shape", (size,)) != (size,):
        return None
    names = store.texts(index)  # an array, or since anndata 0.13 a group of texts and a mask
    return names if len(names) == size else None


def _advise_raw(store: Store) -> str:
    """Where the counts are that ``X`` was made of, if the file has kept them."""
    names = [] if store.find("raw/X", object) is None else ["raw/X"]
    names += [f"layers/{name}" for name in store.find("layers", store.group_type) or ()]
    if not names:
        return ""
    others = f" (or {', '.join(names[1:6])})" if len(names) > 1 else ""
    return f"what X was made of may be there: --key {names[0]}{others}"


@contextmanager
def _open_hdf5(request: Request) -> Iterator[Store]:
    """The file; HDF5 closes it when nothing of it is in use any more."""
    h5py = import_extra("h5py", "files")
    with request.decoding("this is no HDF5 file, or a damaged one"):
        yield _Hdf5(request, h5py.File(request.path, "r"), h5py.Dataset, h5py.Group)


class Store(ABC):
    """An open store: its arrays and groups, looked at with care."""

    def __init__(self, request: Request, root: Any, array_type: Any, group_type: Any) -> None:
        self.request, self.root = request, root
        self.array_type, self.group_type = array_type, group_type

    def child(self, group: Any, name: str) -> Any:
        """What lies in a group under a name that is there; no link out of it is followed."""
        return group[name]

    @abstractmethod
    def check_storage(self, array: Any) -> None:
        """Refuse an array that lies elsewhere, or in pieces that cannot be trusted."""

    @abstractmethod
    def stored_bytes(self, array: Any) -> int:
        """How much of an array is there, as packed as it is."""

    def at(self, path: str) -> Any:
        """The array or group at a path that must be there."""
        here = self.root
        for name in path.strip("/").split("/"):
            if not isinstance(here, self.group_type) or name not in here:
                listed = ", ".join(sorted(self.root)[:MOST_NAMED]) or "nothing"
                raise self.request.error(f"there is no {path!r} in it; it has {listed}")
            here = self.child(here, name)
        return here

    def find(self, path: str, kind: Any) -> Any:
        """The array or group at a path; None where there is none of this kind."""
        try:
            here = self.at(path)
        except FileError:
            return None
        return here if isinstance(here, kind) else None

    def walk(self, element: Any) -> Iterator[Any]:
        """An element and all that lies below it, each once."""
        waiting, seen = [element], set()
        while waiting:
            here = waiting.pop()
            identity = getattr(here, "id", here.name)  # in HDF5 links give it several names
            if identity in seen:
                continue
            seen.add(identity)
            if len(seen) > MOST_OBJECTS:
                raise self.request.error(
                    f"it holds more than {MOST_OBJECTS:,} objects; name one by --key"
                )
            yield here
            if isinstance(here, self.group_type):
                waiting.extend(self.child(here, name) for name in here)

    def read_chosen(self) -> Any:
        """What the key names; else X, the one array of two dimensions, or the one sparse group."""
        if self.request.key is not None:
            return self.matrix(self.at(self.request.key))
        if "X" in self.root:
            return self.matrix(self.child(self.root, "X"))
        matrices = {here.name: here for here in self.walk(self.root) if self._is_matrix(here)}
        only = self.request.only_one(list(matrices), "two-dimensional array of numbers")
        return self.matrix(matrices[only])

    def _is_matrix(self, here: Any) -> bool:
        if isinstance(here, self.array_type):
            return here.ndim == 2 and np.dtype(here.dtype).kind in REAL
        return set(COMPRESSED) <= set(here)

    def matrix(self, here: Any) -> Any:
        """An array, or the rows of one that is left where it is, or a CSR array of a group."""
        if not isinstance(here, self.array_type):
            return self.sparse(here)
        n_bytes = prod(self.request.check_shape(here.shape)) * np.dtype(here.dtype).itemsize
        most = self.request.stream_above
        if most is not None and most < n_bytes <= MOST_UNPACKED * self.stored_bytes(here):
            self.check_array(here, whole=False)
            return StoredRows(here, self.request)
        return self.numbers(here)

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
        parts = [self.numbers(self.child(group, name)) for name in COMPRESSED]
        with self.request.decoding("this is no sparse matrix, or a damaged one"):
            if any(places.size and places.dtype.kind not in "iu" for places in parts[1:]):
                raise ValueError("places of entries must be integers")
            container = csc_array if str(kind).startswith("csc") else csr_array
            return as_checked_csr(container(tuple(parts), shape=size))

    def numbers(self, array: Any) -> Array:
        """All of an array of numbers, once its content and its size have been checked."""
        self.check_array(array)
        return np.asarray(array[...])

    def check_array(self, array: Any, *, numbers: bool = True, whole: bool = True) -> None:
        """Refuse other content, too much memory, ``whole`` or by pieces, and what lies apart."""
        if not isinstance(array, self.array_type):
            raise self.request.error(f"{array.name!r} is no array")
        dtype = np.dtype(array.dtype)
        if numbers and dtype.kind not in REAL:
            raise self.request.error(f"{array.name!r} holds {array.dtype} values, not numbers")
        shapes = {"declared shape": array.shape if whole else (), "chunks of shape": array.chunks}
        for what, shape in shapes.items():
            size = prod(shape or ()) * max(1, dtype.itemsize)
            self.request.check_size(size, f"the array {array.name!r} with {what} {shape}")
        self.check_storage(array)

    def texts(self, element: Any) -> tuple[str, ...]:
        """An array, a column of categories or one with missing entries, as anndata reads it."""
        for here in self.walk(element):
            if isinstance(here, self.array_type):
                self.check_array(here, numbers=False)
        import pandas as pd

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of files that anndata did not write
            values = import_extra("anndata.io", "files").read_elem(element)
        return tuple(
            text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)
            for text in pd.Series(values, dtype=object)
        )


class _Hdf5(Store):
    """An open HDF5 file."""

    def child(self, group: Any, name: str) -> Any:
        h5py = import_extra("h5py", "files")
        if not isinstance(group.get(name, getlink=True), h5py.HardLink):
            raise self.request.error(
                f"{name!r} is a link, which is not followed; what it points to in this file can be "
                "named with --key"
            )
        return super().child(group, name)

    def check_storage(self, array: Any) -> None:
        if array.external or array.is_virtual:
            raise self.request.error(
                f"{array.name!r} keeps its numbers in another file, which is not opened"
            )

    def stored_bytes(self, array: Any) -> int:
        return int(array.id.get_storage_size())


class _Zarr(Store):
    """An open Zarr folder."""

    def stored_bytes(self, array: Any) -> int:
        return int(array.nbytes_stored())

    def check_storage(self, array: Any) -> None:
        described = array.metadata.to_dict()
        packed_by = [described.get(key) for key in ("filters", "compressor", "codecs")]
        if "pickle" in str(packed_by).lower():
            raise self.request.error(f"{array.name!r} is packed with pickle, which could run code")
        # What is not stored is zero, but each piece has to be asked for.
        sizes = array.chunks if array.shards is None else array.shards
        extents = zip(array.shape, sizes, strict=True)
        claimed = prod(-(-extent // max(1, size)) for extent, size in extents)
        if claimed <= MOST_EMPTY:
            return
        stored = sum(path.is_file() for path in (self.request.path / array.path).rglob("*"))
        if claimed > PIECES_PER_STORED * stored:
            raise self.request.error(
                f"{array.name!r} claims {claimed:,} pieces, {stored:,} files are there"
            )
