"""The six sets of the UCI Machine Learning Repository on which the paper compares.

The addresses could not be tried where this was written. Norms and numbers of non-zeros were
measured on copies; of PEMS-SF we had no copy, so only its shape is known. No checksum of the
original files is known, so what is read is judged by its values.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import isclose
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

HOME_VARIABLE = "ORTHONMF_DATA_HOME"
ARCHIVE = "https://archive.ics.uci.edu"
OLD = f"{ARCHIVE}/ml/machine-learning-databases"
NORM_PRECISION = 1e-7  # the known norms have eight digits
LICENSE = "CC BY 4.0"


class DataError(ValueError):
    """A set that cannot be had, or a file that is not the set; the message says what to do."""


@dataclass(frozen=True, slots=True, eq=False)
class UciSet:
    """A set with samples as rows: X (n, m) in float64, classes and names of columns if any.

    X is an array, or a CSR array where most entries are zero.
    """

    name: str
    X: Any
    y: Any
    feature_names: tuple[str, ...] | None
    description: str
    citation: str
    license: str = LICENSE


def read_arff(path: Path) -> tuple[Any, Any]:
    """Dense ``.arff``: numeric attributes and a nominal class at the end."""
    with open(path, encoding="utf-8", errors="backslashreplace") as file:
        for line in file:
            if line.strip().lower() == "@data":
                break
        else:
            raise DataError(f"{path}: there is no line @data")
        table = pd.read_csv(file, header=None, quotechar="'", comment="%")
    classes, _ = pd.factorize(table.iloc[:, -1])  # numbered in the order in which they appear
    return csr_array(table.iloc[:, :-1].to_numpy(dtype=np.float64)), classes


def read_rows(path: Path, labels: str | None = None) -> tuple[Any, Any]:
    """Plain rows of numbers, and one label a line in another file."""
    y = None if labels is None else np.loadtxt(path.parent / labels, dtype=np.int64)
    return np.loadtxt(path, ndmin=2), y


def read_docword(path: Path) -> tuple[Any, Any]:
    """Three lines of sizes, then ``document word count``, numbered from 1."""
    n, m, n_entries = pd.read_csv(path, header=None, nrows=3).iloc[:, 0]
    entries = pd.read_csv(path, header=None, skiprows=3, sep=" ").to_numpy()
    if entries.shape != (n_entries, 3):
        raise DataError(f"{path}: it holds {len(entries)} of {n_entries} entries: it is cut off")
    documents, words, counts = entries.T
    return csr_array((counts, (documents - 1, words - 1)), shape=(n, m)), None


def read_matrices(path: Path, labels: str) -> tuple[Any, Any]:
    """One matrix a line, ``[a b;c d]``, as a row of X; all labels, in brackets, in another file."""
    with open(path) as file:
        X = np.array([_numbers(line) for line in file if line.strip()])
    return X, _numbers((path.parent / labels).read_text()).astype(np.int64)


def _numbers(text: str) -> Any:
    return np.array(text.strip().strip("[]").replace(";", " ").split(), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Entry:
    """A set: its original files, how they are read, and what is known of it."""

    description: str
    citation: str
    shape: tuple[int, int]
    nonzeros: int | None  # None where it is not known
    norm: float | None
    addresses: dict[str, str]  # of every original file, the values first, or of a .zip around it
    read: Callable[[Path], tuple[Any, Any]]  # (X, y)
    rows_per_class: int | None = None  # where the classes follow from the order of the rows

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


def _citation(authors: str, year: int, title: str, doi: str) -> str:
    return f"{authors} ({year}). {title}. UCI Machine Learning Repository. https://doi.org/{doi}"


def _bag_of_words(
    part: str, what: str, shape: tuple[int, int], nonzeros: int, norm: float
) -> Entry:
    files = (f"docword.{part}.txt.gz", f"vocab.{part}.txt")
    return Entry(
        f"{what}: how often every word (column) occurs in every document (row)",
        _citation("Newman, D.", 2008, "Bag of Words", "10.24432/C5ZG6P"),
        shape, nonzeros, norm,
        {name: f"{OLD}/bag-of-words/{name}" for name in files},
        read_docword,
    )  # fmt: skip


CATALOG = {
    "amazon-commerce-reviews": Entry(
        "reviews (rows) by 50 authors (classes), counts of words and other marks of style "
        "(columns)",
        _citation("Liu, Z.", 2011, "Amazon Commerce Reviews", "10.24432/C55C88"),
        (1500, 10000), 2_208_728, 13363.603,
        {
            "Amazon_initial_50_30_10000.arff": f"{ARCHIVE}/static/public/215/"
            "amazon+commerce+reviews+set.zip"
        },
        read_arff,
        rows_per_class=30,
    ),
    "arcene-train": Entry(
        "mass spectra (rows) of patients with cancer (1) and without (-1), training part",
        _citation("Guyon, I. et al.", 2004, "Arcene", "10.24432/C58P55"),
        (100, 10000), 540_941, 143719.18,
        {
            name: f"{OLD}/arcene/ARCENE/{name}"
            for name in ("arcene_train.data", "arcene_train.labels")
        },
        partial(read_rows, labels="arcene_train.labels"),
    ),
    "mfeat-pix": Entry(
        "handwritten digits (rows), the gray values of 15 x 16 pixels (columns)",
        _citation("Duin, R.", 1998, "Multiple Features", "10.24432/C5HC70"),
        (2000, 240), 291_654, 2822.0014,
        {"mfeat-pix": f"{OLD}/mfeat/mfeat-pix"},
        read_rows,
        rows_per_class=200,
    ),
    "pems-train": Entry(
        "days (rows) and their weekdays (classes), the occupancy seen by 963 sensors in 144 spans "
        "of ten minutes each (columns), training part",
        _citation("Cuturi, M.", 2011, "PEMS-SF", "10.24432/C52G70"),
        (267, 963 * 144), None, None,
        dict.fromkeys(("PEMS_train", "PEMS_trainlabels"), f"{OLD}/00204/PEMS-SF.zip"),
        partial(read_matrices, labels="PEMS_trainlabels"),
    ),
    "bow-kos": _bag_of_words("kos", "blog entries of Daily Kos", (3430, 6906), 353_160, 1000.4659),
    "bow-nips": _bag_of_words(
        "nips", "papers of the NIPS conferences", (1500, 12419), 746_316, 4451.397
    ),
}  # fmt: skip


def load_uci(name: str, data_home: str | os.PathLike[str] | None = None) -> UciSet:
    """Load a set: from the cache, from original files put into the folder, or by a download.

    The folder is ``data_home``, or the one that ``ORTHONMF_DATA_HOME`` names, or the user's cache;
    it may be read-only when the set is cached in it. Shape, number of non-zeros and Frobenius norm
    are compared with the known ones; what differs is refused with a `DataError`.
    """
    if name not in CATALOG:
        raise DataError(f"no set is called {name!r}; there are {', '.join(CATALOG)}")
    entry, folder = CATALOG[name], _folder(data_home)
    cache = folder / f"{name.replace('-', '_')}.npz"
    X, y = _read_cache(cache) if cache.exists() else _read_originals(entry, folder)
    place = cache if cache.exists() else folder / next(iter(entry.addresses))
    if wrong := entry.differences(X):
        raise DataError(f"{place}: this is not {name}: {', '.join(wrong)}; remove it, load again")
    if not cache.exists():
        _write_cache(cache, X, y)
    if y is None and entry.rows_per_class is not None:
        y = np.arange(X.shape[0]) // entry.rows_per_class
    words = next((folder / file for file in entry.addresses if file.startswith("vocab")), None)
    names = tuple(words.read_text().split()) if words is not None and words.exists() else None
    return UciSet(name, X.astype(np.float64), y, names, entry.description, entry.citation)


def _folder(data_home: str | os.PathLike[str] | None) -> Path:
    chosen = data_home or os.environ.get(HOME_VARIABLE)
    if not chosen:
        import pooch

        chosen = pooch.os_cache("orthonmf")
    return Path(chosen).expanduser()


def _read_cache(path: Path) -> tuple[Any, Any]:
    """A matrix called X or the parts of a CSR array, as SciPy saves it, and classes called y."""
    try:
        with np.load(path) as file:
            y = file.get("y")
            if "indptr" not in file:
                return file["X"], y
            parts = file["data"], file["indices"], file["indptr"]
            X = csr_array(parts, shape=tuple(file["shape"]))
        X.check_format(full_check=True)
        return X, y
    except (KeyError, ValueError, OSError, zipfile.BadZipFile) as error:
        raise DataError(f"{path} is damaged ({error}); delete it and load the set again") from error


def _write_cache(path: Path, X: Any, y: Any) -> None:
    arrays: dict[str, Any] = {"X": X}
    if isinstance(X, csr_array):
        arrays = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape}
    if y is not None:
        arrays["y"] = y
    partial_path = path.with_suffix(".part.npz")
    np.savez_compressed(partial_path, **arrays)
    partial_path.replace(path)


def _read_originals(entry: Entry, folder: Path) -> tuple[Any, Any]:
    """The originals where somebody put them into the folder, or else as they are downloaded.

    What is downloaded is gone when it has been read: what is worth keeping goes into the cache.
    """
    first = next(iter(entry.addresses))
    if (folder / first).exists():
        return _read(entry, folder / first)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".download-", dir=folder) as place:
        for name, url in entry.addresses.items():
            try:
                _download(name, url, Path(place))
            except OSError as error:
                raise DataError(
                    f"{name} could not be had from {url}: {error}. Bring the file by another way, "
                    f"put it into {folder} under this name and load again"
                ) from error
            if name.startswith("vocab"):  # the words stay next to the cache
                shutil.copy(Path(place) / name, folder / name)
        return _read(entry, Path(place) / first)


def _read(entry: Entry, path: Path) -> tuple[Any, Any]:
    try:
        return entry.read(path)
    except (ValueError, OSError, EOFError) as error:
        raise DataError(
            f"{path}: this cannot be read: {error}; put the right file there"
        ) from error


def _download(name: str, url: str, place: Path) -> None:
    """Bring a file into a folder, from inside an archive too, or from an archive inside that."""
    import pooch

    try:  # what is there already is not brought again
        pooch.retrieve(url, known_hash=None, fname=PurePosixPath(url).name, path=place)
    except OSError as error:
        # A refusal such as 404 comes with a connection that nobody else closes.
        if (response := getattr(error, "response", None)) is not None:
            response.close()
        raise
    for _ in range(2):
        for archive in list(place.rglob("*.zip")):
            shutil.unpack_archive(archive, archive.with_suffix(""))
    if not (found := [path for path in place.rglob(name) if path.is_file()]):
        raise OSError(f"the archive does not hold {name}")
    found[0].replace(place / name)
