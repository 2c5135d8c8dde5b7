"""Hostile files: read by `orthonmf fit`, and as users of scikit-learn read them."""

from __future__ import annotations

import io
import sys
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import h5py
import numpy as np
from scipy import sparse
from scipy.io import mmread
from sklearn.decomposition import NMF

from benchmarks.reliability.trying import Try, shorten
from orthonmf.cli.main import main
from tests.files.making import npy, npy_claiming

PICKLE = b"cos\nsystem\n(S'touch was-run'\ntR."
MTX = "%%MatrixMarket matrix coordinate real general\n"


class File(NamedTuple):
    """A file by its name: how it is written, and options of the command that reads it."""

    name: str
    file: str
    write: Callable[[Path], Any]
    options: tuple[str, ...] = ()
    wrong: bool = False  # whether reading it is wrong


def of_bytes(content: bytes) -> Callable[[Path], Any]:
    return lambda path: path.write_bytes(content)


def write_bomb(path: Path) -> None:
    """A small archive that unpacks to 512 MiB of zeros."""
    archive = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
    with archive, archive.open("X.npy", "w") as file:
        file.write(npy_claiming("(65536, 1024)"))
        for _ in range(64):
            file.write(bytes(2**23))


def write_sparse(**parts: Any) -> Callable[[Path], None]:
    """A CSR matrix of 3 x 5 as SciPy saves it, with other indices or row pointers."""
    arrays = {"indices": [0, 4, 1], "indptr": [0, 1, 2, 3]} | parts
    arrays = {name: np.array(values, np.int32) for name, values in arrays.items()}
    return lambda path: np.savez(path, data=np.ones(3), shape=[3, 5], format=b"csr", **arrays)


def write_external(path: Path) -> None:
    """A dataset whose numbers lie in another file."""
    secret = path.with_name("secret.bin")
    secret.write_bytes(np.arange(12.0).tobytes())
    with h5py.File(path, "w") as file:
        file.create_dataset("X", (3, 4), "f8", external=[(str(secret), 0, 96)])


def write_claim(path: Path) -> None:
    """A dataset of 80 TB of which nothing is written."""
    with h5py.File(path, "w") as file:
        file.create_dataset("X", (10**6, 10**7), "f8", chunks=(100, 100))


CASES = [
    File("an array of pickled objects", "x.npy", of_bytes(npy_claiming("(2, 2)", "|O", PICKLE))),
    File("a header that claims 8 TB", "x.npy", of_bytes(npy_claiming("(1000000, 1000000)"))),
    File("cut off", "x.npy", of_bytes(npy(np.ones((50, 50)))[:-100])),
    File("a negative shape", "x.npy", of_bytes(npy_claiming("(-3, 5)"))),
    File("empty", "x.npy", of_bytes(b"")),
    File("0.5 MB that unpack to 512 MiB", "x.npz", write_bomb, ("--max-bytes", "100MB"), True),
    File("sparse, a column that is not there", "x.npz", write_sparse(indices=[0, 4, 10**6])),
    File("sparse, row pointers beyond the end", "x.npz", write_sparse(indptr=[0, 10**8, 2, 3])),
    File("a row that is not there", "x.mtx", of_bytes((MTX + "3 3 1\n9 1 2.0\n").encode())),
    File("a NaN", "x.mtx", of_bytes((MTX + "3 3 2\n1 1 nan\n2 2 1.0\n").encode())),
    File("10^15 entries claimed", "x.mtx", of_bytes((MTX + "3 3 1000000000000000\n").encode())),
    File("rows of different lengths", "x.csv", of_bytes(b"1,2,3\n4,5\n")),
    File("words", "x.csv", of_bytes(b"a,b\n1,2\n3,x\n")),
    File("empty", "x.csv", of_bytes(b"")),
    File("noise", "x.h5", of_bytes(bytes(range(256)) * 8)),
    File("data that lie in another file", "x.h5", write_external, wrong=True),
    File("80 TB claimed in a few kB", "x.h5", write_claim),
]


def read_by_orthonmf(case: File) -> str:
    """The exit code and the last line of `orthonmf fit FILE -k 2`."""
    case.write(Path(case.file).resolve())
    sys.stderr = messages = io.StringIO()
    sys.argv = ["orthonmf", "fit", case.file, "-k", "2", "-o", "out", *case.options]
    try:
        code = main() or 0
    except SystemExit as end:
        code = end.code or 0
    if Path("was-run").exists():
        return "**code in the file was run**"
    lines = messages.getvalue().strip().splitlines()
    message = shorten(lines[-1].removeprefix("orthonmf: error: ")) if lines else "no message"
    return "read" if code == 0 else f"exit code {code}: {message}"


def read_by_users(case: File) -> str:
    """numpy.load, scipy's readers, numpy.loadtxt or h5py, then scikit-learn's NMF."""
    case.write(Path(case.file).resolve())
    X = load(case.file)
    model = NMF(2, random_state=0).fit(X)
    if case.wrong:
        return f"**read**, {X.nbytes:,} bytes"
    return "read" if np.isfinite(model.components_).all() else "**NaN in the answer**"


def load(file: str) -> Any:
    ending = Path(file).suffix
    if ending == ".npz":
        archive = np.load(file)
        return sparse.load_npz(file) if "indptr" in archive else archive["X"]
    if ending == ".mtx":
        return mmread(file)
    if ending == ".csv":
        return np.loadtxt(file, delimiter=",")
    return h5py.File(file)["X"][:] if ending == ".h5" else np.load(file)


FILES = [
    Try(
        f"`{case.file}`: {case.name}", partial(read_by_orthonmf, case), partial(read_by_users, case)
    )
    for case in CASES
]
