"""HDF5: plain ``.h5`` files, 10x Genomics matrices and AnnData's ``.h5ad``.

A file can make a reader open other files: through external storage, external links and virtual
datasets. All three are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

from orthonmf.extras import import_extra
from orthonmf.files.readers.record import NamedMatrix, Request, StoredRows
from orthonmf.files.readers.store import Store
from orthonmf.numerics.arrays import Array


def read_h5(request: Request) -> NamedMatrix:
    """A two-dimensional dataset, a sparse group, or the matrix of a 10x file."""
    with _open(request) as (store, opened):
        tenx = store.find("matrix", store.group_type) if request.key is None else None
        if tenx is not None:
            return _read_tenx(store, tenx)
        here = store.find_only_matrix() if request.key is None else store.at(request.key)
        return _keep_open(request.matrix(store.matrix(here)), opened)


def read_h5ad(request: Request) -> NamedMatrix:
    """``X`` (or the layer named) of an AnnData file, with the names of cells and genes."""
    with _open(request) as (store, opened):
        data = store.read_anndata(request.key or "X")
        advice = _advise_raw(store) if request.key in (None, "X") else ""
        return _keep_open(replace(data, where_negative=advice), opened)


def _advise_raw(store: Store) -> str:
    """Where the counts are that ``X`` was made of, if the file has kept them."""
    names = [] if store.find("raw/X", object) is None else ["raw/X"]
    names += [f"layers/{name}" for name in store.find("layers", store.group_type) or ()]
    if not names:
        return ""
    others = f" (or {', '.join(names[1:6])})" if len(names) > 1 else ""
    return f"what X was made of may be there: --key {names[0]}{others}"


def read_observation(request: Request, name: str, expected: int) -> tuple[str, ...]:
    """What ``obs`` of an AnnData file says of every cell under a name, as texts."""
    with _open(request) as (store, _):
        return store.read_observation(name, expected)


def read_map(request: Request, expected: int) -> tuple[str, Array] | None:
    """The name and the positions (n, 2) of a map of the cells, if the file has one."""
    with _open(request) as (store, _):
        return store.read_map(expected)


def _read_tenx(store: Store, group: Any) -> NamedMatrix:
    """A 10x matrix: genes by cells, by columns; read as cells by genes, by rows."""
    shape = store.read(store.at("matrix/shape"))
    genes, cells = store.request.check_shape(tuple(shape.ravel().tolist()))
    X = store.sparse(group, "csr", (cells, genes))
    names = store.find("matrix/features/name", store.array_type)
    barcodes = store.texts(store.at("matrix/barcodes"))
    return store.request.matrix(X, barcodes, None if names is None else store.texts(names))


@contextmanager
def _open(request: Request) -> Iterator[tuple[Store, ExitStack]]:
    """The file, and what closes it at the end unless it is taken out."""
    h5py = import_extra("h5py", "files")
    with request.decoding("this is no HDF5 file, or a damaged one"), ExitStack() as opened:
        yield _Hdf5(request, opened.enter_context(h5py.File(request.path, "r"))), opened


def _keep_open(data: NamedMatrix, opened: ExitStack) -> NamedMatrix:
    """The same; the file stays open if its rows are still in there."""
    return replace(data, opened=opened.pop_all()) if isinstance(data.X, StoredRows) else data


class _Hdf5(Store):
    """An open HDF5 file; no link out of it is followed."""

    def __init__(self, request: Request, root: Any) -> None:
        super().__init__(request, root)
        self.h5py = import_extra("h5py", "files")
        self.array_type, self.group_type = self.h5py.Dataset, self.h5py.Group

    def child(self, group: Any, name: str) -> Any:
        """What lies in a group under a name, the link looked at before it is followed."""
        link = group.get(name, getlink=True)
        if isinstance(link, self.h5py.ExternalLink):
            raise self.request.error(f"{name!r} is a link to another file, which is not followed")
        if isinstance(link, self.h5py.SoftLink):
            raise self.request.error(
                f"{name!r} is a soft link, not followed; name what it points to with --key"
            )
        return group[name]

    def identity(self, element: Any) -> Any:
        """Where it lies in the file: links may give it several names."""
        about = self.h5py.h5o.get_info(element.id)
        return about.fileno, about.addr

    def check_array(self, array: Any) -> None:
        """Refuse what lies in another file, or in pieces that take too much memory."""
        if array.external or array.is_virtual:
            raise self.request.error(
                f"{array.name!r} keeps its numbers in another file, which is not opened"
            )
        self.check_size(array, array.chunks, "chunks of shape")

    def stored_bytes(self, array: Any) -> int:
        """How much of a dataset is in the file."""
        return int(array.id.get_storage_size())
