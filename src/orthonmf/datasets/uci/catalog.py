"""The six sets as data: where their files lie, how they are read, and what is known of them.

The addresses could not be tried where this was written. Norms and numbers of non-zeros were
measured on copies; of PEMS-SF we had no copy, so only its shape is known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import isclose
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from orthonmf.datasets.uci.arff import read_arff
from orthonmf.datasets.uci.bracketed import read_label_list, read_matrices
from orthonmf.datasets.uci.docword import read_docword
from orthonmf.datasets.uci.lines import read_labels, read_rows
from orthonmf.datasets.uci.record import Content, Shape
from orthonmf.files.readers.record import Request
from orthonmf.numerics.arrays import Array

ARCHIVE = "https://archive.ics.uci.edu"
OLD = f"{ARCHIVE}/ml/machine-learning-databases"
NORM_PRECISION = 1e-7  # the known norms have eight digits


@dataclass(frozen=True, slots=True)
class Original:
    """A file as UCI publishes it: its name, and the address of it or of a ``.zip`` around it."""

    name: str
    url: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One set; name, description, citation and license as in `orthonmf.datasets.UciSet`."""

    name: str
    description: str
    citation: str
    # What the data are recognized by; None where it is not known.
    shape: Shape
    nonzeros: int | None
    norm: float | None
    data: Original  # the file with the values
    read: Callable[[Request, Shape], Content]
    labels: Original | None = None  # that with the classes, where they have one of their own
    read_labels: Callable[[Request, int], Array] | None = None
    words: Original | None = None  # one name per column; the set is complete without it
    rows_per_class: int | None = None  # where the classes follow from the order of the rows
    license: str = "CC BY 4.0"

    @property
    def cache_name(self) -> str:
        """The name of the cached file."""
        return f"{self.name.replace('-', '_')}.npz"

    def find_differences(self, X: Any) -> list[str]:
        """What distinguishes a matrix from the known one; nothing when it is the same.

        No checksum of the original files is known, so the values are judged.
        """
        if X.shape != self.shape:
            found, known = (" x ".join(map(str, shape)) for shape in (X.shape, self.shape))
            return [f"its shape is {found}, not {known}"]
        values = X.data if isinstance(X, csr_array) else X
        differences = []
        nonzeros = int(np.count_nonzero(values))
        if self.nonzeros is not None and nonzeros != self.nonzeros:
            differences.append(f"it has {nonzeros} non-zeros, not {self.nonzeros}")
        norm = float(np.linalg.norm(values.astype(np.float64, copy=False)))
        if self.norm is not None and not isclose(norm, self.norm, rel_tol=NORM_PRECISION):
            differences.append(f"its Frobenius norm is {norm:.8g}, not {self.norm:.8g}")
        return differences


def _citation(authors: str, year: int, title: str, doi: str) -> str:
    return f"{authors} ({year}). {title}. UCI Machine Learning Repository. https://doi.org/{doi}"


def _bag_of_words(part: str, what: str, shape: Shape, nonzeros: int, norm: float) -> Entry:
    return Entry(
        name=f"bow-{part}",
        description=f"{what}: how often every word (column) occurs in every document (row)",
        citation=_citation("Newman, D.", 2008, "Bag of Words", "10.24432/C5ZG6P"),
        shape=shape,
        nonzeros=nonzeros,
        norm=norm,
        data=Original(f"docword.{part}.txt.gz", f"{OLD}/bag-of-words/docword.{part}.txt.gz"),
        read=read_docword,
        words=Original(f"vocab.{part}.txt", f"{OLD}/bag-of-words/vocab.{part}.txt"),
    )


ENTRIES = (
    Entry(
        name="amazon-commerce-reviews",
        description="reviews (rows) by 50 authors (classes), counts of words and other marks of "
        "style (columns)",
        citation=_citation("Liu, Z.", 2011, "Amazon Commerce Reviews", "10.24432/C55C88"),
        shape=(1500, 10000),
        nonzeros=2_208_728,
        norm=13363.603,
        data=Original(
            "Amazon_initial_50_30_10000.arff",
            f"{ARCHIVE}/static/public/215/amazon+commerce+reviews+set.zip",
        ),
        read=read_arff,
        rows_per_class=30,
    ),
    Entry(
        name="arcene-train",
        description="mass spectra (rows) of patients with cancer (1) and without (-1), training "
        "part",
        citation=_citation("Guyon, I. et al.", 2004, "Arcene", "10.24432/C58P55"),
        shape=(100, 10000),
        nonzeros=540_941,
        norm=143719.18,
        data=Original("arcene_train.data", f"{OLD}/arcene/ARCENE/arcene_train.data"),
        read=read_rows,
        labels=Original("arcene_train.labels", f"{OLD}/arcene/ARCENE/arcene_train.labels"),
        read_labels=read_labels,
    ),
    Entry(
        name="mfeat-pix",
        description="handwritten digits (rows), the gray values of 15 x 16 pixels (columns)",
        citation=_citation("Duin, R.", 1998, "Multiple Features", "10.24432/C5HC70"),
        shape=(2000, 240),
        nonzeros=291_654,
        norm=2822.0014,
        data=Original("mfeat-pix", f"{OLD}/mfeat/mfeat-pix"),
        read=read_rows,
        rows_per_class=200,
    ),
    Entry(
        name="pems-train",
        description="days (rows) and their weekdays (classes), the occupancy seen by 963 sensors "
        "in 144 spans of ten minutes each (columns), training part",
        citation=_citation("Cuturi, M.", 2011, "PEMS-SF", "10.24432/C52G70"),
        shape=(267, 963 * 144),
        nonzeros=None,
        norm=None,
        data=Original("PEMS_train", f"{OLD}/00204/PEMS-SF.zip"),
        read=partial(read_matrices, matrix_rows=963),
        labels=Original("PEMS_trainlabels", f"{OLD}/00204/PEMS-SF.zip"),
        read_labels=read_label_list,
    ),
    _bag_of_words("kos", "blog entries of Daily Kos", (3430, 6906), 353_160, 1000.4659),
    _bag_of_words("nips", "papers of the NIPS conferences", (1500, 12419), 746_316, 4451.397),
)

CATALOG = {entry.name: entry for entry in ENTRIES}
