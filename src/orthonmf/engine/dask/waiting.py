"""Waiting for a cluster, as long as it takes; one without workers is warned of."""

from __future__ import annotations

import warnings
from typing import Any

from orthonmf.errors import NoWorkersWarning
from orthonmf.extras import import_extra

# Seconds between two looks at a cluster that has not answered yet; at every second one without
# workers there is a warning.
BETWEEN_LOOKS = 30.0


def await_result(client: Any, future: Any) -> Any:
    """The result of a task, or its error.

    It is asked for when the task is done: Dask fetches results of several calls together, and one
    call that is broken off while it waits for them breaks off the next. Where the worker that had
    it is gone by then, Dask has the task done again.
    """
    without = 0
    while True:
        try:
            import_extra("distributed", "dask").wait([future], timeout=BETWEEN_LOOKS)
            break
        except TimeoutError:
            without = 0 if client.nthreads() else without + 1
            if without % 2:
                address = client.scheduler.address
                warnings.warn(
                    f"the Dask cluster at {address} has no workers, and the fit waits. Start some, "
                    f"for example with cluster.scale(2) or the command 'dask worker {address}'",
                    NoWorkersWarning,
                    stacklevel=2,
                )
    return future.result()
