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
from scipy.sparse import csr_array

from orthant.datasets.readers.hdf5_heaps import check_heaps, check_lengths
from orthant.datasets.readers.npy import NUMBERS
from orthant.datasets.readers.record import NamedMatrix, Request, StoredRows
from orthant.extras import import_extra
from orthant.numerics.arrays import Array
from orthant.validation.sparse_structure import csr_from_parts

MOST_OBJECTS = 10_000
MOST_VALUES = 100  # in an attribute
SIDES = ("obs", "var")
Names = tuple[str, ...] | None


def read_h5(request: Request) -> NamedMatrix:
    """A two-dimensional dataset, a sparse group, or the matrix of a 10x file."""
    with _opened(request) as (file, h5py, opened):
        if request.key is not None:
            here = _at(file, request.key, request)
        elif "matrix" in file and isinstance(_at(file, "matrix", request), h5py.Group):
            check_heaps(request)
            return _tenx(_at(file, "matrix", request), request)
        else:
            here = _only_matrix(file, request, h5py)
        return _kept_open(request.matrix(_matrix(here, request, h5py)), opened)


def read_h5ad(request: Request) -> NamedMatrix:
    """``X`` (or the layer named) of an AnnData file, with the names of cells and genes."""
    with _opened(request) as (file, h5py, opened):
        check_heaps(request)
        X = _matrix(_at(file, request.key or "X", request), request, h5py)
        names = (
            _index(file, part, size, request) for part, size in zip(SIDES, X.shape, strict=True)
        )
        return _kept_open(request.matrix(X, *names), opened)


def _kept_open(data: NamedMatrix, opened: ExitStack) -> NamedMatrix:
    """The same; the file stays open if its rows are still in there."""
    return replace(data, opened=opened.pop_all()) if isinstance(data.X, StoredRows) else data


@contextmanager
def _opened(request: Request) -> Iterator[tuple[Any, Any, ExitStack]]:
    """The file, h5py, and what closes the file at the end unless it is taken out."""
    h5py = import_extra("h5py", "files")
    with request.decoding("this is no HDF5 file, or a damaged one"), ExitStack() as opened:
        yield opened.enter_context(h5py.File(request.path, "r")), h5py, opened


def _at(group: Any, path: str, request: Request) -> Any:
    """The object at a path, every link on the way looked at before it is followed."""
    h5py = import_extra("h5py", "files")
    here = group
    for part in (one for one in path.split("/") if one):
        link = here.get(part, getlink=True) if isinstance(here, h5py.Group) else None
        if link is None:
            raise request.error(f"there is no {path!r} in it")
        if isinstance(link, h5py.ExternalLink):
            raise request.error(f"{path!r} is a link to another file, which is not followed")
        if isinstance(link, h5py.SoftLink):
            raise request.error(f"{path!r} is a soft link; name what it points to with --key")
        here = here[part]
    return here


def _only_matrix(file: Any, request: Request, h5py: Any) -> Any:
    """The one dataset of two dimensions, or the one sparse group."""
    found: list[Any] = []
    waiting: list[Any] = [file]
    seen = set()
    while waiting:
        here = waiting.pop()
        about = h5py.h5o.get_info(here.id)
        if (about.fileno, about.addr) in seen:  # a second link to it, maybe from within itself
            continue
        seen.add((about.fileno, about.addr))
        if len(seen) > MOST_OBJECTS:
            raise request.error(f"it holds more than {MOST_OBJECTS:,} objects; name one by --key")
        if isinstance(here, h5py.Dataset):
            if here.ndim == 2 and here.dtype.kind in NUMBERS:
                found.append(here)
        elif isinstance(here, h5py.Group) and {"data", "indices", "indptr"} <= set(here):
            found.append(here)
        elif isinstance(here, h5py.Group):
            waiting.extend(_at(here, name, request) for name in here)
    if len(found) == 1:
        return found[0]
    listed = ", ".join(one.name for one in found[:10])
    if found:
        raise request.error(f"it holds several matrices, name one of them with --key: {listed}")
    raise request.error("it holds no two-dimensional dataset of numbers")


def _values(dataset: Any, request: Request, h5py: Any, kinds: str = NUMBERS) -> Array:
    """The content of a dataset that lies in this file alone and is not too large."""
    _check_kept_here(dataset, request, h5py, kinds)
    _check_size(dataset, dataset.shape, "declared shape", request)
    return np.asarray(dataset[()])


def _check_kept_here(dataset: Any, request: Request, h5py: Any, kinds: str) -> None:
    """Refuse what is no dataset of this kind in this file alone, in pieces of a fair size."""
    if not isinstance(dataset, h5py.Dataset):
        raise request.error(f"{dataset.name!r} is no dataset")
    if dataset.external or dataset.is_virtual:
        raise request.error(
            f"{dataset.name!r} keeps its numbers in another file, which is not opened"
        )
    if dataset.dtype.kind not in kinds:
        raise request.error(f"{dataset.name!r} holds {dataset.dtype} values, not numbers")
    _check_size(dataset, dataset.chunks, "chunks of shape", request)


def _check_size(dataset: Any, shape: Any, what: str, request: Request) -> None:
    size = prod(shape or ()) * dataset.dtype.itemsize
    request.check_size(size, f"the dataset {dataset.name!r} with {what} {shape}")


def _matrix(here: Any, request: Request, h5py: Any) -> Any:
    if isinstance(here, h5py.Dataset):
        request.check_shape(here.shape)
        if request.streams(here.nbytes, here.id.get_storage_size()):
            _check_kept_here(here, request, h5py, NUMBERS)
            return StoredRows(here, request)
        return _values(here, request, h5py)
    return _sparse(here, request)


def _sparse(group: Any, request: Request) -> csr_array:
    """A sparse matrix as AnnData and h5sparse write it."""
    check_heaps(request)
    kind = str(_attribute(group, ("encoding-type", "h5sparse_format"), request, "csr"))
    shape = _attribute(group, ("shape", "h5sparse_shape"), request)
    if shape is None:
        raise request.error(f"the sparse matrix {group.name!r} does not say its shape")
    return sparse_from(group, kind[:3], tuple(np.ravel(shape)), request)


def _attribute(group: Any, names: tuple[str, ...], request: Request, default: Any = None) -> Any:
    """The first of some attributes that is there; none of them is large."""
    h5py = import_extra("h5py", "files")
    for name in names:
        if name in group.attrs:
            shape = h5py.h5a.open(group.id, name.encode()).shape or ()
            if prod(shape) > MOST_VALUES:
                raise request.error(f"the attribute {name!r} of {group.name!r} is too large")
            return group.attrs[name]
    return default


def sparse_from(group: Any, kind: str, shape: tuple[int, ...], request: Request) -> csr_array:
    """CSR array of a group with data, indices and indptr."""
    h5py = import_extra("h5py", "files")
    n, m = request.check_shape(shape)
    parts = [
        _values(_at(group, name, request), request, h5py) for name in ("data", "indices", "indptr")
    ]
    try:
        return csr_from_parts("csc" if kind == "csc" else "csr", parts, (n, m))
    except (ValueError, IndexError, TypeError, ArithmeticError) as error:
        raise request.error(f"the sparse structure is corrupt: {error}") from error


def _tenx(group: Any, request: Request) -> NamedMatrix:
    """A 10x matrix: genes by cells, by columns; read as cells by genes, by rows."""
    h5py = import_extra("h5py", "files")
    shape = _values(_at(group, "shape", request), request, h5py, "iu")
    genes, cells = request.check_shape(tuple(shape.ravel()))
    X = sparse_from(group, "csr", (cells, genes), request)
    column_names = None
    if "features" in group:
        column_names = _texts(_at(group, "features/name", request), request)
    return request.matrix(X, _texts(_at(group, "barcodes", request), request), column_names)


def _index(file: Any, part: str, size: int, request: Request) -> Names:
    """Names of cells (obs) or genes (var); None if the file has none that fit."""
    h5py = import_extra("h5py", "files")
    if part not in file:
        return None
    group = _at(file, part, request)
    if not isinstance(group, h5py.Group):  # files of early versions hold one table
        return None
    name = _attribute(group, ("_index",), request, "_index")
    if not isinstance(name, str) or name not in group:
        return None
    dataset = _at(group, name, request)
    if not isinstance(dataset, h5py.Dataset) or dataset.shape != (size,):
        return None
    return _texts(dataset, request)


def _texts(dataset: Any, request: Request) -> tuple[str, ...]:
    h5py = import_extra("h5py", "files")
    _check_kept_here(dataset, request, h5py, "SOU" + NUMBERS)
    check_lengths(dataset, request)
    values = _values(dataset, request, h5py, "SOU" + NUMBERS)
    decoded = (one.decode("utf-8", "replace") if isinstance(one, bytes) else one for one in values)
    return tuple(str(one) for one in decoded)
