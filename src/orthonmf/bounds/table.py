"""Which lower bounds are tried for a certificate, in what order, and at what sizes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from orthonmf.bounds.all_pairs import all_pairs_bound
from orthonmf.bounds.allowance import (
    FEW_ITERATIONS,
    INTERRUPTED,
    LARGEST_GROUP,
    LARGEST_SIDE,
    PAIR_BYTES,
    SMALLEST_GROUP,
    Allowance,
    group_size,
    has_room,
    pairs_proof_seconds,
    proof_seconds,
    search_seconds,
)
from orthonmf.bounds.blocks import blocks_bound
from orthonmf.bounds.divergence import bound_divergence
from orthonmf.bounds.groups import grouped_bound
from orthonmf.bounds.pairs import pair_packing_bound
from orthonmf.bounds.singular_values import tail_from_gram
from orthonmf.certificate import CERTIFICATE_SECONDS, LowerBound
from orthonmf.engine.counts import Counts
from orthonmf.engine.losses import FROBENIUS, KULLBACK_LEIBLER
from orthonmf.engine.matrix import Matrix
from orthonmf.engine.placement import on_host
from orthonmf.engine.points import Samples, columns_of
from orthonmf.errors import InvalidInputError
from orthonmf.rounding import WEIGHT_ROUNDINGS, round_down
from orthonmf.typing import Array

# The Gram matrix of the smaller side, its eigenvectors and what finding them takes, in doubles.
GRAM_COPIES, FLOAT = 7, 8
# For blocks, the part of the time that is theirs; the sides have the rest.
SHARE_OF_BLOCKS = 0.7
# For blocks all points are compared with each other (points times entries at most this), and
# then the entries of the most promising pairs (about this many).
PACKING_WORK = 2**33
PACKING_ENTRIES = 2**24
# With a core no bound charges both sides: on dense data that alone is a good part of the gap.
ALONE = " alone, so that part of the gap is the bound's own"
# Pairs are not compared by default when the singular values prove a ratio below this already.
CLOSE_ENOUGH = 1.2
PRICE_OF_ENTRY = 14  # what a product of a sparse matrix costs at most, in those of a dense one
PROOF_BYTES = 48  # for every entry of the matrix of a proof for groups or blocks
AMPLE = 1.5  # with so many times the seconds that all pairs need, groups are not tried first
N_GROUPS = (2000, 1000, 400)  # groups of points, the most that time allows
GROUP_ITERATIONS = 80
# How many searches for blocks matter, how long they take, and what a proof in float64 costs.
BLOCK_SEARCHES, BLOCK_ITERATIONS, BLOCK_PROOF = 6, 100, 1.5
BATCH = 1000  # points in one batch where there is no room for all, nor for their groups
METHOD_IN_BATCHES = "dual solutions for batches of points"
METHOD_IN_GROUPS = "the singular values of groups of points"


@dataclass(frozen=True, slots=True)
class Case:
    """A factorization whose cost is to be bounded from below.

    That is the squared error, in the units of Y, or the divergence of ``counts``, in theirs.
    With a core ``n_components`` are two numbers, and the bounds are those of each side alone:
    a core of any pattern makes rows one of so many groups, and so it does columns, but blocks
    that exclude each other are more than it asks for.
    """

    matrix: Matrix
    orthogonal: str
    n_components: int | tuple[int, int]
    cost: float = math.inf  # of the answer in hand
    # Groups and batches of points are drawn from one seed: the same data give the same bound.
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    best: float = 0.0  # the largest bound so far
    # For what takes as long as it is given.
    allowance: Allowance = field(default_factory=lambda: Allowance(CERTIFICATE_SECONDS))
    counts: Counts | None = None  # X with its weights multiplied in, under the divergence
    unsure: float = 0.0  # by how much these weights may change a divergence
    labels: tuple[Any, Any] = None, None  # of rows and columns, in the answer: they steer a search

    @property
    def rank(self) -> int:
        """The largest rank that a factorization can have."""
        return min(self.sizes)

    @property
    def sizes(self) -> tuple[int, int]:
        """How many groups of rows, and of columns, there can be."""
        asked = self.n_components
        return asked if isinstance(asked, tuple) else (asked, asked)

    @property
    def beta_loss(self) -> str:
        """What the cost is."""
        return FROBENIUS if self.counts is None else KULLBACK_LEIBLER

    @property
    def disjoint_blocks(self) -> bool:
        """Whether components share neither rows nor columns."""
        return self.orthogonal == "both" and not isinstance(self.n_components, tuple)

    def say(self, bound: LowerBound, side: str = "") -> LowerBound:
        """A bound whose method tells, with a core, of which side it is, and that it is of one."""
        if not isinstance(self.n_components, tuple):
            return bound
        of_side = f" over the groups of {side}" if side else ""
        return replace(bound, method=bound.method + of_side + (ALONE if self.rank > 1 else ""))

    def sides(self) -> list[Side]:
        """The points that no two groups share, where single ones can be had."""
        sides = []
        if self.orthogonal != "features":
            sides.append((Samples(self.matrix).at_hand, self.sizes[0], "rows"))
        if self.orthogonal != "samples":
            sides.append((columns_of(self.matrix).at_hand, self.sizes[1], "columns"))
        return [Side(points, k, name) for points, k, name in sides if points is not None]


@dataclass(frozen=True, slots=True)
class Side:
    """Points that no two groups share, how many groups there are, and what the points are."""

    points: Samples
    n_groups: int
    name: str


def find_bounds(case: Case, certificate: str) -> list[LowerBound]:
    """All bounds that a certificate tries, less what the rounding of weights may have added."""
    bounds: list[LowerBound] = []
    for find in bounds_of(certificate, case.beta_loss):
        if bounds and case.allowance.cut == INTERRUPTED:
            break
        for bound in find(case):
            bounds.append(replace(bound, value=max(0.0, bound.value - case.unsure)))
        case = replace(case, best=max((bound.value for bound in bounds), default=0.0))
    return [replace(bound, method=case.allowance.tell(bound.method)) for bound in bounds]


def bounds_of(certificate: str, beta_loss: str) -> Sequence[Callable[[Case], list[LowerBound]]]:
    """What a certificate tries under a loss; refused where that is nothing."""
    named = BOUNDS[beta_loss]
    if certificate not in named:
        raise InvalidInputError(
            f"with beta_loss={beta_loss!r} no certificate is called {certificate!r}; there are "
            f"{', '.join(map(repr, named))}"
        )
    return named[certificate]


def certificate_bytes(shape: tuple[int, int]) -> int:
    """About how many bytes the Gram matrix of the smaller side and its eigenvalues take."""
    side = min(shape)
    side = side if side <= LARGEST_SIDE else LARGEST_GROUP
    return GRAM_COPIES * FLOAT * side**2


def bound_by_singular_values(case: Case) -> list[LowerBound]:
    """The tail of the singular values."""
    matrix, k = case.matrix, case.rank
    n, m = matrix.shape
    side = min(n, m)
    if side > LARGEST_SIDE:
        return _bound_by_groups(case)
    tall = matrix if m <= n else matrix.transpose(many_passes=False)
    if tall is None:
        return _give_up(
            "X is wide and not in memory, so the Gram matrix of its rows was not formed"
        )
    return [case.say(tail_from_gram(tall.gram(), k, max(n, m) + WEIGHT_ROUNDINGS))]


def _give_up(reason: str) -> list[LowerBound]:
    return [LowerBound(0.0, "", reason)]


def _bound_by_groups(case: Case) -> list[LowerBound]:
    """The tails of random groups of the points of the smaller side, as large as work allows.

    A row of a group of b with e entries takes about b e products, but never more than a full one.
    """
    matrix, k = case.matrix, case.rank
    n, m = matrix.shape
    side = min(n, m)
    points = (Samples(matrix) if n <= m else columns_of(matrix)).at_hand
    if points is None:
        return _give_up(f"the smaller side of X is {side} and X is not in memory")
    size = group_size(k, side, min(n * m, PRICE_OF_ENTRY * matrix.n_entries))
    if not size:
        return _give_up(
            f"the smaller side of X is {side}, and groups of {SMALLEST_GROUP * k} points or more "
            "are too much work. certificate='tight' gives a bound from batches of points"
        )
    heavy = np.flatnonzero(points.weights > 0)
    groups = np.array_split(case.rng.permutation(heavy), max(1, math.ceil(len(heavy) / size)))
    inner_length = max(n, m) + WEIGHT_ROUNDINGS
    values = [tail_from_gram(points.gram_of(group), k, inner_length).value for group in groups]
    # Their sum bounds the squared error of the whole (docs/theory/bounds.md, Theorem 11).
    return [case.say(LowerBound(round_down(math.fsum(values), 1), METHOD_IN_GROUPS))]


def bound_by_multipliers(case: Case) -> list[LowerBound]:
    """Multipliers for blocks, and over each side, within the seconds there are."""
    allowance = case.allowance
    bounds: list[LowerBound] = []
    rest = 1.0
    if case.disjoint_blocks:
        bounds += bound_blocks(case, allowance.share(SHARE_OF_BLOCKS))
        rest = 1.0 - SHARE_OF_BLOCKS
    sides = case.sides()
    for number, side in enumerate(sides):
        if not allowance.cut:
            left = len(sides) - number
            share = allowance.share(1.0 / left, allowance.seconds * rest / len(sides))
            bound = bound_side(side, case.cost, share, case.rng)
            bounds.append(case.say(bound, side.name))
    return bounds


def bound_by_reweighting(case: Case, tight: bool = False) -> list[LowerBound]:
    """Of a divergence: the singular values of a reweighted matrix, and multipliers for it."""
    counts, sides = case.counts, []
    if counts is not None and case.orthogonal != "features":
        sides.append((counts, case.labels[0], case.sizes[0], "rows"))
    if counts is not None and case.orthogonal != "samples":
        sides.append((counts.transposed(), case.labels[1], case.sizes[1], "columns"))
    allowance, bounds = case.allowance, []
    for number, (side, labels, k, name) in enumerate(sides):
        share = allowance.share(1.0 / (len(sides) - number), allowance.seconds / len(sides))
        bound = bound_divergence(side, labels, k, tight, case.cost, share)
        bounds.append(case.say(bound, name))
    return bounds


def bound_by_pairs(case: Case) -> list[LowerBound]:
    """Pairs of rows and of columns, for disjoint blocks, where comparing all is not too much."""
    if not case.disjoint_blocks:
        return []
    n_entries = case.matrix.n_entries
    partners = int(np.clip(PACKING_ENTRIES // n_entries, 4, 32))
    sides = [side.points for side in case.sides()]
    return [
        pair_packing_bound(points.coordinates(), on_host(points.weights), n_partners=partners)
        for points in sides
        if len(points.weights) * n_entries <= PACKING_WORK
    ]


def bound_by_pairs_if_open(case: Case) -> list[LowerBound]:
    """Pairs, unless what is known already proves a small ratio."""
    return bound_by_pairs(case) if case.cost > CLOSE_ENOUGH * case.best else []


def bound_side(
    side: Side, upper: float, allowance: Allowance, rng: np.random.Generator
) -> LowerBound:
    """The best bound for parts that are disjoint over the points of a side; ``upper`` is the error.

    All pairs where there is room and time for them, groups where that is in doubt, and batches
    where there is room for neither.
    """
    points, k = side.points, side.n_groups
    heavy = np.flatnonzero(points.weights > 0)
    n, m = len(heavy), points.dimension
    pairs_fit = has_room(n, PAIR_BYTES)
    # About the least time in which a search over all pairs is worth its proof.
    seconds = search_seconds(FEW_ITERATIONS, n) + pairs_proof_seconds(n)
    groups = _most_groups(m, n, k, allowance.seconds / 4.0)
    bounds: list[LowerBound] = []
    if groups and not (pairs_fit and AMPLE * seconds <= allowance.seconds):
        matrix = points.matrix
        bound = grouped_bound(
            matrix.whole(), matrix.gram(), k, allowance, upper=upper, n_groups=groups
        )
        bounds += [] if bound is None else [bound]
    if pairs_fit and not allowance.cut and (seconds <= allowance.seconds or not bounds):
        gram = points.gram_of(heavy)
        bounds.append(all_pairs_bound(gram, k, m + WEIGHT_ROUNDINGS, allowance, upper=upper))
    if not bounds:
        batches = np.array_split(rng.permutation(heavy), math.ceil(n / BATCH))
        of_batches = [partial(points.gram_of, batch) for batch in batches]
        return sum_of_batches(of_batches, k, m + WEIGHT_ROUNDINGS, allowance)
    return max(bounds, key=lambda bound: bound.value)


def _most_groups(m: int, n: int, k: int, seconds: float) -> int:
    """How many groups of n points with m coordinates, more than k of them.

    0 where they save nothing or do not fit.
    """
    for count in (count for count in N_GROUPS if count > k):
        side = m + count
        if side < n and has_room(side, PROOF_BYTES):
            needed = search_seconds(GROUP_ITERATIONS, count) + 3.0 * proof_seconds(side)
            if needed <= seconds or count == N_GROUPS[-1]:
                return count
    return 0


def sum_of_batches(
    grams: Sequence[Callable[[], Array]], k: int, inner_length: int, allowance: Allowance
) -> LowerBound:
    """The sum of the bounds of batches of random points that share none.

    It bounds the squared error of the whole (docs/theory/bounds.md, Theorem 11). The Gram matrix of
    a batch is made when its turn comes, so only one is in memory, and what is left of the time is
    shared equally by those to come.
    """
    values = [0.0]
    for done, gram in enumerate(grams):
        if done and allowance.cut == INTERRUPTED:
            break  # the sum over some batches is a bound, too
        share = allowance.share(1.0 / (len(grams) - done))
        values.append(all_pairs_bound(gram(), k, inner_length, share).value)
    return LowerBound(round_down(math.fsum(values), 1), METHOD_IN_BATCHES)


def bound_blocks(case: Case, allowance: Allowance) -> list[LowerBound]:
    """The bound for disjoint blocks, where there is room for its proof."""
    n, m = case.matrix.shape
    flat = case.matrix if n <= m else case.matrix.transpose(many_passes=False)
    groups = _block_groups(min(n, m), max(n, m), allowance.seconds)
    if flat is None or not groups:
        return []
    bound = blocks_bound(
        flat.whole(), flat.row_gram(), case.rank, allowance, upper=case.cost, n_groups=groups
    )
    return [bound]


def _block_groups(n: int, m: int, seconds: float) -> list[int]:
    """How many groups of n rows, and of m columns: few first, then as many as time allows."""

    def needed(count: int) -> float:
        # About the time of the searches and proofs that are worth doing again with more groups.
        iterations = search_seconds(BLOCK_ITERATIONS, min(count, n) + min(count, m))
        proof = BLOCK_PROOF * proof_seconds(2 * n + min(count, m))
        return BLOCK_SEARCHES * (iterations + proof)

    *more, few = N_GROUPS
    fitting = [count for count in more if needed(count) <= seconds]
    sides = {count: 2 * n + min(count, m) for count in (few, *fitting[:1])}
    return [count for count, side in sides.items() if has_room(side, PROOF_BYTES)]


# What the certificates that may be asked for (`orthonmf.certificate.CERTIFICATES`) are made of.
BOUNDS: dict[str, dict[str, tuple[Callable[[Case], list[LowerBound]], ...]]] = {
    FROBENIUS: {
        "svd": (bound_by_singular_values, bound_by_pairs_if_open),
        "tight": (bound_by_singular_values, bound_by_multipliers, bound_by_pairs),
    },
    KULLBACK_LEIBLER: {
        "svd": (bound_by_reweighting,),
        "tight": (partial(bound_by_reweighting, tight=True),),
    },
}
