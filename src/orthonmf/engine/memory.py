"""How much memory this process may still take, and the refusal of work that needs more."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psutil

from orthonmf.errors import TooLargeError

# Inside a container the limit of its control group stands here; psutil tells of the machine.
CONTROL_GROUP = Path("/sys/fs/cgroup")
# Asking takes longer than a fit that needs this little.
SMALL = 2**24


def refuse_beyond_memory(needed: int, what: str, remedy: str) -> None:
    """Raise TooLargeError when more bytes are needed than are available; not for small needs."""
    if needed <= SMALL:
        return
    available = available_memory()
    if needed > available:
        from rich.filesize import decimal  # no fit that goes on needs it

        raise TooLargeError(
            f"{what} takes about {decimal(needed)}, but {decimal(available)} of memory are "
            f"available; {remedy}"
        )


def available_memory() -> int:
    """Bytes that can still be had: of the machine, of a container, of limits of the process."""
    return max(0, min(limit - used for limit, used in _limits()))


def memory_limit() -> int:
    """Bytes that this process could have if it were alone."""
    return min(limit for limit, _ in _limits())


def _limits() -> Iterator[tuple[int, int]]:
    """Limits that are set, each with what is used of it; the machine's own is always there."""
    machine = psutil.virtual_memory()
    yield machine.total, machine.total - machine.available
    try:
        limit, used = (
            int((CONTROL_GROUP / name).read_text()) for name in ("memory.max", "memory.current")
        )
        words = (CONTROL_GROUP / "memory.stat").read_text().split()
        cached = dict(zip(words[::2], words[1::2], strict=True))
        yield limit, used - int(cached["inactive_file"])  # caches of files are given back
    except (OSError, ValueError, KeyError):  # no such files, or no limit: "max"
        pass
    process = psutil.Process()
    if not hasattr(process, "rlimit"):  # only Linux tells
        return
    taken = process.memory_info()
    for limit, used in ((psutil.RLIMIT_AS, taken.vms), (psutil.RLIMIT_DATA, taken.data)):
        soft, _ = process.rlimit(limit)
        if soft != psutil.RLIM_INFINITY:
            yield soft, used
