"""``.zarr`` folders: an array, a group with one matrix, or AnnData's layout.

Codecs can run code (one of them unpickles), so only known, harmless ones are let through.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from math import prod
from typing import Any

from orthonmf.extras import import_extra
from orthonmf.files.readers.record import NamedMatrix, Request
from orthonmf.files.readers.store import Store

MARKS = ("zarr.json", ".zgroup", ".zarray")  # what is in every Zarr store
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
    if not any((request.path / name).exists() for name in MARKS):
        raise request.error(
            "the folder holds no matrix that is known: neither a Zarr store (zarr.json, .zgroup) "
            "nor files of 10x Genomics (matrix.mtx, barcodes.tsv, features.tsv)"
        )
    with request.decoding("this is no Zarr store, or a damaged one"):
        store = _Zarr(request, zarr.open(str(request.path), mode="r", use_consolidated=False))
        if isinstance(store.root, store.array_type):
            return request.matrix(store.matrix(store.root))
        if "obs" in store.root and "var" in store.root:
            return store.read_anndata(request.key or "X")
        here = store.find_only_matrix() if request.key is None else store.at(request.key)
        return request.matrix(store.matrix(here))


class _Zarr(Store):
    """An open Zarr folder; only codecs that cannot do harm are let through."""

    def __init__(self, request: Request, root: Any) -> None:
        super().__init__(request, root)
        zarr = import_extra("zarr", "files")
        self.array_type, self.group_type = zarr.Array, zarr.Group

    def child(self, group: Any, name: str) -> Any:
        """What lies in a group under a name."""
        return group[name]

    def stored_bytes(self, array: Any) -> int:
        """How much of an array the files of the folder hold."""
        return int(array.nbytes_stored())

    def check_array(self, array: Any) -> None:
        """Refuse strange codecs, pieces of an unfair size, and many that are not stored.

        What is not stored is zero, but each piece has to be asked for.
        """
        self._check_codecs(array)
        self.check_size(array, array.chunks, "chunks of shape")
        sizes = array.chunks if array.shards is None else array.shards
        claimed = prod(
            -(-extent // max(1, size)) for extent, size in zip(array.shape, sizes, strict=True)
        )
        if claimed <= MOST_EMPTY:
            return
        stored = sum(path.is_file() for path in (self.request.path / array.path).rglob("*"))
        if claimed > PIECES_PER_STORED * stored:
            raise self.request.error(
                f"{array.name!r} claims {claimed:,} pieces, {stored:,} files are there"
            )

    def _check_codecs(self, array: Any) -> None:
        described = array.metadata.to_dict()
        keys = ("filters", "compressor", "codecs")
        used = set(_codec_names([described.get(key) for key in keys]))
        if not used <= HARMLESS:
            strange = ", ".join(sorted(used - HARMLESS))
            raise self.request.error(
                f"{array.name!r} is packed with {strange}, which is not trusted"
            )
        if any(name.endswith("blosc") for name in used) and "sharding_indexed" not in used:
            self._check_blosc(array)

    def _check_blosc(self, array: Any) -> None:
        """Refuse pieces whose header lies about their length: Blosc believes it and reads on."""
        for path in (self.request.path / array.path).rglob("*"):
            if not path.is_file() or path.name.startswith((".z", "zarr.json")):
                continue
            what = f"the piece {path.name!r} of {array.name!r}"
            with open(path, "rb") as file:
                header = file.read(BLOSC_HEADER).ljust(BLOSC_HEADER, b"\0")
            unpacked, block, packed = struct.unpack_from("<III", header, 4)
            if packed != path.stat().st_size or block > max(unpacked, 1):
                raise self.request.error(f"{what} is damaged")
            self.request.check_size(unpacked, what)


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
        for part in described:
            yield from _codec_names(part)
