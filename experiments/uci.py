"""The six sets of the UCI Machine Learning Repository on which the paper compares.

The addresses could not be tried where this was written. Norms and numbers of non-zeros were
measured on copies; of PEMS-SF we had no copy, so only its shape is known. No checksum of the
original files is known, so what is read is judged by its values. Who gave the sets stands in
docs/datasets.md.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from math import isclose
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, save_npz

HOME_VARIABLE = "ORTHONMF_DATA_HOME"
ARCHIVE = "https://archive.ics.uci.edu"
OLD = f"{ARCHIVE}/ml/machine-learning-databases"
NORM_PRECISION = 1e-7  # the known norms have eight digits


class DataError(ValueError):
    """A set that cannot be had, or a file that is not the set; the message says what to do."""


def read_arff(path: Path) -> Any:
    """Dense ``.arff``: numeric attributes and a nominal class at the end, which is left out."""
    with open(path, encoding="utf-8", errors="backslashreplace") as file:
        for line in file:
            if line.strip().lower() == "@data":
                break
        else:
            raise DataError(f"{path}: there is no line @data")
        table = pd.read_csv(file, header=None, quotechar="'", comment="%")
    return csr_array(table.iloc[:, :-1].to_numpy(dtype=np.float64))


def read_docword(path: Path) -> Any:
    """Three lines of sizes, then ``document word count``, numbered from 1."""
    n, m, n_entries = pd.read_csv(path, header=None, nrows=3).iloc[:, 0]
    entries = pd.read_csv(path, header=None, skiprows=3, sep=" ").to_numpy()
    if entries.shape != (n_entries, 3):
        raise DataError(f"{path}: it holds {len(entries)} of {n_entries} entries: it is cut off")
    documents, words, counts = entries.T
    return csr_array((counts, (documents - 1, words - 1)), shape=(n, m))


def read_matrices(path: Path) -> Any:
    """One matrix a line, ``[a b;c d]``, as a row of X."""
    with open(path) as file:
        rows = [line.strip().strip("[]").replace(";", " ") for line in file]
    return np.array([row.split() for row in rows if row], dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Entry:
    """A set: its original file, how that is read, and what is known of the values."""

    shape: tuple[int, int]
    nonzeros: int | None  # None where it is not known
    norm: float | None
    file: str
    address: str  # of the file, or of a .zip around it
    read: Callable[[Path], Any]  # X (n, m), an array, or a CSR array where most entries are zero

    def differences(self, X: Any) -> list[str]:
        """What distinguishes a matrix from the known one; nothing when it is the same."""
        if X.shape != self.shape:
            return [f"its shape is {X.shape}, not {self.shape}"]
        values = X.data if isinstance(X, csr_array) else X
        reasons = []
        nonzeros = int(np.count_nonzero(values))
        if self.nonzeros is not None and nonzeros != self.nonzeros:
            reasons.append(f"it has {nonzeros} non-zeros, not {self.nonzeros}")
        norm = float(np.linalg.norm(values.astype(np.float64)))
        if self.norm is not None and not isclose(norm, self.norm, rel_tol=NORM_PRECISION):
            reasons.append(f"its Frobenius norm is {norm:.8g}, not {self.norm:.8g}")
        return reasons


CATALOG = {
    "amazon-commerce-reviews": Entry(
        (1500, 10000), 2_208_728, 13363.603, "Amazon_initial_50_30_10000.arff",
        f"{ARCHIVE}/static/public/215/amazon+commerce+reviews+set.zip", read_arff,
    ),
    "arcene-train": Entry(
        (100, 10000), 540_941, 143719.18, "arcene_train.data",
        f"{OLD}/arcene/ARCENE/arcene_train.data", np.loadtxt,
    ),
    "mfeat-pix": Entry(
        (2000, 240), 291_654, 2822.0014, "mfeat-pix", f"{OLD}/mfeat/mfeat-pix", np.loadtxt
    ),
    "pems-train": Entry(
        (267, 963 * 144), None, None, "PEMS_train", f"{OLD}/00204/PEMS-SF.zip", read_matrices
    ),
    "bow-kos": Entry(
        (3430, 6906), 353_160, 1000.4659, "docword.kos.txt.gz",
        f"{OLD}/bag-of-words/docword.kos.txt.gz", read_docword,
    ),
    "bow-nips": Entry(
        (1500, 12419), 746_316, 4451.397, "docword.nips.txt.gz",
        f"{OLD}/bag-of-words/docword.nips.txt.gz", read_docword,
    ),
}  # fmt: skip


def load_uci(name: str, data_home: str | os.PathLike[str] | None = None) -> Any:
    """Load a set, samples as rows: from the cache, from its original file, or by a download.

    X (n, m) is an array, or a CSR array where most entries are zero, in float64. The folder of the
    cache and of the original is ``data_home``, or the one that ``ORTHONMF_DATA_HOME`` names, or the
    user's cache; it may be read-only when the set is cached in it. Shape, number of non-zeros and
    Frobenius norm are compared with the known ones; what differs is refused with a `DataError`.
    """
    if name not in CATALOG:
        raise DataError(f"no set is called {name!r}; there are {', '.join(CATALOG)}")
    entry, folder = CATALOG[name], _folder(data_home)
    cache, original = folder / f"{name.replace('-', '_')}.npz", folder / entry.file
    if is_cached := cache.exists():
        X = _read_cache(cache)
    elif original.exists():
        X = _read(entry, original)
    else:
        X = _download(entry, folder)
    if wrong := entry.differences(X):
        place = cache if is_cached else original
        raise DataError(f"{place}: this is not {name}: {', '.join(wrong)}; remove it, load again")
    if not is_cached:
        whole = cache.with_suffix(".part.npz")
        save_npz(whole, X) if isinstance(X, csr_array) else np.savez_compressed(whole, X=X)
        whole.replace(cache)
    return X.astype(np.float64)


def _folder(data_home: str | os.PathLike[str] | None) -> Path:
    chosen = data_home or os.environ.get(HOME_VARIABLE)
    if not chosen:
        import pooch

        chosen = pooch.os_cache("orthonmf")
    return Path(chosen).expanduser()


def _read_cache(path: Path) -> Any:
    """A matrix called X, or a CSR array as SciPy saves it."""
    try:
        with np.load(path) as file:
            if "X" in file:
                return file["X"]
            parts = file["data"], file["indices"], file["indptr"]
            X = csr_array(parts, shape=tuple(file["shape"]))
        X.check_format(full_check=True)
        return X
    except (KeyError, ValueError, OSError, zipfile.BadZipFile) as error:
        raise DataError(f"{path} is damaged ({error}); delete it and load the set again") from error


def _read(entry: Entry, path: Path) -> Any:
    try:
        return entry.read(path)
    except (ValueError, OSError, EOFError) as error:
        raise DataError(
            f"{path}: this cannot be read: {error}; put the right file there"
        ) from error


def _download(entry: Entry, folder: Path) -> Any:
    """The set as it is downloaded; the file is gone when it has been read.

    It may lie inside an archive, or inside an archive in that.
    """
    import pooch

    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".download-", dir=folder) as name:
        place = Path(name)
        try:
            pooch.retrieve(entry.address, None, fname=PurePosixPath(entry.address).name, path=place)
            for _ in range(2):
                for archive in list(place.rglob("*.zip")):
                    shutil.unpack_archive(archive, archive.with_suffix(""))
            found = [path for path in place.rglob(entry.file) if path.is_file()]
            if not found:
                raise OSError("the archive does not hold it")
        except OSError as error:
            # A refusal such as 404 comes with a connection that nobody else closes.
            if (response := getattr(error, "response", None)) is not None:
                response.close()
            raise DataError(
                f"{entry.file} could not be had from {entry.address}: {error}. Bring the file by "
                f"another way, put it into {folder} under this name and load again"
            ) from error
        return _read(entry, found[0])
