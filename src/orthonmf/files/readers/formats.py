"""Which reader a file needs: by the ending of its name, or else by how it begins."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from orthonmf.files.readers.arrays import read_npy, read_npz
from orthonmf.files.readers.edges import read_edges
from orthonmf.files.readers.mtx import read_mtx
from orthonmf.files.readers.opening import first_bytes, is_packed
from orthonmf.files.readers.parquet import read_parquet
from orthonmf.files.readers.request import FileError, NamedMatrix, Request
from orthonmf.files.readers.sheet import read_sheet
from orthonmf.files.readers.stores import read_h5, read_h5ad, read_zarr
from orthonmf.files.readers.text import read_text

FORMATS: dict[str, Callable[[Request], NamedMatrix]] = {
    "npy": read_npy,
    "npz": read_npz,
    "mtx": read_mtx,
    "csv": read_text,
    "tsv": read_text,
    "xlsx": read_sheet,
    "parquet": read_parquet,
    "h5ad": read_h5ad,
    "h5": read_h5,
    "zarr": read_zarr,
    "edges": read_edges,
}

ENDINGS = {f".{name}": name for name in FORMATS} | {
    ".hdf5": "h5",
    ".edgelist": "edges",
    ".pq": "parquet",
    ".tab": "tsv",
    ".xlsm": "xlsx",
}
# Endings that people bring and what to do with such files.
ELSEWHERE = {
    **dict.fromkeys((".xls", ".ods"), "save the sheet as .xlsx or .csv"),
    **dict.fromkeys((".pkl", ".pickle", ".joblib"), "it could run code; numpy.save makes a .npy"),
    **dict.fromkeys((".rds", ".rda", ".rdata"), "in R, Matrix::writeMM or write.csv"),
    ".mat": "numpy.save(scipy.io.loadmat(FILE)[NAME]) makes a .npy",
    ".feather": "pandas.read_feather(FILE).to_parquet makes a .parquet",
    ".loom": "anndata.read_loom(FILE).write_h5ad makes a .h5ad",
    ".json": "pandas.read_json(FILE).to_csv makes a .csv",
}
TELLS_NOTHING = ("", ".txt")  # of what a text holds
MAY_BE_PACKED = ("mtx", "csv", "tsv", "edges")
UNPACK = f"packed may be {', '.join(f'.{name}.gz' for name in MAY_BE_PACKED)}: unpack it first"
BEGINNINGS = {
    b"\x93NUMPY": "npy",
    b"PK\x03\x04": "npz",
    b"PK\x05\x06": "npz",
    b"%%MatrixMarket": "mtx",
    b"\x89HDF\r\n\x1a\n": "h5",
    b"PAR1": "parquet",
}


def format_of(path: Path, shown: str) -> str:
    """The name of the format of a file: by its ending, else by its first bytes."""
    packed = path.name.lower().endswith(".gz")
    ending = Path(path.name.lower().removesuffix(".gz")).suffix
    format = ENDINGS.get(ending)
    if format is not None and (not packed or format in MAY_BE_PACKED):
        return format
    if path.is_dir():
        return "zarr"
    if ending in ELSEWHERE:
        raise FileError(f"{shown}: {ending} files are not read; {ELSEWHERE[ending]}")
    if packed and ending not in TELLS_NOTHING:
        raise FileError(
            f"{shown}: {ending}.gz files are not read; {UNPACK}",
            f"name what is in it with --format: {' '.join(MAY_BE_PACKED)}",
        )
    beginning = first_bytes(path)
    names = (name for start, name in BEGINNINGS.items() if beginning.startswith(start))
    format = next(names, None)
    if format is not None and format not in MAY_BE_PACKED and is_packed(path):
        raise FileError(f"{shown}: it is a packed .{format} file, which is not read; {UNPACK}")
    if format is None and b"\0" in beginning:
        raise FileError(
            f"{shown}: neither its name nor its first bytes tell what it is",
            f"name its format with --format: {' '.join(FORMATS)}",
        )
    return format or "csv"
