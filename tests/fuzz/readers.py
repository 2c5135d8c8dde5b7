"""Everything that reads a file, as the fuzzer calls it, and how that ended."""

import contextlib
import faulthandler
import io
import os
import resource
import traceback
import warnings
from pathlib import Path

import numpy as np

import orthonmf
from orthonmf.cli.report import report
from orthonmf.errors import OrthoNMFError
from orthonmf.files.readers import read_matrix, read_names
from orthonmf.inputs.data import as_matrix
from orthonmf.selection.journal import TrialJournal
from tests.fuzz.seeds import CHECKPOINT_OPTIONS, JOURNAL_OPTIONS, X

LIMIT = 2**24
SECONDS = 120  # what takes longer hangs
# Beside the matrix: the text it came as, Python objects of it, pages of libraries first touched.
ALLOWED = 16 * LIMIT
ADDRESS_SPACE = 4 * 2**30


def matrix(path, format, number, **options):
    """Read a matrix, then look at all of it, as a fit does."""
    missing = bool(number % 2)
    data = read_matrix(
        path, format=format, allow_missing=missing, max_bytes=LIMIT, map_above=LIMIT, **options
    )
    as_matrix(data.X, missing_values=np.nan if missing else None, n_jobs=1)


def page(path):
    os.chdir(path)  # the data are named without a folder
    with contextlib.redirect_stdout(io.StringIO()):
        report(Path(path), json=True, quiet=True, max_bytes=str(LIMIT))


# By what a seed is read with: path, format and number of the case.
READERS = {
    "matrix": matrix,
    "stream": lambda *case: matrix(*case, stream_above=0),
    "names": lambda path, *_: read_names(path, 7, "rows"),
    "model": lambda path, *_: orthonmf.load(path, max_bytes=LIMIT),
    "checkpoint": lambda path, *_: orthonmf.factorize(
        X, 2, **CHECKPOINT_OPTIONS, checkpoint=path, n_jobs=1
    ),
    "trials": lambda path, *_: TrialJournal(path, X, JOURNAL_OPTIONS, 7),
    "report": lambda path, *_: page(path),
}


def prepare():
    """Import what reads, so that it counts for no file, and bound the memory of this process."""
    import anndata.io  # noqa: F401
    import h5py  # noqa: F401
    import openpyxl  # noqa: F401
    import pandas  # noqa: F401
    import pyarrow.parquet  # noqa: F401
    import zarr  # noqa: F401

    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + ADDRESS_SPACE,) * 2)


def outcome(reader, *case):
    """How reading a file ended, as silent as the command is, and why."""
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak of memory so far
    before = _peak()
    faulthandler.dump_traceback_later(SECONDS, exit=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            READERS[reader](*case)
        ended, why = "read", ""
    except OrthoNMFError as error:
        why = str(error)
        ended = "several lines" if "\n" in why else "refused"
    except FileNotFoundError as error:  # data that a damaged summary names
        ended, why = ("refused" if reader == "report" else "bare"), str(error)
    except Exception:
        ended, why = "bare", traceback.format_exc()
    finally:
        faulthandler.cancel_dump_traceback_later()
    took = _peak() - before
    if took > ALLOWED and ended in ("read", "refused"):
        return "memory", f"{took:,} bytes; {why}"
    return ended, why


def _peak():
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.partition("VmHWM:")[2].split()[0])
