"""Waiting for a cluster, as long as it takes; one without workers is warned of."""

from __future__ import annotations

import warnings
from typing import Any

from orthonmf.errors import NoWorkersWarning
from orthonmf.extras import import_extra

# Seconds between two looks at a cluster that has not answered yet; at every second one without
# workers there is a warning.
BETWEEN_LOOKS = 30.0
# Seconds in which a result should come over the network, at first; when it does not, the worker
# that had it may be gone.
TRANSFER = 10.0


def await_result(client: Any, future: Any) -> Any:
    """The result of a task, or its error."""
    limit = TRANSFER
    while True:
        _await_end(client, future)
        try:
            return future.result(timeout=limit)
        except TimeoutError:
            if future.status == "error":  # that of the task itself
                raise
        limit *= 2


def _await_end(client: Any, future: Any) -> None:
    """Wait until a task is done, well or not; its result is not asked for.

    Dask sends results of several calls together, and one call that is broken off while it waits
    for them breaks off the next.
    """
    without = 0
    while True:
        try:
            import_extra("distributed", "dask").wait([future], timeout=BETWEEN_LOOKS)
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
        else:
            return
