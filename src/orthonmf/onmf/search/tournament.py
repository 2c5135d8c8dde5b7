"""A tournament: many starts at once, on products of points; one set of directions wins.

Clustering lines needs only the products of points with each other. With the Gram matrix G (s, s) of
a sample, or of all points when they are few, a sweep of R starts is one product ``G @ A``, where A
(s, R k) holds the scales of the members of each component. No coordinates are read, so that many
starts cost next to nothing once G is there.

Starts that capture least leave after every few sweeps. Single points then move between the
components of those that are left, by the Ritz values of `net_gains`, as in `moves.py`, and copies
of the best with one component replaced compete again. What stays never captures less than what
leaves, and no step loses: so the winner is at least as good as every start.
"""

from __future__ import annotations

import numpy as np

from orthonmf.engine.point_gram import Products
from orthonmf.engine.sampling import draw, draw_distinct
from orthonmf.kmeans.exchanges import choose_columns
from orthonmf.onmf.search.moves import net_gains
from orthonmf.typing import Array
from orthonmf.vectors import divide

SWEEPS_BEFORE_HALVING = 2
FINALISTS = 3
MOST_SWEEPS = 30
USUAL_SWEEPS = 30  # of all starts, in a whole tournament
MOVE_ROUNDS = 60
# A round of moves that gains less than this share of what ends the sweeps is the last one.
WORTH_MOVING = 0.1
# Starts whose errors differ by no more than this share have come to the same answer.
SAME_ERROR = 5e-4
FEWEST_THE_SAME = 4
# Candidates for every point that is drawn; the one that leaves least is taken.
CANDIDATES = 3
# Groups of points that may become components: drawn in rounds, so many of them.
POOL_STARTS = 2
POOL_ROUNDS = 3
WIDE_POOL = 100
POOL_PER_COMPONENT = 4


class Field:
    """R sets of k components for s points, each by the labels and scales of its members."""

    def __init__(self, labels: Array, scales: Array, captured: Array) -> None:
        self.labels, self.scales = labels, scales  # (s, R) each
        self.captured = captured  # (R,)

    def keep(self, chosen: Array) -> Field:
        """Some of the sets."""
        return Field(self.labels[:, chosen], self.scales[:, chosen], self.captured[chosen])

    def join(self, other: Field) -> Field:
        """The sets of both."""
        return Field(
            np.concatenate([self.labels, other.labels], axis=1),
            np.concatenate([self.scales, other.scales], axis=1),
            np.concatenate([self.captured, other.captured]),
        )

    def best(self, count: int) -> Field:
        """Those that capture most, the best first."""
        return self.keep(np.argsort(-self.captured, kind="stable")[:count])


class Tournament:
    """Products of s weighted points, and what is played on them for k components."""

    def __init__(self, products: Products, k: int, rng: np.random.Generator, tol: float) -> None:
        self._all, self._k, self._rng, self._tol = products, k, rng, tol
        self._weights = products.energies  # (s,)
        self._total = float(self._weights.sum())
        self._settled = -np.inf  # what the best captures from which no move of a point gains

    def begin(self, n_starts: int, *, all_points: bool = False) -> None:
        """Draw starts and sweep them a few times; ``agreed`` says whether most look the same.

        With ``all_points`` one of the starts is drawn by the plain law of k-means++ on lines.
        """
        self._field = self._sweep_often(self._draw_starts(n_starts, plain_first=all_points))
        same = miss_the_same(self._total - self._field.captured, self._total)
        self.agreed = bool(same.sum() >= max(FEWEST_THE_SAME, len(same) / 2))

    def add(self, given: Array) -> None:
        """Let one more start play, by the products (s, up to k) of the points with its directions.

        The directions are of length one.
        """
        products = np.zeros((len(given), 1, self._k), dtype=self._all.dtype)
        products[:, 0, : given.shape[1]] = given
        self._field = self._field.join(self._assign(products))

    def play(
        self, n_copies: int, n_rounds: int, n_moved: int, *, persistent: bool = True
    ) -> tuple[Array, Array]:
        """Labels (s,) of the winner and the products (s,) of the points with its directions.

        Where most starts came to the same answer, it is the winner, and nothing else is tried: no
        point is moved either, unless ``persistent``. A round of replacements that gains nothing is
        then the last one, too.
        """
        if self.agreed:
            best = self._finish(self._field.best(1), n_moved if persistent else 0)
            return best.labels[:, 0], best.scales[:, 0]
        for _ in range(POOL_STARTS if self._k > 1 else 0):
            self._field = self._field.join(self._pool_start())
        best = self._finish(self._field, n_moved)
        for _ in range(n_rounds if self._k > 1 else 0):
            before = best.captured[0]
            best = self._finish(best.join(self._replace(best, n_copies)), n_moved)
            missed = self._total - best.captured[0]
            if not persistent and not best.captured[0] - before > self._tol * missed:
                break
        return best.labels[:, 0], best.scales[:, 0]

    def _finish(self, field: Field, n_moved: int) -> Field:
        """Halve, sweep to the end, move single points of the best, and keep the best."""
        field = self._sweep_to_end(self._halve(field))
        for number in self._to_move(field)[:n_moved]:
            field = field.join(self._move(field.keep(np.array([number]))))
        best = field.best(1)
        self._settled = best.captured[0]
        return best

    def _to_move(self, field: Field) -> list[int]:
        """Sets whose points may be worth moving, the best first.

        Of those that capture the same only one, and not what was moved to its end before.
        """
        if self._k == 1:
            return []
        order = np.argsort(-field.captured, kind="stable")
        captured = np.concatenate([[np.inf], field.captured[order]])
        least = 1e-12 * self._total
        new = (captured[:-1] - captured[1:] > least) & (
            np.abs(captured[1:] - self._settled) > least
        )
        return [int(number) for number in order[new]]

    def _halve(self, field: Field) -> Field:
        while len(field.captured) > FINALISTS:
            field = self._sweep_often(field)
            field = field.best(max(FINALISTS, len(field.captured) // 2))
        return field

    def _sweep_often(self, field: Field) -> Field:
        for _ in range(SWEEPS_BEFORE_HALVING):
            field = self._sweep(field)
        return field

    def _sweep_to_end(self, field: Field) -> Field:
        """Sweep until every set gains next to nothing; those that do leave the batch."""
        active = np.arange(len(field.captured))
        for _ in range(MOST_SWEEPS):
            before = field.captured[active]
            swept = self._sweep(field.keep(active))
            field.labels[:, active], field.scales[:, active] = swept.labels, swept.scales
            field.captured[active] = np.maximum(swept.captured, before)
            gained = swept.captured - before
            active = active[gained > self._tol * np.maximum(self._total - swept.captured, 0.0)]
            if len(active) == 0:
                break
        return field

    def _products(self, field: Field) -> Array:
        """(s, R, k) products of all points with the unit directions of every set."""
        slots, places = self._find(field.labels)
        s, width = len(slots), field.labels.shape[1] * self._k
        members = np.zeros((s, width), dtype=self._all.dtype)
        members.reshape(-1)[places] = field.scales
        products = self._all.times(members)
        own = field.scales * products.reshape(-1)[places]
        squares = np.bincount(slots.reshape(-1), own.reshape(-1), minlength=width)
        lengths = np.sqrt(np.maximum(squares, 0.0))
        products *= divide(np.ones(width), lengths).astype(products.dtype)
        return products.reshape(s, -1, self._k)

    def _find(self, labels: Array) -> tuple[Array, Array]:
        """Where labels (s, R) stand among the R k components, and in an array (s, R k)."""
        s, n_sets = labels.shape
        slots = labels + self._k * np.arange(n_sets)
        return slots, slots + (n_sets * self._k) * np.arange(s)[:, None]

    def _sweep(self, field: Field) -> Field:
        """One sweep of all sets at once."""
        swept = self._assign(self._products(field))
        self._reuse_idle(swept)
        return swept

    def _assign(self, products: Array) -> Field:
        """Give every point to its best direction in every set, by products (s, R, k)."""
        labels = products.argmax(axis=2)
        scales = products.reshape(-1)[self._find(labels)[1]]
        return Field(labels, scales, np.square(scales, dtype=np.float64).sum(axis=0))

    def _reuse_idle(self, field: Field) -> None:
        """Let components without members stand for the points of which most is missed, in place."""
        n_sets = len(field.captured)
        slots = self._find(field.labels)[0]
        counts = np.bincount(slots.reshape(-1), minlength=n_sets * self._k).reshape(n_sets, -1)
        for number in np.flatnonzero((counts == 0).any(axis=1)):
            idle = np.flatnonzero(counts[number] == 0)
            missed = self._weights - np.square(field.scales[:, number], dtype=np.float64)
            worth = np.flatnonzero(missed > 1e-6 * self._weights.mean())
            worst = worth[np.argsort(-missed[worth], kind="stable")][: len(idle)]
            field.labels[worst, number] = idle[: len(worst)]
            field.scales[worst, number] = np.sqrt(self._weights[worst])

    def _draw_starts(self, n_starts: int, plain_first: bool) -> Field:
        """Sets of points drawn one by one by what the others miss."""
        s, gram = len(self._weights), self._all
        everyone = np.arange(n_starts)
        labels = np.zeros((s, n_starts), dtype=np.intp)
        scales = np.zeros((s, n_starts), dtype=gram.dtype)
        missed = np.repeat(self._weights[:, None], n_starts, axis=1)
        for number in range(self._k):
            picks = self._draw_each(missed, CANDIDATES if number else 1)  # (R, c)
            products = gram.unit_columns(picks.reshape(-1)).reshape(s, *picks.shape)
            left = np.minimum(missed[:, :, None], self._weights[:, None, None] - products**2)
            taken = left.sum(axis=0).argmin(axis=1)
            if plain_first:
                taken[0] = 0
            new = products[:, everyone, taken]
            nearer = new > scales
            labels, scales = np.where(nearer, number, labels), np.where(nearer, new, scales)
            missed = np.maximum(self._weights[:, None] - np.square(scales, dtype=np.float64), 0.0)
            missed[picks[everyone, taken], everyone] = 0.0
        return Field(labels, scales, np.square(scales, dtype=np.float64).sum(axis=0))

    def _draw_each(self, missed: Array, count: int) -> Array:
        """For every set (R) some positions, drawn by what is missed (s, R) in it: (R, count)."""
        cumulated = np.cumsum(missed, axis=0)
        places = self._rng.random((missed.shape[1], count)) * cumulated[-1][:, None]
        picks = [
            np.searchsorted(c, at, side="right") for c, at in zip(cumulated.T, places, strict=True)
        ]
        return np.minimum(np.array(picks), len(missed) - 1)

    def _pool_start(self) -> Field:
        """A set of groups of points that stand for all: chosen one by one, then exchanged."""
        size = max(WIDE_POOL, POOL_PER_COMPONENT * self._k)
        gram, weights = self._all, self._weights
        s, n_seeds = len(weights), 0
        labels, captured = np.zeros(s, dtype=np.intp), np.zeros(s)
        for _ in range(POOL_ROUNDS):
            missed = np.maximum(weights - captured, 0.0)
            drawn = draw_distinct(missed, -(-size // POOL_ROUNDS), self._rng)
            if len(drawn) == 0:
                break
            energies = np.square(gram.unit_columns(drawn), dtype=np.float64)
            nearest = energies.argmax(axis=1)
            largest = energies[np.arange(s), nearest]
            largest[drawn] = weights[drawn]
            labels = np.where(largest > captured, nearest + n_seeds, labels)
            captured = np.maximum(largest, captured)
            n_seeds += len(drawn)
        members = np.zeros((s, n_seeds), dtype=gram.dtype)
        members[np.arange(s), labels] = np.sqrt(captured)
        products = gram.times(members)
        squares = np.einsum("sp,sp->p", members, products)
        energies = np.divide(
            np.square(products), squares, out=np.zeros_like(products), where=squares > 0
        )
        inverse = gram.inverse_lengths[:, None]
        shares = energies * inverse * inverse  # its square alone may overflow
        distances = np.clip(1.0 - shares, 0.0, 1.0)
        _, nearest_chosen = choose_columns(weights, distances, self._k)
        scales = np.sqrt(weights * (1.0 - nearest_chosen.nearest))
        return Field(
            nearest_chosen.labels[:, None].astype(np.intp),
            scales[:, None].astype(gram.dtype),
            np.array([float(np.square(scales).sum())]),
        )

    def _replace(self, best: Field, n_copies: int) -> Field:
        """Copies of a set, in each one component replaced by a point drawn by what is missed.

        The first half give up the components that are missed least, the others any.
        """
        k, rng = self._k, self._rng
        products = self._products(best)[:, 0]  # (s, k)
        ordered = np.sort(products, axis=1)
        own = products.argmax(axis=1)
        lost = np.square(ordered[:, -1], dtype=np.float64) - np.square(ordered[:, -2])
        cheapest = np.argsort(np.bincount(own, lost, minlength=k), kind="stable")
        leaving = np.where(
            np.arange(n_copies) < n_copies // 2,
            cheapest[np.arange(n_copies) % k],
            rng.integers(k, size=n_copies),
        )
        missed = np.maximum(self._weights - np.square(ordered[:, -1], dtype=np.float64), 0.0)
        if not missed.any():
            return best
        picks = draw(missed, n_copies, rng)
        copies = np.repeat(products[:, None, :], n_copies, axis=1)
        copies[:, np.arange(n_copies), leaving] = self._all.unit_columns(picks)
        return self._assign(copies)

    def _move(self, field: Field) -> Field:
        """What moving single points makes of a set, swept to its end; never less than it was."""
        gram, k = self._all, self._k
        s = len(self._weights)
        everyone, labels = np.arange(s), field.labels[:, 0].copy()
        members = np.zeros((s, k))
        members[everyone, labels] = field.scales[:, 0]
        products = gram.times(members.astype(gram.dtype)).astype(np.float64)
        left = np.full(s, -1)  # where a point came from, and does not return to
        for _ in range(MOVE_ROUNDS):
            squares = np.maximum(np.einsum("sk,sk->k", members, products), 0.0)
            norms = np.square(members).sum(axis=0)
            energies = np.divide(squares, norms, out=np.zeros(k), where=norms > 0)
            lengths = np.sqrt(squares)
            units = np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)
            targets, net = net_gains(np.square(units), self._weights, labels, energies)
            net[targets == left] = 0.0
            moving = _share_no_component(labels, targets, net, 1e-9 * self._total / s)
            missed = self._total - float(energies.sum())
            if not net[moving].sum() > WORTH_MOVING * self._tol * missed:
                break
            own, new = labels[moving], targets[moving]
            scales = units[moving, new]
            columns = gram.columns(moving).astype(np.float64)
            products[:, own] -= columns * members[moving, own]
            products[:, new] += columns * scales
            members[moving, own], members[moving, new] = 0.0, scales
            labels[moving], left[moving] = new, own
        scales = members[everyone, labels].astype(gram.dtype)
        moved = Field(labels[:, None], scales[:, None], np.zeros(1))
        return self._sweep_to_end(moved)


def miss_the_same(missed: Array, total: float) -> Array:
    """Which answers have come to the same as the best, by what each misses of a total, (R,)."""
    return missed <= (1 + SAME_ERROR) * missed.min() + 1e-12 * total


def _share_no_component(labels: Array, targets: Array, net: Array, least: float) -> Array:
    """Points whose moves gain most, no two of which touch the same component."""
    better = np.flatnonzero(net > least)
    used: set[int] = set()
    moving = []
    for point in better[np.argsort(-net[better], kind="stable")]:
        touched = {int(labels[point]), int(targets[point])}
        if not touched & used:
            used |= touched
            moving.append(point)
    return np.array(moving, dtype=np.intp)
