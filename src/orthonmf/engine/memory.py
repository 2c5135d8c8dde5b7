"""How much memory this process may still take, and the refusal of work that needs more."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from orthonmf.errors import TooLargeError

PROCESS, MACHINE = Path("/proc/self"), Path("/proc/meminfo")
CGROUPS = Path("/sys/fs/cgroup")
# Asking takes longer than a fit that needs this little.
SMALL = 2**24
UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB", "EB")


def refuse_beyond_memory(needed: int, what: str, remedy: str) -> None:
    """Raise TooLargeError when more bytes are needed than are available; not for SMALL needs."""
    available = available_memory()
    if available is not None and needed > available:
        raise TooLargeError(
            f"{what} takes about {in_words(needed)}, but {in_words(available)} of memory are "
            f"available; {remedy}"
        )


def in_words(size: int) -> str:
    """A number of bytes that people read at a glance."""
    power = min(max(0, len(str(size)) - 1) // 3, len(UNITS) - 1)
    return f"{size / 1000**power:,.3g} {UNITS[power]}" if power else f"{size} bytes"


def available_memory() -> int | None:
    """Bytes that can still be had: of the machine, of the control group, of the process.

    None where nothing is known.
    """
    known = [_free(), *_left_in_groups(), *_left_of_limits()]
    return min((max(0, size) for size in known if size is not None), default=None)


def memory_limit() -> int | None:
    """Bytes that this process could have if it were alone; None where nothing is known."""
    groups = (limit for limit, _ in _groups())
    known = [_pages("SC_PHYS_PAGES"), *groups, *(soft for soft, _ in _limits())]
    return min((size for size in known if size is not None), default=None)


def _free() -> int | None:
    return _kilobytes(MACHINE, "MemAvailable") or _pages("SC_AVPHYS_PAGES", "SC_PHYS_PAGES")


def _pages(*names: str) -> int | None:
    """The first of these numbers of pages that the system knows, in bytes."""
    for name in names:
        try:
            return os.sysconf("SC_PAGE_SIZE") * os.sysconf(name)
        except (AttributeError, ValueError, OSError):  # not a POSIX system, or without this name
            continue
    return None


def _left_in_groups() -> Iterator[int]:
    """What the control groups of this process leave; file caches are given back when needed."""
    for limit, folder in _groups():
        used = _number(folder / "memory.current") or _number(folder / "memory.usage_in_bytes") or 0
        yield limit - used + _read_cached(folder)


def _groups() -> Iterator[tuple[int, Path]]:
    """The memory limits of all control groups around this process, and where they stand."""
    for line in _text(PROCESS / "cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        root = CGROUPS / "memory" if controllers else CGROUPS
        inner = root / path.lstrip("/")
        # In a container the path may be that of the host, which is not there: the root always is.
        for folder in (inner, *inner.parents)[: len(inner.parts) - len(root.parts) + 1]:
            name = "memory.limit_in_bytes" if controllers else "memory.max"
            limit = _number(folder / name)
            if limit is not None:
                yield limit, folder


def _read_cached(folder: Path) -> int:
    for line in _text(folder / "memory.stat").splitlines():
        name, _, size = line.partition(" ")
        if name in ("inactive_file", "total_inactive_file"):
            return int(size)
    return 0


def _left_of_limits() -> Iterator[int]:
    for soft, used in _limits():
        yield soft - (_kilobytes(PROCESS / "status", used) or 0)


def _limits() -> Iterator[tuple[int, str]]:
    """The limits set for this process, and what its status calls the use they limit."""
    try:
        import resource
    except ImportError:  # not a POSIX system
        return
    for limit, used in ((resource.RLIMIT_AS, "VmSize"), (resource.RLIMIT_DATA, "VmData")):
        soft, _ = resource.getrlimit(limit)
        if soft != resource.RLIM_INFINITY:
            yield soft, used


def _kilobytes(path: Path, name: str) -> int | None:
    """The entry of a table of /proc, in bytes."""
    for line in _text(path).splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    return None


def _number(path: Path) -> int | None:
    return _read(path, lambda text: int(text))


def _text(path: Path) -> str:
    return _read(path, str) or ""


def _read(path: Path, parse: Callable[[str], Any]) -> Any:
    try:
        return parse(path.read_text())
    except (OSError, ValueError):  # no such file, or "max"
        return None
