"""A lower bound on the disagreements of every clustering: packings of bad squares.

A 2 x 2 submatrix with exactly three ones costs every clustering at least one disagreement: if the
three edges are kept, all four vertices are together, and the missing edge is wrong. Squares
that share no entry add up. Everything is counted in integers, so nothing is rounded.

Entry (i, h) of an (n, m) matrix has the number ``i * m + h``, its key. A packing is a (p, 4) array
of the keys of p squares.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from orthonmf.correlation_clustering.blocks import Blocks, entry_rows, transpose
from orthonmf.engine.segments import spread
from orthonmf.typing import Array

# Squares drawn in a round per open disagreement and at most, squares drawn in all rounds, and
# rounds without gain after which drawing ends.
DRAWS, ROUND_DRAWS, ALL_DRAWS, PATIENCE = 8, 1 << 16, 1 << 21, 4
# Squares drawn per exchange, and exchanges tried per open disagreement and at most.
EXCHANGE_DRAWS, EXCHANGES_EACH, EXCHANGES = 96, 200, 5000


def bound_disagreements(matrix: csr_array, blocks: Blocks, rng: np.random.Generator) -> int:
    """No clustering has fewer disagreements than this; equal to those of ``blocks`` at best.

    The squares found around the disagreements of ``blocks``, then by exchanges; ends as soon as
    ``blocks`` is proven optimal. The work is limited by counts, so the result depends on nothing
    but the seed. ``matrix`` (n, m) is 0/1, CSR with sorted indices; ``blocks`` is any clustering:
    the better, the stronger the bound.
    """
    disagreements = find_disagreements(matrix, blocks)
    packing = pack_around(matrix, disagreements, rng)
    if len(packing) < len(disagreements):
        packing = exchange_squares(matrix, packing, disagreements, rng)
    return len(packing)


def find_disagreements(matrix: csr_array, blocks: Blocks) -> Array:
    """Sorted keys of the ones outside and the zeros inside the blocks."""
    inside = _number_entries_inside(blocks)
    return np.setxor1d(number_entries(matrix), inside, assume_unique=True)


def _number_entries_inside(blocks: Blocks) -> Array:
    """The keys of all entries of all blocks."""
    order = np.argsort(blocks.columns, kind="stable")
    n_lone = np.count_nonzero(blocks.columns < 0)
    starts = n_lone + np.cumsum(blocks.widths) - blocks.widths
    rows = np.flatnonzero(blocks.rows >= 0)
    own, widths = blocks.rows[rows], blocks.widths[blocks.rows[rows]]
    columns = order[spread(starts[own], widths)]
    return np.repeat(rows.astype(np.int64), widths) * len(blocks.columns) + columns


def pack_around(matrix: csr_array, disagreements: Array, rng: np.random.Generator) -> Array:
    """Bad squares (p, 4) that share no entry, each through a disagreement.

    Every bad square contains a disagreement of every clustering, so starting from those of a good
    one loses nothing; and when each square holds a single one, and each is in a square, the
    clustering is proven optimal. Squares are drawn in rounds, those with few disagreements first.
    """
    entries = BinaryEntries(matrix)
    packing = np.zeros((0, 4), dtype=np.int64)
    for others_allowed in range(4):
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
        drawn = entries.draw_bad_squares(keys, rng)
        drawn = drawn[~contains(taken, drawn).any(axis=1)]
        others = contains(disagreements, drawn[:, 1:]).sum(axis=1)
        drawn = drawn[others <= others_allowed]
        # Those that are the first to contain each of their four entries.
        _, first = np.unique(drawn, return_index=True)
        accepted = drawn[np.bincount(first // 4, minlength=len(drawn)) == 4]
        packing = np.concatenate((packing, accepted))
        # A trickle in a large graph is not worth its rounds.
        fruitless = fruitless + 1 if len(accepted) * 100 <= min(draws, len(open_keys)) else 0
    return packing


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
    open_keys = [key for key in disagreements.tolist() if key not in owner]
    for step in range(min(EXCHANGES, EXCHANGES_EACH * len(open_keys))):
        if not open_keys:
            break
        at = int(rng.integers(len(open_keys)))
        open_keys[at], open_keys[-1] = open_keys[-1], open_keys[at]
        key = open_keys.pop()
        if key in owner:  # closed since by a square at another
            continue
        drawn = entries.draw_bad_squares(np.full(EXCHANGE_DRAWS, key), rng)
        best: tuple[int, int] = (2, 0)
        choice: list[int] = []
        for row in drawn.tolist():
            conflicts = len({owner[entry] for entry in row if entry in owner})
            score = (conflicts, sum(entry in is_disagreement for entry in row))
            if score < best:
                best, choice = score, row
        for number in {owner[entry] for entry in choice if entry in owner}:
            for entry in squares.pop(number):
                del owner[entry]
                if entry in is_disagreement:
                    open_keys.append(entry)
        if choice:
            number = len(packing) + step
            squares[number] = choice
            owner |= dict.fromkeys(choice, number)
        else:
            open_keys.append(key)
    return np.array(list(squares.values()), dtype=np.int64).reshape(-1, 4)


def number_entries(matrix: csr_array) -> Array:
    """The keys of the ones of a 0/1 matrix, (nnz,), sorted where its indices are."""
    return entry_rows(matrix).astype(np.int64) * matrix.shape[1] + matrix.indices


class BinaryEntries:
    """The ones of a 0/1 matrix, for looking up entries and walking along them."""

    def __init__(self, matrix: csr_array) -> None:
        self.shape = matrix.shape
        self.by_row = matrix
        self.by_column = transpose(matrix)
        self.keys = number_entries(matrix)

    def draw_bad_squares(self, keys: Array, rng: np.random.Generator) -> Array:
        """Draw one square through each entry; those that came out bad (p, 4), that entry first.

        The ones of a bad square are a path of three edges. Through a one, the path is drawn with
        the entry at its middle or at an end; through a zero, a one of its row and one of its
        column are drawn. The fourth entry is left to chance.
        """
        m = self.shape[1]
        i, h = np.divmod(keys, m)
        # Shape 0 continues the path at both ends of the entry, 1 and 2 at one end twice.
        shape = np.where(contains(self.keys, keys), rng.integers(3, size=len(keys)), 0)
        j, g = _draw_ones(self.by_column, h, rng), _draw_ones(self.by_row, i, rng)
        further_g = _draw_ones(self.by_row, j, rng)
        further_j = _draw_ones(self.by_column, g, rng)
        j, g = np.where(shape == 2, further_j, j), np.where(shape == 1, further_g, g)
        corners = (i * m + h, i * m + g, j * m + h, j * m + g)
        proper = (j >= 0) & (g >= 0) & (i != j) & (h != g)
        squares = np.stack(corners, axis=1)[proper]
        return squares[contains(self.keys, squares).sum(axis=1) == 3]


def contains(sorted_keys: Array, keys: Array) -> Array:
    """Whether each key is among ``sorted_keys``."""
    if len(sorted_keys) == 0:
        return np.zeros(keys.shape, dtype=bool)
    positions = np.searchsorted(sorted_keys, keys)
    return sorted_keys[np.minimum(positions, len(sorted_keys) - 1)] == keys


def _draw_ones(matrix: csr_array, rows: Array, rng: np.random.Generator) -> Array:
    """A random one of every row; -1 where the row is -1 or empty."""
    starts = matrix.indptr[rows].astype(np.int64)
    degrees = np.where(rows >= 0, matrix.indptr[rows + 1] - starts, 0)
    picks = starts + (rng.random(len(rows)) * degrees).astype(np.int64)
    columns = np.full(len(rows), -1, dtype=np.int64)
    present = degrees > 0
    columns[present] = matrix.indices[picks[present]]
    return columns
