"""How much memory a file may claim when nobody says."""

from __future__ import annotations

import os
from pathlib import Path

CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")
WITHOUT_KNOWLEDGE = 2**33


def default_max_bytes() -> int:
    """Half of the memory that this process may use."""
    known = [size for size in (_physical(), _cgroup(), _address_space()) if size is not None]
    return min(known, default=WITHOUT_KNOWLEDGE) // 2


def _physical() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not a POSIX system
        return None


def _cgroup() -> int | None:
    try:
        return int(CGROUP_LIMIT.read_text())
    except (OSError, ValueError):  # no such file, or "max"
        return None


def _address_space() -> int | None:
    try:
        import resource
    except ImportError:  # not a POSIX system
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else soft
