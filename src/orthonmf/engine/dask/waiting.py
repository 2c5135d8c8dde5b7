"""Waiting for a cluster, as long as it takes; one without workers is warned of."""

from __future__ import annotations

import time
import warnings
from typing import Any

from orthonmf.errors import NoWorkersWarning

# Seconds between two looks at a cluster that has not answered yet.
BETWEEN_LOOKS = 0.5
# Seconds without workers before a warning; a second one and all later ones come after twice that.
WARNING = 30.0
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
    since, silent = time.monotonic(), WARNING
    while True:
        try:
            future.exception(timeout=BETWEEN_LOOKS)
        except TimeoutError:
            now = time.monotonic()
            if client.nthreads():
                since, silent = now, WARNING
            elif now - since >= silent:
                since, silent = now, 2 * WARNING
                address = client.scheduler.address
                warnings.warn(
                    f"the Dask cluster at {address} has no workers, and the fit waits. Start some, "
                    f"for example with cluster.scale(2) or the command 'dask worker {address}'",
                    NoWorkersWarning,
                    stacklevel=2,
                )
        else:
            return
