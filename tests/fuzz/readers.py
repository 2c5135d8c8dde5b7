"""Everything that reads a file, as the fuzzer calls it."""

import contextlib
import io
import os
import warnings
from pathlib import Path

import numpy as np

import orthonmf
from orthonmf.cli.report import report
from orthonmf.files.readers import read_matrix, read_names
from orthonmf.inputs.data import as_matrix
from orthonmf.selection.journal import TrialJournal
from tests.fuzz.seeds import CHECKPOINT_OPTIONS, JOURNAL_OPTIONS, X

LIMIT = 2**24


def matrix(path, format, number, **options):
    """Read a matrix, then look at all of it, as a fit does."""
    missing = bool(number % 2)
    with read_matrix(
        path, format=format, allow_missing=missing, max_bytes=LIMIT, map_above=LIMIT, **options
    ) as data:
        as_matrix(data.X, missing_values=np.nan if missing else None, n_jobs=1)


def stream(path, format, number):
    matrix(path, format, number, stream_above=0)


def names(path, format, number):
    read_names(path, 7, "rows")


def model(path, format, number):
    orthonmf.load(path, max_bytes=LIMIT)


def checkpoint(path, format, number):
    orthonmf.factorize(X, 2, **CHECKPOINT_OPTIONS, checkpoint=path, n_jobs=1)


def trials(path, format, number):
    TrialJournal(path, X, JOURNAL_OPTIONS, 7)


def page(path, format, number):
    os.chdir(path)  # the data are named without a folder
    with contextlib.redirect_stdout(io.StringIO()):
        report(Path(path), json=True, quiet=True, max_bytes=str(LIMIT))


READERS = {
    "matrix": matrix,
    "stream": stream,
    "names": names,
    "model": model,
    "checkpoint": checkpoint,
    "trials": trials,
    "report": page,
}


def read(reader, path, format, number):
    """Read a file with one of the readers, as silent as the command is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        READERS[reader](path, format, number)
