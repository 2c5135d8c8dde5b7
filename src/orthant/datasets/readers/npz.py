"""``.npz``: a dense array or a SciPy sparse matrix, sizes checked before anything is unpacked."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from orthant.datasets.readers.npy import NUMBERS, read_header
from orthant.datasets.readers.record import NamedMatrix, Request
from orthant.files.archive import PACKED_AS, refusing_damage
from orthant.numerics.arrays import Array
from orthant.validation.sparse_structure import PARTS, csr_from_parts

MOST_ENTRIES = 1000
SPARSE = {"format", "shape", "data"}


def read_npz(request: Request) -> NamedMatrix:
    """The matrix of an archive: SciPy's sparse form, or its one two-dimensional array."""
    with _opened(request) as entries:
        if set(entries) >= SPARSE and request.key is None:
            return request.matrix(_sparse(entries, request), *_names(entries, request))
        name = _chosen(entries, request)
        X = _array(entries, name, request)
        return request.matrix(X, *_names(entries, request))


class _Entries(dict[str, zipfile.ZipInfo]):
    """The entries of an archive by the names of their arrays."""

    archive: zipfile.ZipFile


@contextmanager
def _opened(request: Request) -> Iterator[_Entries]:
    what = "this is no .npz archive, or a damaged one"
    with refusing_damage(lambda why: request.error(f"{what}: {why}")):
        archive = zipfile.ZipFile(request.path)
    with archive:
        listed = archive.infolist()
        entries = _Entries({one.filename.removesuffix(".npy"): one for one in listed})
        entries.archive = archive
        if len(listed) > MOST_ENTRIES or len(entries) < len(listed):
            raise request.error(f"it holds {len(listed)} entries: too many, or two of one name")
        yield entries


def _array(entries: _Entries, name: str, request: Request, kinds: str = NUMBERS) -> Array:
    """One array; what it declares is compared with the limit and the room it has."""
    entry = entries[name]
    if entry.compress_type not in PACKED_AS:
        raise request.error(f"the array {name!r} is packed in a way that NumPy never uses")
    with (
        refusing_damage(lambda why: request.error(f"the array {name!r} is damaged: {why}")),
        entries.archive.open(entry) as member,
    ):
        header = read_header(member, request, name)
        if header.dtype.kind not in kinds:
            raise request.error(f"the array {name!r} holds {header.dtype} values, not numbers")
        request.check_size(header.n_bytes, f"the array {name!r} of shape {header.shape}")
        if member.tell() + header.n_bytes != entry.file_size:
            raise request.error(
                f"the array {name!r} is damaged: its shape {header.shape} does not fit its size"
            )
        content = member.read(header.n_bytes)
        if len(content) != header.n_bytes:
            raise request.error(f"the array {name!r} ends early")
    order: Any = "F" if header.in_columns else "C"
    return np.frombuffer(content, header.dtype).reshape(header.shape, order=order)


def _chosen(entries: _Entries, request: Request) -> str:
    """The array to read: the one that was named, the only one, or the one called X."""
    listed = ", ".join(sorted(entries)[:10])
    if request.key is not None:
        if request.key not in entries:
            raise request.error(f"it has no array {request.key!r}; it has {listed}")
        return request.key
    if len(entries) == 1:
        return next(iter(entries))
    if "X" in entries:
        return "X"
    raise request.error(f"it holds several arrays, name one of them with --key: {listed}")


def _names(
    entries: _Entries, request: Request
) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    """Names of rows and columns, where arrays of text are called that."""

    def read(name: str) -> tuple[str, ...] | None:
        if name not in entries:
            return None
        return tuple(str(one) for one in _array(entries, name, request, "U").ravel())

    return read("row_names"), read("column_names")


def _sparse(entries: _Entries, request: Request) -> csr_array:
    """A SciPy sparse matrix whose indices have been checked: nothing follows them blindly."""
    kind = _array(entries, "format", request, "SU").reshape(-1)
    name = str(kind[0], "ascii", "replace") if kind.dtype.kind == "S" else str(kind[0])
    if name not in PARTS:
        raise request.error(f"it holds a sparse matrix of the unknown format {name!r}")
    shape = _array(entries, "shape", request, "iu").reshape(-1)
    size = request.check_shape(tuple(int(one) for one in shape))
    needed = PARTS[name]
    missing = [one for one in needed if one not in entries]
    if missing:
        raise request.error(f"the sparse matrix lacks {', '.join(missing)}")
    request.check_size(sum(entries[one].file_size for one in needed), "the sparse matrix")
    parts = [_array(entries, one, request) for one in needed]
    try:
        return csr_from_parts(name, parts, size)
    except (ValueError, IndexError, TypeError, ArithmeticError) as error:
        raise request.error(f"the sparse structure is corrupt: {error}") from error
