"""Bad squares packed around the disagreements of a clustering."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from orthonmf.correlation_clustering.blocks import Blocks, find_inside
from orthonmf.correlation_clustering.packings.squares import BinaryEntries, contains, number_entries
from orthonmf.numerics.arrays import Array
from orthonmf.numerics.segments import spread

# Squares drawn in a round per open disagreement and at most, squares drawn in all rounds, and
# rounds without gain after which drawing ends.
DRAWS, ROUND_DRAWS, ALL_DRAWS, PATIENCE = 8, 1 << 16, 1 << 21, 4


def find_disagreements(matrix: csr_array, blocks: Blocks) -> Array:
    """Sorted keys of the ones outside and the zeros inside the blocks."""
    ones = number_entries(matrix)
    outside = ones[~find_inside(matrix, blocks)]
    zeros = np.setdiff1d(_number_entries_inside(blocks), ones)
    return np.sort(np.concatenate((outside, zeros)))


def pack_around(matrix: csr_array, disagreements: Array, rng: np.random.Generator) -> Array:
    """Bad squares (p, 4) that share no entry, each through a disagreement.

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
        squares = entries.draw_squares(keys, rng)
        drawn = squares[entries.are_bad(squares)].keys(entries.shape[1])
        drawn = drawn[~contains(taken, drawn).any(axis=1)]
        others = contains(disagreements, drawn[:, 1:]).sum(axis=1)
        drawn = drawn[others <= others_allowed]
        accepted = drawn[_are_first(drawn)]
        packing = np.concatenate((packing, accepted))
        # A trickle in a large graph is not worth its rounds.
        fruitless = fruitless + 1 if len(accepted) * 100 <= min(draws, len(open_keys)) else 0
    return packing


def _are_first(squares: Array) -> Array:
    """Which squares are the first to contain each of their four entries."""
    _, first = np.unique(squares, return_index=True)
    claims = np.bincount(first // 4, minlength=len(squares))
    return claims == 4


def _number_entries_inside(blocks: Blocks) -> Array:
    """The keys of all entries of all blocks."""
    order = np.argsort(blocks.columns, kind="stable")
    n_lone = np.count_nonzero(blocks.columns < 0)
    starts = n_lone + np.cumsum(blocks.widths) - blocks.widths
    rows = np.flatnonzero(blocks.rows >= 0)
    own, widths = blocks.rows[rows], blocks.widths[blocks.rows[rows]]
    columns = order[spread(starts[own], widths)]
    return np.repeat(rows.astype(np.int64), widths) * len(blocks.columns) + columns
