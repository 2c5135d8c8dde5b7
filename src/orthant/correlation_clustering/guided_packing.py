"""Pack bad squares around the disagreements of a clustering at hand."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.sparse import csr_array

from orthant.correlation_clustering.blocks import Blocks, entry_rows
from orthant.correlation_clustering.square_sampling import BinaryEntries, contains
from orthant.numerics.arrays import Array
from orthant.numerics.segments import spread

# Squares drawn in a round per open disagreement and at most, squares drawn in all rounds, and
# rounds without gain after which drawing ends.
DRAWS, ROUND_DRAWS, ALL_DRAWS, PATIENCE = 8, 1 << 16, 1 << 21, 4
# Squares drawn per exchange, and exchanges tried per open disagreement and at most.
EXCHANGE_DRAWS, EXCHANGES_EACH, EXCHANGES = 96, 200, 5000


def disagreement_keys(matrix: csr_array, blocks: Blocks) -> Array:
    """Sorted numbers ``row * m + column`` of the ones outside and the zeros inside the blocks."""
    m = matrix.shape[1]
    rows = entry_rows(matrix).astype(np.int64)
    ones = rows * m + matrix.indices
    outside = (blocks.rows[rows] < 0) | (blocks.rows[rows] != blocks.columns[matrix.indices])
    return np.sort(np.concatenate((ones[outside], np.setdiff1d(_keys_inside(blocks, m), ones))))


def pack_around(matrix: csr_array, disagreements: Array, rng: np.random.Generator) -> Array:
    """Entry-disjoint bad squares (p x 4 entry numbers), each through a disagreement.

    Every bad square contains a disagreement of every clustering, so starting from those of a good
    one loses nothing; and when each square holds a single one, and each is in a square, the
    clustering is proven optimal. Squares are drawn in rounds, those with one disagreement
    first.
    """
    entries = BinaryEntries(matrix)
    packing = np.zeros((0, 4), dtype=np.int64)
    for others_allowed in (0, 2):
        packing = _draw_rounds(entries, packing, disagreements, others_allowed, rng)
    return packing


def _draw_rounds(
    entries: BinaryEntries,
    packing: Array,
    disagreements: Array,
    others_allowed: int,
    rng: np.random.Generator,
) -> Array:
    """Add squares in rounds; of those drawn in one, each entry keeps the first that wants it."""
    fruitless, draws_left = 0, ALL_DRAWS
    while fruitless < PATIENCE and draws_left > 0:
        taken = np.sort(packing, axis=None)
        open_keys = disagreements[~contains(taken, disagreements)]
        if len(open_keys) == 0:
            break
        draws = min(DRAWS * len(open_keys), ROUND_DRAWS, draws_left)
        keys = np.resize(rng.permutation(open_keys), draws)
        draws_left -= draws
        squares = entries.squares_through(keys, rng)
        drawn = squares[entries.bad(squares)].keys(entries.shape[1])
        drawn = drawn[~contains(taken, drawn).any(axis=1)]
        others = contains(disagreements, drawn[:, 1:]).sum(axis=1)
        drawn = drawn[others <= others_allowed]
        accepted = drawn[_first_claims(drawn)]
        packing = np.concatenate((packing, accepted))
        # A trickle in a large graph is not worth its rounds.
        fruitless = fruitless + 1 if len(accepted) * 100 <= min(draws, len(open_keys)) else 0
    return packing


def _first_claims(squares: Array) -> Array:
    """Which squares are the first to contain each of their four entries."""
    _, first = np.unique(squares, return_index=True)
    claims = np.bincount(first // 4, minlength=len(squares))
    return claims == 4


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
        drawn = entries.squares_through(np.full(EXCHANGE_DRAWS, key), rng)
        best: tuple[int, int] = (2, 0)
        choice: list[int] = []
        for row in drawn[entries.bad(drawn)].keys(entries.shape[1]).tolist():
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


def _keys_inside(blocks: Blocks, n_columns: int) -> Array:
    """The entries of all blocks, as numbers."""
    order = np.argsort(blocks.columns, kind="stable")
    sizes = np.bincount(blocks.columns + 1, minlength=int(blocks.rows.max(initial=-1)) + 2)
    starts = np.cumsum(sizes) - sizes
    rows = np.flatnonzero(blocks.rows >= 0)
    widths = sizes[blocks.rows[rows] + 1]
    columns = order[spread(starts[blocks.rows[rows] + 1], widths)]
    return np.repeat(rows.astype(np.int64), widths) * n_columns + columns
