"""HDF5: plain ``.h5`` files, 10x Genomics matrices and AnnData's ``.h5ad``.

A file can make a reader open other files: through external storage, external links and virtual
datasets. All three are refused. So are heaps of text that the HDF5 library would never finish
reading.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from orthonmf.extras import import_extra
from orthonmf.files.readers.hdf5_heaps import check_heaps, check_lengths
from orthonmf.files.readers.record import NUMBERS, NamedMatrix, Request, StoredRows
from orthonmf.files.readers.store import Store
from orthonmf.inputs.sparse_structure import COMPRESSED
from orthonmf.numerics.arrays import Array

MOST_OBJECTS = 10_000
MOST_VALUES = 100  # in an attribute
# Maps of cells that AnnData files hold, the one that people look at first in front.
MAPS = ("X_umap", "X_tsne", "spatial", "X_pca")


def read_h5(request: Request) -> NamedMatrix:
    """A two-dimensional dataset, a sparse group, or the matrix of a 10x file."""
    with _open(request) as (store, opened):
        file = store.root
        if request.key is not None:
            here = store.at(file, request.key)
        elif "matrix" in file and isinstance(store.at(file, "matrix"), store.group_type):
            return store.read_tenx(store.at(file, "matrix"))
        else:
            here = store.find_only_matrix()
        return _keep_open(request.matrix(store.matrix(here)), opened)


def read_h5ad(request: Request) -> NamedMatrix:
    """``X`` (or the layer named) of an AnnData file, with the names of cells and genes."""
    with _open(request) as (store, opened):
        check_heaps(request)
        key = request.key or "X"
        # What is raw may have more genes than X, with names of their own.
        genes = "raw/var" if key.strip("/").startswith("raw/") else "var"
        data = store.add_names(store.matrix(store.at(store.root, key)), genes)
        advice = _advise_raw(store) if request.key in (None, "X") else ""
        return _keep_open(replace(data, where_negative=advice), opened)


def _advise_raw(store: _Hdf5) -> str:
    """Where the counts are that ``X`` was made of, if the file has kept them."""
    names = ["raw/X"] if "X" in store.inner_group("raw") else []
    names += [f"layers/{name}" for name in store.inner_group("layers")]
    if not names:
        return ""
    others = f" (or {', '.join(names[1:6])})" if len(names) > 1 else ""
    return f"what X was made of may be there: --key {names[0]}{others}"


def read_observation(request: Request, name: str, expected: int) -> tuple[str, ...]:
    """What ``obs`` of an AnnData file says of every cell under a name, as texts."""
    with _open(request) as (store, _):
        check_heaps(request)
        table = store.at(store.root, "obs")
        known = sorted(one for one in table if one != store.attribute(table, "_index"))
        if name not in table:
            raise request.error(f"obs has no {name!r}; it has {', '.join(known) or 'nothing'}")
        column = store.at(table, name)
        if isinstance(column, store.group_type):
            codes = store.read(store.at(column, "codes"), "iu")
            words = (*store.texts(store.at(column, "categories")), "nan")  # code -1 is the last
            if codes.ndim != 1 or not ((codes >= -1) & (codes < len(words) - 1)).all():
                raise request.error(f"the categories of obs {name!r} are damaged")
            found = tuple(words[code] for code in codes)
        else:
            found = store.texts(column)
        if len(found) != expected:
            raise request.error(f"obs {name!r} has {len(found)} entries for {expected} rows")
        return found


def read_places(request: Request, expected: int) -> tuple[str, Array] | None:
    """The name and the places (n, 2) of a map of the cells in ``obsm``, if there is one."""
    with _open(request) as (store, _):
        check_heaps(request)
        kept: Any = store.at(store.root, "obsm") if "obsm" in store.root else None
        if not isinstance(kept, store.group_type):
            return None
        for name in (one for one in MAPS if one in kept):
            array = store.at(kept, name)
            fits = isinstance(array, store.array_type) and array.ndim == 2
            if fits and array.shape[0] == expected and array.shape[1] >= 2:
                return name, store.read(array)[:, :2].astype(np.float64)
    return None


@contextmanager
def _open(request: Request) -> Iterator[tuple[_Hdf5, ExitStack]]:
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

    def at(self, group: Any, path: str) -> Any:
        """The object at a path, every link on the way looked at before it is followed."""
        here = group
        for part in (one for one in path.split("/") if one):
            link = here.get(part, getlink=True) if isinstance(here, self.group_type) else None
            if link is None:
                raise self.request.error(f"there is no {path!r} in it")
            if isinstance(link, self.h5py.ExternalLink):
                raise self.request.error(
                    f"{path!r} is a link to another file, which is not followed"
                )
            if isinstance(link, self.h5py.SoftLink):
                raise self.request.error(
                    f"{path!r} is a soft link, not followed; name what it points to with --key"
                )
            here = here[part]
        return here

    def inner_group(self, name: str) -> Any:
        """A group of the file itself; nothing where there is none."""
        link = self.root.get(name, getlink=True)
        here = self.root[name] if isinstance(link, self.h5py.HardLink) else None
        return here if isinstance(here, self.group_type) else ()

    def attribute(self, group: Any, *names: str) -> Any:
        """The first of some attributes that is there, or None; none of them is large."""
        for name in names:
            if name in group.attrs:
                shape = self.h5py.h5a.open(group.id, name.encode()).shape or ()
                if prod(shape) > MOST_VALUES:
                    raise self.request.error(
                        f"the attribute {name!r} of {group.name!r} is too large"
                    )
                return group.attrs[name]
        return None

    def check_content(self, array: Any, kinds: str) -> None:
        """Refuse what is no dataset of this kind in this file alone, in pieces of a fair size."""
        if not isinstance(array, self.array_type):
            raise self.request.error(f"{array.name!r} is no dataset")
        if array.external or array.is_virtual:
            raise self.request.error(
                f"{array.name!r} keeps its numbers in another file, which is not opened"
            )
        if array.dtype.kind not in kinds:
            raise self.request.error(f"{array.name!r} holds {array.dtype} values, not numbers")
        self.check_size(array, array.chunks, "chunks of shape")
        check_lengths(array, self.request)

    def stored_bytes(self, array: Any) -> int:
        """How much of a dataset is in the file."""
        return int(array.id.get_storage_size())

    def sparse(self, group: Any, kind: str | None = None, shape: Any = None) -> Any:
        """The CSR array of a group; its attributes may be texts in a heap."""
        check_heaps(self.request)
        return super().sparse(group, kind, shape)

    def find_only_matrix(self) -> Any:
        """The one dataset of two dimensions, or the one sparse group."""
        found: dict[str, Any] = {}
        waiting: list[Any] = [self.root]
        seen = set()
        while waiting:
            here = waiting.pop()
            about = self.h5py.h5o.get_info(here.id)
            if (about.fileno, about.addr) in seen:  # a second link to it, maybe from within itself
                continue
            seen.add((about.fileno, about.addr))
            if len(seen) > MOST_OBJECTS:
                raise self.request.error(
                    f"it holds more than {MOST_OBJECTS:,} objects; name one by --key"
                )
            if isinstance(here, self.array_type):
                if here.ndim == 2 and here.dtype.kind in NUMBERS:
                    found[here.name] = here
            elif isinstance(here, self.group_type) and set(COMPRESSED) <= set(here):
                found[here.name] = here
            elif isinstance(here, self.group_type):
                waiting.extend(self.at(here, name) for name in here)
        return found[self.request.only_one(list(found), "two-dimensional array of numbers")]

    def read_tenx(self, group: Any) -> NamedMatrix:
        """A 10x matrix: genes by cells, by columns; read as cells by genes, by rows."""
        shape = self.read(self.at(group, "shape"), "iu")
        genes, cells = self.request.check_shape(tuple(shape.ravel()))
        X = self.sparse(group, "csr", (cells, genes))
        names = self.texts(self.at(group, "features/name")) if "features" in group else None
        return self.request.matrix(X, self.texts(self.at(group, "barcodes")), names)
