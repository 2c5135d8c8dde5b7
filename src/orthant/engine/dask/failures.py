"""What went wrong on a cluster, told with the rows concerned and what to do."""

from __future__ import annotations

from concurrent.futures import CancelledError

from orthant.errors import BlockFailedError


def killed(error: BaseException, rows: slice) -> BlockFailedError:
    """A block of which every worker died that tried it."""
    return BlockFailedError(
        f"{_place(rows)} cannot be worked on: every worker that tried has died. {_smaller(rows)}, "
        f"or see the log of the last worker if memory is not the reason. {error}"
    )


def failure(error: Exception, rows: slice) -> Exception:
    """An error of a block as callers get to see it: with its own type where that says enough."""
    if isinstance(error, MemoryError):
        return BlockFailedError(
            f"{_place(rows)} do not fit into the memory of a worker. {_smaller(rows)}. {error}"
        )
    if isinstance(error, CancelledError):
        return BlockFailedError(
            f"{_place(rows)} are lost. Make X from files or functions that Dask can run again: "
            f"scattered data die with their worker. {error}"
        )
    error.add_note(f"This happened in {_place(rows)}.")
    return error


def _place(rows: slice) -> str:
    return f"rows {rows.start}:{rows.stop} of X"


def _smaller(rows: slice) -> str:
    fewer = max(1, (rows.stop - rows.start) // 4)
    return f"Make blocks smaller, X.rechunk({{0: {fewer}}}), or give workers more memory"
