"""A process that reads one file after the other and says how each ended, in JSON lines."""

import faulthandler
import json
import os
import resource
import sys
import traceback
from pathlib import Path

from orthonmf.errors import OrthoNMFError
from tests.fuzz.readers import LIMIT, read

SECONDS = 120  # what takes longer hangs
# Beside the matrix: the text it came as, Python objects of it, pages of libraries first touched.
ALLOWED = 16 * LIMIT
ADDRESS_SPACE = 4 * 2**30


def main():
    import anndata.io  # noqa: F401  imported before memory is measured, as all else is
    import h5py  # noqa: F401
    import openpyxl  # noqa: F401
    import pandas  # noqa: F401
    import pyarrow.parquet  # noqa: F401
    import zarr  # noqa: F401

    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + ADDRESS_SPACE,) * 2)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # nothing that libraries print is taken for an answer
    for line in sys.stdin:
        print(json.dumps(outcome(json.loads(line))), file=answers, flush=True)


def outcome(order):
    """How reading ended, and the memory it took at its peak."""
    before = _fresh_peak()
    faulthandler.dump_traceback_later(SECONDS, exit=True)
    try:
        read(order["reader"], order["path"], order["format"], order["number"])
        ended, why = "read", ""
    except OrthoNMFError as error:
        ended, why = "refused", str(error)
        if "\n" in why:
            ended = "several lines"
    except FileNotFoundError as error:  # data that a damaged summary names
        ended, why = ("refused" if order["reader"] == "report" else "bare"), str(error)
    except Exception:
        ended, why = "bare", traceback.format_exc()
    finally:
        faulthandler.cancel_dump_traceback_later()
    took = _peak() - before
    if took > ALLOWED and ended in ("read", "refused"):
        ended, why = "memory", f"{took:,} bytes; {why}"
    return {"ended": ended, "why": why[-3000:], "took": took}


def _peak():
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.partition("VmHWM:")[2].split()[0])


def _fresh_peak():
    """Forget the peak so far; what is taken now is the new one."""
    Path("/proc/self/clear_refs").write_text("5")
    return _peak()


if __name__ == "__main__":
    main()
