"""The table of lower bounds: which are tried for which certificate, in that order."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from orthonmf.bounds.allowance import INTERRUPTED, Allowance
from orthonmf.bounds.lower_bound import LowerBound
from orthonmf.bounds.pair_packing import pair_packing_bound
from orthonmf.bounds.rough_gram import tail_from_rough_gram
from orthonmf.bounds.singular_values import tail_from_gram, tail_from_groups, tail_from_ritz
from orthonmf.bounds.tight import bound_blocks, bound_side
from orthonmf.certificate import CERTIFICATE_SECONDS
from orthonmf.engine.executors import one_blas_thread
from orthonmf.engine.matrix import Matrix
from orthonmf.engine.other_passes import short_sums
from orthonmf.engine.placement import on_host
from orthonmf.engine.points import SinglePoints
from orthonmf.engine.samples import Samples, columns_of
from orthonmf.numerics.arrays import Array
from orthonmf.numerics.rounding import WEIGHT_ROUNDINGS

# Sides up to which the Gram matrix of the smaller side is formed, and up to which its tail is
# computed tightly whatever the number of components; beyond, that takes long for many of them.
LARGEST_SIDE = 4000
TIGHT_SIDE = 2000
TIGHT_COMPONENTS = 20
# A rough Gram matrix is tried first for so many times fewer components than columns, and while the
# products with them are no more than this.
FEWER_COMPONENTS = 10
MOST_PRODUCTS = 2**26
# Beyond, groups of points, of at most and at least so many, the latter for every component: so
# that all their Gram matrices and all proofs take about this many multiplications.
LARGEST_GROUP = 2000
SMALLEST_GROUP = 4
GROUP_WORK = 2**38
# What a product of a sparse matrix costs at most, and what of a proof, in those of a dense one.
PRICE_OF_ENTRY = 14
PRICE_OF_PROOF = 8
# The Gram matrix of the smaller side, its eigenvectors and what finding them takes, in doubles.
GRAM_COPIES, FLOAT = 7, 8
# For blocks, the part of the time that is theirs; the sides have the rest.
SHARE_OF_BLOCKS = 0.7
# For blocks all points are compared with each other (points times entries at most this), and
# then the entries of the most promising pairs (about this many).
PACKING_WORK = 2**33
PACKING_ENTRIES = 2**24
# With a core no bound charges both sides: on dense data that alone is a good part of the gap.
LEFT_OUT = " (what the other groups cost is left out: part of the gap is the bound's own)"
# Pairs are not compared by default when the singular values prove a ratio below this already.
CLOSE_ENOUGH = 1.2


@dataclass(frozen=True, slots=True)
class Case:
    """A factorization whose error is to be bounded from below.

    With a core ``n_components`` are two numbers, and the bounds are those of each side alone:
    a core of any pattern makes rows one of so many groups, and so it does columns, but blocks
    that exclude each other are more than it asks for.
    """

    matrix: Matrix
    orthogonal: str
    n_components: int | tuple[int, int]
    squared_error: float  # in the units of Y
    rng: np.random.Generator
    best: float = 0.0  # the largest bound so far
    seconds: float = CERTIFICATE_SECONDS  # for what takes as long as it is given
    interrupted: Callable[[], bool] = lambda: False  # whether the user wants no more

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
    def disjoint_blocks(self) -> bool:
        """Whether components share neither rows nor columns."""
        return self.orthogonal == "both" and not isinstance(self.n_components, tuple)

    def say(self, bound: LowerBound, side: str = "") -> LowerBound:
        """A bound whose method tells, with a core, of which side it is and what it leaves out."""
        if not isinstance(self.n_components, tuple):
            return bound
        alone = f" over the groups of {side} alone" if side else ""
        return replace(bound, method=bound.method + alone + (LEFT_OUT if self.rank > 1 else ""))

    def sides(self) -> list[Side]:
        """The points that no two groups share, where single ones can be had."""
        sides = []
        if self.orthogonal != "features":
            sides.append((Samples(self.matrix).access, self.sizes[0], "rows"))
        if self.orthogonal != "samples":
            sides.append((columns_of(self.matrix).access, self.sizes[1], "columns"))
        return [Side(points, k, name) for points, k, name in sides if points is not None]


@dataclass(frozen=True, slots=True)
class Side:
    """Points that no two groups share, how many groups there are, and what the points are."""

    points: SinglePoints
    n_groups: int
    name: str


# Bounds on the squared error of every factorization, and a sentence when one could not be had.
Found = tuple[list[LowerBound], str]


def find_bounds(case: Case, certificate: str) -> Found:
    """All bounds that a certificate tries, and a sentence when none could be had."""
    bounds: list[LowerBound] = []
    reasons = []
    with one_blas_thread():
        for find in BOUNDS[certificate]:
            if bounds and case.interrupted():
                bounds = [replace(bound, method=tell_interrupted(bound.method)) for bound in bounds]
                break
            found, reason = find(case)
            bounds += found
            reasons.append(reason)
            case = replace(case, best=max((bound.value for bound in bounds), default=0.0))
    return bounds, "" if bounds else "; ".join(filter(None, reasons))


def tell_interrupted(method: str) -> str:
    """A method that says that more was to be tried."""
    return method if method.endswith(INTERRUPTED) else f"{method}; the search was interrupted"


def certificate_bytes(shape: tuple[int, int]) -> int:
    """About how many bytes the Gram matrix of the smaller side and its eigenvalues take."""
    side = min(shape)
    side = side if side <= LARGEST_SIDE else LARGEST_GROUP
    return GRAM_COPIES * FLOAT * side**2


def bound_by_singular_values(case: Case) -> Found:
    """The tail of the singular values."""
    matrix, k = case.matrix, case.rank
    n, m = matrix.shape
    side = min(n, m)
    if side > LARGEST_SIDE:
        return _bound_by_groups(case)
    tall = matrix if m <= n else matrix.transpose(many_passes=False)
    if tall is None:
        return [], "X is wide and not in memory, so the Gram matrix of its rows was not formed"
    inner_length = max(n, m) + WEIGHT_ROUNDINGS
    found = _bound_by_rough_gram(tall, k, inner_length)
    if found is None:
        tight = side <= TIGHT_SIDE or k <= TIGHT_COMPONENTS
        tail = tail_from_gram if tight else tail_from_ritz
        found = tail(tall.gram(), k, inner_length)
    return [case.say(found)], ""


def _bound_by_rough_gram(tall: Matrix, k: int, inner_length: int) -> LowerBound | None:
    """The tail from products in float32, where they save time and prove enough."""
    summands = short_sums(tall)
    n, m = tall.shape
    if summands is None or k * FEWER_COMPONENTS > m or k * n > MOST_PRODUCTS:
        return None

    def capture(directions: Array) -> Array:
        products = tall.products(directions)
        weights = tall.row_weights
        return products.T @ (products if weights is None else products * weights[:, None])

    rough = tall.gram(exact=False)
    return tail_from_rough_gram(
        rough, k, inner_length, summands=summands, total=tall.total, capture=capture
    )


def _bound_by_groups(case: Case) -> Found:
    """The tails of random groups of the points of the smaller side, as large as work allows.

    A row of a group of b with e entries takes about b e products, but never more than a full one.
    """
    matrix, k = case.matrix, case.rank
    n, m = matrix.shape
    side = min(n, m)
    points = (Samples(matrix) if n <= m else columns_of(matrix)).access
    if points is None:
        return [], f"the smaller side of X is {side} and X is not in memory"
    products = min(n * m, PRICE_OF_ENTRY * matrix.n_entries)
    size = int(
        min(LARGEST_GROUP, GROUP_WORK / products, math.sqrt(GROUP_WORK / PRICE_OF_PROOF / side))
    )
    if size < SMALLEST_GROUP * k:
        return [], (
            f"the smaller side of X is {side}, and groups of {SMALLEST_GROUP * k} points or more "
            "are too much work. certificate='tight' gives a bound from batches of points"
        )
    heavy = np.flatnonzero(points.weights > 0)
    groups = np.array_split(case.rng.permutation(heavy), max(1, math.ceil(len(heavy) / size)))
    grams = (points.gram_of(group) for group in groups)
    found = tail_from_groups(grams, k, max(n, m) + WEIGHT_ROUNDINGS)
    return [case.say(found)], ""


def bound_by_multipliers(case: Case) -> Found:
    """Multipliers for blocks, and over each side, within the seconds there are."""
    allowance = Allowance(case.seconds, case.interrupted)
    bounds: list[LowerBound | None] = []
    rest = 1.0
    if case.disjoint_blocks:
        share = allowance.share(SHARE_OF_BLOCKS)
        bounds.append(bound_blocks(case.matrix, case.rank, case.squared_error, share))
        rest = 1.0 - SHARE_OF_BLOCKS
    sides = case.sides()
    for number, side in enumerate(sides):
        if not allowance.cut:
            left = len(sides) - number
            share = allowance.share(1.0 / left, case.seconds * rest / len(sides))
            found = bound_side(side.points, side.n_groups, case.squared_error, share, case.rng)
            bounds.append(case.say(found, side.name))
    return [bound for bound in bounds if bound is not None], ""


def bound_by_pairs(case: Case) -> Found:
    """Pairs of rows and of columns, for disjoint blocks, where comparing all is not too much."""
    if not case.disjoint_blocks:
        return [], ""
    n_entries = case.matrix.n_entries
    partners = int(np.clip(PACKING_ENTRIES // n_entries, 4, 32))
    sides = [side.points for side in case.sides()]
    return [
        pair_packing_bound(one.coordinates(), on_host(one.weights), n_partners=partners)
        for one in sides
        if len(one.weights) * n_entries <= PACKING_WORK
    ], ""


def bound_by_pairs_if_open(case: Case) -> Found:
    """Pairs, unless what is known already proves a small ratio."""
    far = case.squared_error > CLOSE_ENOUGH * case.best
    return bound_by_pairs(case) if far else ([], "")


# What the certificates that may be asked for (`orthonmf.certificate.CERTIFICATES`) are made of.
BOUNDS: dict[str, tuple[Callable[[Case], Found], ...]] = {
    "svd": (bound_by_singular_values, bound_by_pairs_if_open),
    "tight": (bound_by_singular_values, bound_by_multipliers, bound_by_pairs),
}
