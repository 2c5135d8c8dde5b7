"""Honest files of every format, the same bytes every time: what the fuzzer starts from."""

import gzip
import io
import json
import re
import tempfile
import zipfile
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import orthonmf
from orthonmf.cli.folder import MODEL, SELECTION, SUMMARY
from orthonmf.engine.sources import digest_rows
from orthonmf.evidence import Evidence
from orthonmf.selection.journal import TITLE, VERSION
from orthonmf.selection.trial import Trial
from tests.broken_off import break_off
from tests.files.making import npy, npz, packed, unpacked

X = np.round(np.random.default_rng(5).random((7, 5)) * (np.arange(5) % 2 == np.c_[:7] % 2), 3)
NAMES = [f"name {number}" for number in range(7)]
CHECKPOINT_OPTIONS = {"n_init": 3, "random_state": 0, "certificate": None}
JOURNAL_OPTIONS = {"orthogonal": "samples", "algorithm": "best", "n_init": 1}


@dataclass(frozen=True)
class Seed:
    """Some files of which one is read."""

    format: str  # what it counts as
    reader: str  # a name in ``readers.READERS``
    files: dict[str, bytes]  # contents by path
    place: str  # the path to read
    mutable: tuple[str, ...]  # the paths that are changed

    def write(self, folder, changed=()):
        """Write the files, some of them changed, and give the path to read."""
        for name, content in {**self.files, **dict(changed)}.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        return folder / self.place


def seed(format, content, name=None, reader="matrix"):
    name = name or f"x.{format}"
    return Seed(format, reader, {name: content}, name, (name,))


def array_seeds():
    for array in (X, np.asfortranarray(X), X.astype("f4"), (X * 9).astype("i2"), X > 0.2):
        yield seed("npy", npy(array))
    names = {"row_names": np.array(NAMES), "column_names": np.array(NAMES[:5])}
    yield seed("npz", npz(X=X, **names))
    yield seed("npz", npz(zipfile.ZIP_STORED, X=X))
    for format in ("csr", "csc", "bsr", "coo", "dia"):
        buffer = io.BytesIO()
        sp.save_npz(buffer, getattr(sp, f"{format}_array")(X), compressed=False)
        yield seed("npz", packed(unpacked(buffer.getvalue())))


def text_seeds():
    entries = [(i + 1, j + 1, X[i, j]) for i, j in zip(*np.nonzero(X), strict=True)]
    n = len(entries)
    markets = {
        f"coordinate real general\n%\n7 5 {n}": [f"{i} {j} {v:.3e}" for i, j, v in entries],
        f"coordinate integer general\n7 5 {n}": [f"{i} {j} {round(9 * v)}" for i, j, v in entries],
        "coordinate real symmetric\n3 3 3": ["1 1 1.5", "3 1 0.25", "3 3 7e-1"],
        "coordinate pattern general\n3 3 2": ["1 1", "3 2"],
        "array real general\n7 5": map(str, X.T.ravel()),
    }
    for head, lines in markets.items():
        content = "\n".join([f"%%MatrixMarket matrix {head}", *lines, ""]).encode()
        yield seed("mtx", content)
    yield seed("mtx", gzip.compress(content, mtime=0), "x.mtx.gz")
    for format, comma in (("csv", ","), ("tsv", "\t"), ("csv", ";")):
        plain = "".join(comma.join(map(str, row)) + "\n" for row in X.tolist())
        yield seed(format, plain.encode())
        rows = zip(NAMES, X.tolist(), strict=True)
        titled = comma.join(["", *NAMES[:5]]) + "\n"
        titled += "".join(comma.join([f'"{name}"', *map(str, row)]) + "\n" for name, row in rows)
        yield seed(format, titled.encode())
    yield seed("csv", gzip.compress(titled.encode(), mtime=0), "x.csv.gz")
    for comma in (",", "\t", " "):
        listed = "".join(f"left{i}{comma}right{j}{comma}{v}\n" for i, j, v in entries)
        yield seed("edges", listed.encode())
    yield seed("edges", b"# two names\na b\nb c\nc a\n")
    yield seed("names", "".join(f"{name}\n" for name in NAMES).encode(), "x.txt", "names")


def sheet_seeds():
    import openpyxl

    book, buffer = openpyxl.Workbook(), io.BytesIO()
    for name, row in zip(["", *NAMES], [NAMES[:5], *X.tolist()], strict=False):
        book.active.append([name, *row])
    book.save(buffer)
    members = unpacked(buffer.getvalue())
    told = members["docProps/core.xml"]
    members["docProps/core.xml"] = re.sub(rb"\d{4}-[^<]*Z", b"2024-01-01T00:00:00Z", told)
    yield seed("xlsx", packed(members))


def h5_bytes(fill, **options):
    import h5py

    buffer = io.BytesIO()
    with h5py.File(buffer, "w", **options) as file:
        fill(file)
    return buffer.getvalue()


def sparse_group(file, name, matrix):
    group = file.create_group(name)
    group.attrs["encoding-type"], group.attrs["shape"] = f"{matrix.format}_matrix", matrix.shape
    for part in ("data", "indices", "indptr"):
        group[part] = getattr(matrix, part)


def annotated(file, sparse):
    if sparse:
        sparse_group(file, "X", sp.csr_array(X))
    else:
        file["X"] = X
    for part, size in (("obs", 7), ("var", 5)):
        group = file.create_group(part)
        group.attrs["_index"] = "_index"
        group["_index"] = NAMES[:size]


def tenx(file):
    matrix = sp.csc_array(X.T)
    group = file.create_group("matrix")
    for part in ("data", "indices", "indptr"):
        group[part] = getattr(matrix, part)
    group["shape"], group["barcodes"] = np.array([5, 7]), np.array(NAMES, dtype="S8")
    # A group that h5py makes on the way would hold the time.
    group.create_group("features")["name"] = np.array(NAMES[:5], dtype="S8")


def in_chunks(file):
    file.create_dataset("x", data=X, chunks=(3, 2), compression="gzip", shuffle=True)
    file.create_group("empty")


def hdf5_seeds():
    for options in ({}, {"libver": "latest"}):
        for fill in (lambda file: file.create_dataset("x", data=X), in_chunks, tenx):
            content = h5_bytes(fill, **options)
            yield seed("h5", content)
            yield seed("h5", content, reader="stream")
        for sparse in (False, True):
            filled = h5_bytes(lambda file, sparse=sparse: annotated(file, sparse), **options)
            yield seed("h5ad", filled)


def folder_seed(format, reader, folder, place, mutable=None):
    files = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    return Seed(format, reader, files, place, mutable or tuple(files))


def zarr_seeds(folder):
    import zarr

    for version in (2, 3):
        path = folder / f"v{version}" / "x.zarr"
        root = zarr.open_group(str(path), mode="w", zarr_format=version)
        array = root.create_array("X", shape=X.shape, chunks=(4, 3), dtype="f8")
        array[...] = X
        for reader in ("matrix", "stream"):
            yield folder_seed("zarr", reader, path.parent, "x.zarr")
        path = folder / f"sparse{version}" / "x.zarr"
        root = zarr.open_group(str(path), mode="w", zarr_format=version)
        group = root.create_group("X", attributes={"encoding-type": "csr_matrix", "shape": [7, 5]})
        for part in ("data", "indices", "indptr"):
            values = getattr(sp.csr_array(X), part)
            group.create_array(part, shape=values.shape, dtype=values.dtype)[...] = values
        yield folder_seed("zarr", "matrix", path.parent, "x.zarr")


def parquet_seeds():
    import pyarrow
    from pyarrow import parquet

    columns = {f"c{number}": column for number, column in enumerate(X.T)}
    for table in (
        pyarrow.table(columns),
        pyarrow.table({"who": NAMES, **columns}),
        pyarrow.table({"a": [1, None, 3], "b": [True, False, True]}),
    ):
        for compression in ("none", "snappy"):
            buffer = io.BytesIO()
            parquet.write_table(table, buffer, compression=compression)
            yield seed("parquet", buffer.getvalue())


def without_times(result):
    proven = Evidence(replace(result.certificate, seconds=0.0))
    return replace(result, seconds=0.0, evidence=proven)


def model_seed(obj, folder):
    orthonmf.save(obj, folder / "model.npz")
    return seed("model", (folder / "model.npz").read_bytes(), "model.npz", "model")


def own_seeds(folder):
    for setting in ("samples", "features", "both"):
        result = without_times(orthonmf.factorize(X, 2, orthogonal=setting, random_state=0))
        yield model_seed(result, folder)
    model = orthonmf.OrthogonalNMF(2, random_state=0).fit(X)
    model.result_ = without_times(model.result_)
    yield model_seed(model, folder)
    clusters = orthonmf.BipartiteCorrelationClustering(random_state=0).fit(X > 0)
    clusters.certificate_ = replace(clusters.certificate_, seconds=0.0)
    yield model_seed(clusters, folder)
    break_off(folder / "c", 1, X, 2, **CHECKPOINT_OPTIONS)
    yield seed("checkpoint", (folder / "c").read_bytes(), "c", "checkpoint")
    yield seed("trials", journal(), "trials.jsonl", "trials")
    yield from report_seeds(folder / "report")


def journal():
    about = {"title": TITLE, "version": VERSION, "data": digest_rows(X), **JOURNAL_OPTIONS}
    trials = [Trial(k, 0, k, 0.5 / k, 0.1, 0.9, 0.5, 0.25) for k in (2, 3)]
    listed = [{**about, "entropy": 7}] + [
        {name: getattr(trial, name) for name in Trial.__slots__} for trial in trials
    ]
    return "".join(json.dumps(line) + "\n" for line in listed).encode()


def report_seeds(folder):
    """A folder as ``fit`` and ``select-k`` write it, without the data, which the reader has."""
    folder.mkdir()
    result = without_times(orthonmf.factorize(X, 2, random_state=0))
    orthonmf.save(result, folder / MODEL)
    reading = {"format": None, "key": None, "header": None, "index": None, "transpose": False}
    summary = {
        "orthonmf": orthonmf.__version__,
        "input": {"file": "x.npy", "reading": {**reading, "missing": False, "max_bytes": None}},
        "options": {"image_shape": "1x5"},
        "captured": 1.0 - result.relative_squared_error,
        "remarks": ["a remark"],
    }
    (folder / SUMMARY).write_text(json.dumps(summary, indent=2))
    measured = ("relative_error", "lower_bound", "null_error", "matched_cosine")
    tried = [
        {"n_components": k, **dict.fromkeys((*measured, "adjusted_rand"), 0.5)} for k in (2, 3)
    ]
    selection = {
        "suggestion": 2,
        "reason": "the best",
        "orthogonal": "samples",
        "candidates": tried,
    }
    (folder / SELECTION).write_text(json.dumps(selection, indent=2))
    (folder / "x.npy").write_bytes(npy(X))
    for format, name in (("summary", SUMMARY), ("selection", SELECTION)):
        yield folder_seed(format, "report", folder, ".", (name,))


@cache  # some versions of h5py write the time into groups
def all_seeds():
    """Every seed; those of formats whose package is not there are left out."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        return [
            *array_seeds(),
            *text_seeds(),
            *sheet_seeds(),
            *hdf5_seeds(),
            *zarr_seeds(folder),
            *parquet_seeds(),
            *own_seeds(folder),
        ]
