"""What went wrong on a cluster, told with the rows concerned and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager

from orthonmf.errors import BlockFailedError

NOTE = "This happened in"


def report_killed(error: BaseException, rows: slice) -> BlockFailedError:
    """A block of which every worker died that tried it."""
    return BlockFailedError(
        f"{_place(rows)} cannot be worked on: every worker that tried has died. {_smaller(rows)}, "
        f"or see the log of the last worker if memory is not the reason. {error}"
    )


@contextmanager
def failures_in(rows: slice) -> Iterator[None]:
    """Name the rows in any error of a block; it keeps its own type where that says enough."""
    try:
        yield
    except MemoryError as error:
        raise BlockFailedError(
            f"{_place(rows)} do not fit into the memory of a worker. {_smaller(rows)}. {error}"
        ) from error
    except CancelledError as error:
        raise BlockFailedError(
            f"{_place(rows)} are lost. Make X from files or functions that Dask can run again: "
            f"scattered data die with their worker. {error}"
        ) from error
    except Exception as error:
        if not any(note.startswith(NOTE) for note in getattr(error, "__notes__", ())):
            error.add_note(f"{NOTE} {_place(rows)}.")
        raise


def _place(rows: slice) -> str:
    return f"rows {rows.start}:{rows.stop} of X"


def _smaller(rows: slice) -> str:
    fewer = max(1, (rows.stop - rows.start) // 4)
    return f"Make blocks smaller, X.rechunk({{0: {fewer}}}), or give workers more memory"
