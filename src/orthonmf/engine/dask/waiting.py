"""Waiting for a cluster: as long as it has workers; without any, a warning and then an error."""

from __future__ import annotations

import time
import warnings
from typing import Any

from orthonmf.errors import InvalidInputError, NoWorkersError, NoWorkersWarning
from orthonmf.extras import import_extra

# Settings of Dask: how long a cluster may be without workers before a warning, and until the fit
# ends; None for never. A second warning and all later ones come after twice the time of the first.
WARNING = "orthonmf.no-workers-warning"
TIMEOUT = "orthonmf.no-workers-timeout"
DEFAULTS = {WARNING: "30 s", TIMEOUT: "10 minutes"}
# Seconds between two looks at a cluster that has not answered yet.
BETWEEN_LOOKS = 0.5
# Seconds in which a result should come over the network, at first; when it does not, the worker
# that had it may be gone.
TRANSFER = 10.0


class Patience:
    """Waits for results, however long they take while anybody is there to work on them."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._alone_since: float | None = None  # when a look first found no workers
        self._next_warning = float("inf")  # seconds after that

    def result(self, future: Any) -> Any:
        """The result of a task, or its error; NoWorkersError when nobody is left to give one."""
        limit = TRANSFER
        while True:
            self._await_end(future)
            try:
                return future.result(timeout=limit)
            except TimeoutError:
                if future.status == "error":  # that of the task itself
                    raise
            limit *= 2

    def _await_end(self, future: Any) -> None:
        """Wait until a task is done, well or not; its result is not asked for.

        Dask sends results of several calls together, and one call that is broken off while it
        waits for them breaks off the next.
        """
        while True:
            try:
                future.exception(timeout=BETWEEN_LOOKS)
            except TimeoutError:
                self._look()
            else:
                return

    def _look(self) -> None:
        """See whether the cluster has workers; without any, say so or give up."""
        now = time.monotonic()
        if self._client.nthreads():
            self._alone_since = None
            return
        if self._alone_since is None:
            self._alone_since, self._next_warning = now, seconds_of(WARNING)
        alone = now - self._alone_since
        if alone >= seconds_of(TIMEOUT):
            raise NoWorkersError(self._tell(alone))
        if alone >= self._next_warning:
            self._next_warning = alone + 2 * seconds_of(WARNING)
            warnings.warn(f"{self._tell(alone)}. The fit waits", NoWorkersWarning, stacklevel=2)

    def _tell(self, alone: float) -> str:
        address = self._client.scheduler.address
        return (
            f"the Dask cluster at {address} has had no workers for {alone:.0f} s. Start some, for "
            f"example with cluster.scale(2) or the command 'dask worker {address}'; how long a fit "
            f'waits for them is set by dask.config.set({{"{TIMEOUT}": "1 hour"}})'
        )


def seconds_of(name: str) -> float:
    """A time among the settings of Dask, in seconds; infinite where it is None."""
    dask = import_extra("dask", "dask")
    setting = dask.config.get(name, DEFAULTS[name])
    if setting is None:
        return float("inf")
    try:
        return float(dask.utils.parse_timedelta(setting))
    except (AttributeError, LookupError, ValueError) as error:
        raise InvalidInputError(
            f"the setting {name} of Dask is {setting!r}, but a time is needed, such as '90 s' or "
            "'10 minutes', or None for no limit"
        ) from error
