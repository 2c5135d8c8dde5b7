"""``.zarr`` folders: an array, a group with one matrix, or AnnData's layout.

Codecs can run code (one of them unpickles), so only known, harmless ones are let through.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np

from orthant.datasets.readers.npy import NUMBERS
from orthant.datasets.readers.record import NamedMatrix, Request, StoredRows
from orthant.extras import import_extra
from orthant.numerics.arrays import Array
from orthant.validation.sparse_structure import csr_from_parts

BLOSC_HEADER = 16  # bytes
# More pieces than this, and than so many for each that is stored, are an empty claim.
MOST_EMPTY = 20_000
PIECES_PER_STORED = 10
HARMLESS = {
    "blosc", "bytes", "bz2", "crc32", "crc32c", "delta", "endian", "gzip", "lz4", "lzma",
    "numcodecs.blosc", "numcodecs.bz2", "numcodecs.delta", "numcodecs.lz4", "numcodecs.lzma",
    "numcodecs.shuffle", "numcodecs.zlib", "numcodecs.zstd", "sharding_indexed", "shuffle",
    "transpose", "vlen-utf8", "zlib", "zstd",
}  # fmt: skip


def read_zarr(request: Request) -> NamedMatrix:
    """The matrix of a Zarr folder, with names where AnnData put them."""
    zarr = import_extra("zarr", "files")
    if not request.path.is_dir():
        raise request.error("a Zarr store is a folder")
    with request.decoding("this is no Zarr store, or a damaged one"):
        root = zarr.open(str(request.path), mode="r", use_consolidated=False)
        if isinstance(root, zarr.Array):
            return request.matrix(_matrix(root, request, zarr))
        name = request.key or _only_matrix(root, request, zarr)
        if name not in root:
            raise request.error(f"there is no {name!r} in it")
        X = _matrix(root[name], request, zarr)
        sizes = {"obs": X.shape[0], "var": X.shape[1]}
        names = [_index(root, part, size, request, zarr) for part, size in sizes.items()]
        return request.matrix(X, *names)


def _only_matrix(root: Any, request: Request, zarr: Any) -> str:
    if "X" in root:
        return "X"
    found = [name for name, one in root.members() if isinstance(one, zarr.Array) and one.ndim == 2]
    if len(found) == 1:
        return str(found[0])
    listed = ", ".join(sorted(found)[:10])
    raise request.error(
        f"it holds several matrices, name one of them with --key: {listed}"
        if found
        else "it holds no two-dimensional array"
    )


def _matrix(here: Any, request: Request, zarr: Any) -> Any:
    if isinstance(here, zarr.Array):
        request.check_shape(here.shape)
        if request.streams(prod(here.shape) * here.dtype.itemsize, here.nbytes_stored()):
            _check_pieces(here, request, NUMBERS)
            _check_count(here, request)
            return StoredRows(here, request)
        return _values(here, request)
    shape = here.attrs.get("shape")
    if not isinstance(shape, list) or not {"data", "indices", "indptr"} <= set(here):
        raise request.error(f"{here.name!r} is neither an array nor a sparse matrix")
    n, m = request.check_shape(tuple(shape))
    parts = [_values(here[name], request) for name in ("data", "indices", "indptr")]
    by_column = str(here.attrs.get("encoding-type", "")).startswith("csc")
    try:
        return csr_from_parts("csc" if by_column else "csr", parts, (n, m))
    except (ValueError, IndexError, TypeError, ArithmeticError) as error:
        raise request.error(f"the sparse structure is corrupt: {error}") from error


def _values(array: Any, request: Request, kinds: str = NUMBERS) -> Array:
    """All of an array, its codecs and its size checked first."""
    _check_pieces(array, request, kinds)
    _check_size(array, array.shape, "declared shape", request)
    _check_count(array, request)
    return np.asarray(array[...])


def _check_pieces(array: Any, request: Request, kinds: str) -> None:
    """Refuse strange codecs, values of another kind, and pieces of an unfair size."""
    _check_codecs(array, request)
    if kinds == NUMBERS and np.dtype(array.dtype).kind not in NUMBERS:
        raise request.error(f"{array.name!r} holds {array.dtype} values, not numbers")
    _check_size(array, array.chunks, "chunks of shape", request)


def _check_count(array: Any, request: Request) -> None:
    """Refuse many pieces that are not stored: they hold zeros, but each has to be asked for."""
    sizes = array.chunks if array.shards is None else array.shards
    claimed = prod(
        -(-extent // max(1, size)) for extent, size in zip(array.shape, sizes, strict=True)
    )
    if claimed <= MOST_EMPTY:
        return
    stored = sum(path.is_file() for path in (request.path / array.path).rglob("*"))
    if claimed > PIECES_PER_STORED * stored:
        raise request.error(f"{array.name!r} claims {claimed:,} pieces, {stored:,} files are there")


def _check_blosc(array: Any, request: Request) -> None:
    """Refuse pieces whose header lies about their length: Blosc believes it and reads on."""
    for path in (request.path / array.path).rglob("*"):
        if not path.is_file() or path.name.startswith((".z", "zarr.json")):
            continue
        size = path.stat().st_size
        with open(path, "rb") as file:
            header = file.read(BLOSC_HEADER)
        unpacked, block, packed = struct.unpack_from("<III", header.ljust(BLOSC_HEADER, b"\0"), 4)
        if packed != size or block > max(unpacked, 1):
            raise request.error(f"the piece {path.name!r} of {array.name!r} is damaged")
        request.check_size(unpacked, f"the piece {path.name!r} of {array.name!r}")


def _check_size(array: Any, shape: Any, what: str, request: Request) -> None:
    size = prod(shape) * max(1, np.dtype(array.dtype).itemsize)
    request.check_size(size, f"the array {array.name!r} with {what} {shape}")


def _check_codecs(array: Any, request: Request) -> None:
    described = array.metadata.to_dict()
    used = set(_codec_names([described.get(key) for key in ("filters", "compressor", "codecs")]))
    if not used <= HARMLESS:
        strange = ", ".join(sorted(used - HARMLESS))
        raise request.error(f"{array.name!r} is packed with {strange}, which is not trusted")
    if any(name.endswith("blosc") for name in used) and "sharding_indexed" not in used:
        _check_blosc(array, request)


def _codec_names(described: Any) -> Iterator[str]:
    """Every codec that a description names, at any depth."""
    if isinstance(described, dict):
        name = described.get("id", described.get("name"))
        if name is not None:
            yield str(name)
        for key, value in described.items():
            if key in ("codecs", "index_codecs", "configuration"):
                yield from _codec_names(value)
    elif isinstance(described, list | tuple):
        for one in described:
            yield from _codec_names(one)


def _index(root: Any, part: str, size: int, request: Request, zarr: Any) -> tuple[str, ...] | None:
    """Names of rows (obs) or columns (var), where the folder is an AnnData store."""
    if part not in root or not isinstance(root[part], zarr.Group):
        return None
    name = root[part].attrs.get("_index", "_index")
    if not isinstance(name, str) or name not in root[part]:
        return None
    array = root[part][name]
    if not isinstance(array, zarr.Array) or array.shape != (size,):
        return None
    return tuple(str(one) for one in _values(array, request, "any"))
