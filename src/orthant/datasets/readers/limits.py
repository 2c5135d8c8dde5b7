"""How much memory a file may claim when nobody says."""

from __future__ import annotations

from orthant.engine.memory import memory_limit

WITHOUT_KNOWLEDGE = 2**33


def default_max_bytes() -> int:
    """Half of the memory that this process may use."""
    return (memory_limit() or WITHOUT_KNOWLEDGE) // 2
