"""A packing made larger by exchanging its squares one by one."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.sparse import csr_array

from orthonmf.correlation_clustering.packings.squares import BinaryEntries
from orthonmf.numerics.arrays import Array

# Squares drawn per exchange, and exchanges tried per open disagreement and at most.
EXCHANGE_DRAWS, EXCHANGES_EACH, EXCHANGES = 96, 200, 5000


def exchange_squares(
    matrix: csr_array, packing: Array, disagreements: Array, rng: np.random.Generator
) -> Array:
    """Put squares at open disagreements in exchange for at most one other square each.

    The number of squares never falls, and rises whenever an open disagreement has a free square;
    exchanges that keep it move the open places about until one is found.
    """
    if len(disagreements) - len(packing) > 4 * EXCHANGES:
        # Among so many open places a few thousand exchanges do not matter.
        return packing
    entries = BinaryEntries(matrix)
    squares = dict(enumerate(packing.tolist()))
    owner = {key: number for number, row in squares.items() for key in row}
    is_disagreement = set(disagreements.tolist())
    open_keys = _DrawableSet(key for key in disagreements.tolist() if key not in owner)
    for step in range(min(EXCHANGES, EXCHANGES_EACH * len(open_keys))):
        if not len(open_keys):
            break
        key = open_keys.draw(rng)
        drawn = entries.draw_squares(np.full(EXCHANGE_DRAWS, key), rng)
        best: tuple[int, int] = (2, 0)
        choice: list[int] = []
        for row in drawn[entries.are_bad(drawn)].keys(entries.shape[1]).tolist():
            conflicts = len({owner[entry] for entry in row if entry in owner})
            score = (conflicts, sum(entry in is_disagreement for entry in row))
            if score < best:
                best, choice = score, row
        for number in {owner[entry] for entry in choice if entry in owner}:
            for entry in squares.pop(number):
                del owner[entry]
                if entry in is_disagreement:
                    open_keys.add(entry)
        if choice:
            number = len(packing) + step
            squares[number] = choice
            for entry in choice:
                owner[entry] = number
                open_keys.discard(entry)
    return np.array(list(squares.values()), dtype=np.int64).reshape(-1, 4)


class _DrawableSet:
    """A set of numbers that a random member can be drawn from in constant time."""

    def __init__(self, members: Iterable[int]) -> None:
        self._members = list(members)
        self._position = {member: at for at, member in enumerate(self._members)}

    def __len__(self) -> int:
        return len(self._members)

    def draw(self, rng: np.random.Generator) -> int:
        return self._members[int(rng.integers(len(self._members)))]

    def add(self, member: int) -> None:
        self._position[member] = len(self._members)
        self._members.append(member)

    def discard(self, member: int) -> None:
        at = self._position.pop(member, None)
        if at is not None:
            last = self._members.pop()
            if last != member:
                self._members[at] = last
                self._position[last] = at
