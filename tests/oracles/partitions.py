"""Every way to put a few things into groups: the ground of all brute-force answers."""

from collections.abc import Iterator
from functools import cache

import numpy as np

Group = tuple[int, ...]


def partitions(n: int, k: int) -> Iterator[np.ndarray]:
    """Yield the labels of every partition of ``n`` things into at most ``k`` groups.

    Labels are restricted growth strings: the first thing is in group 0, and every other is in
    a group already opened or in the next new one, so no partition is seen twice.
    """

    def extend(prefix: list[int], opened: int) -> Iterator[list[int]]:
        if len(prefix) == n:
            yield prefix
            return
        for label in range(min(opened + 1, k)):
            yield from extend([*prefix, label], max(opened, label + 1))

    for labels in extend([], 0):
        yield np.array(labels, dtype=np.int64)


@cache
def group_sets(n: int, k: int) -> list[list[Group]]:
    """The groups of every partition, in the same order."""
    return [groups_of(labels) for labels in partitions(n, k)]


def groups_of(labels: np.ndarray) -> list[Group]:
    """The members of every group of one partition."""
    return [tuple(np.flatnonzero(labels == group).tolist()) for group in np.unique(labels)]
