"""Repair: what is left out is looked for, and paid for by the components that are missed least.

A descent keeps as many components in a place as its start put there. Where one component has to
stand for two groups while two others share one, no sweep and no single move can mend that. Here
every component that misses much is split in two, all at once, and the largest gains are taken
against the smallest losses: of two components that become one, or of one whose points all go to
their second best. Exchanges that share no component add up, so one round mends many places.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

import numpy as np

from orthonmf.engine.points import DirectionSweep, Samples
from orthonmf.typing import Array
from orthonmf.vectors import divide, unit_lengths

MOST_ROUNDS = 12
# Points that are tried as the second direction of a component, and sweeps of the two halves.
SPLIT_CANDIDATES = 3
SPLIT_SWEEPS = 2
# What a split gains by its sweeps, as a multiple of what its first candidate does, at the most.
MOST_GROWTH = 20.0
# Shares of the error: what a split may still gain to be tried, an exchange must gain to be made,
# and a round must promise not to be the last.
WORTH_SPLITTING = 1e-4
WORTH_EXCHANGING = 1e-5
WORTH_A_ROUND = 1e-3
# Second best directions take all products of points and directions at once.
MOST_PRODUCTS = 2**24
# Members of the components that are split are copied up to so many entries.
MOST_COPIED = 2**22
# Of all pairs so many of the cheapest, for every component, may pay in a round.
PAIRS_PER_COMPONENT = 16
# What the random numbers of all repairs are made of.
DRAWS = 0


@dataclass(frozen=True, slots=True)
class Repaired:
    """Directions after all rounds, and what they captured on the way."""

    directions: Array  # (k, m)
    captured: list[float]  # after every sweep of the rounds that were kept
    n_sweeps: int  # of all rounds


def repair(
    points: Samples,
    directions: Array,
    sweep: DirectionSweep | None = None,
    *,
    sweeps_after: int = 1,
) -> Repaired:
    """Directions (k, m) that capture at least as much, with no group left out if that shows.

    Losses are bounds only where directions have settled, and a component that dissolves may count
    on one that changes: so a round that captures less than the one before is taken back, and a
    quarter of its exchanges are tried, those that promise most. Points are
    drawn with a generator of its own, so that a fit that cannot be repaired, whose data are
    streamed, draws the same random numbers as one that can. ``sweep`` is one by the directions,
    where that is known; so many are made after that which tells what the exchanges of a round are
    worth.
    """
    rng, n_sweeps = np.random.default_rng(DRAWS), 0
    if sweep is None:
        sweep, n_sweeps = points.sweep_directions(directions), 1
    captured, most = [float(sweep.captured.sum())], len(directions)
    for number in range(MOST_ROUNDS if len(directions) > 2 else 0):
        exchanged, n_exchanges = _exchange(points, sweep, rng, most, dissolving=number == 0)
        if exchanged is None:
            break
        sweeps = [points.sweep_directions(exchanged)]
        for _ in range(sweeps_after):
            sweeps.append(points.sweep_directions(sweeps[-1].sums))
        n_sweeps += len(sweeps)
        if not sweeps[-1].captured_next.sum() > sweep.captured_next.sum():
            most = n_exchanges // 4
            if most == 0:
                break
            continue
        sweep, most = sweeps[-1], len(directions)
        for after in sweeps:
            captured.append(max(float(after.captured.sum()), captured[-1]))
    return Repaired(sweep.sums, captured, n_sweeps)


def _exchange(
    points: Samples, sweep: DirectionSweep, rng: np.random.Generator, most: int, dissolving: bool
) -> tuple[Array | None, int]:
    """Directions (k, m) after so many exchanges, at the most; None where none is worth it."""
    energies, unit = sweep.captured, unit_lengths(sweep.sums)
    missed_by_point = points.find_missed(sweep)
    labels = sweep.labels
    k = len(energies)
    missed = np.bincount(labels, missed_by_point, minlength=k)
    error = max(float(missed.sum()), 0.0)
    losses = merge_losses(unit @ unit.T, energies)
    np.fill_diagonal(losses, np.inf)
    # A split gains no more than is missed.
    tried = missed > losses.min() + WORTH_SPLITTING * error
    if not tried.any():
        return None, 0
    split = split_components(points, sweep, missed_by_point, tried, losses.min(), rng)
    if split is None:
        return None, 0
    gains, places = np.zeros(k), np.zeros(k, dtype=np.intp)
    gains[split.components] = np.where(tried[split.components], split.gains, 0.0)
    places[split.components] = np.arange(len(split.components))
    # Who dissolves is told by all products; later rounds hardly ever find such a component.
    if dissolving and gains.max() > losses.min():
        np.fill_diagonal(losses, dissolve_losses(points, sweep, labels))
    exchanges = choose_exchanges(gains, losses, WORTH_EXCHANGING * error)[:most]
    promised = sum(gains[j] - losses[a, b] for j, a, b in exchanges)
    if not promised > WORTH_A_ROUND * error:
        return None, 0
    directions = unit.copy()
    for j, a, b in exchanges:
        if a != b:
            directions[b] = join(unit[a], unit[b], energies[a], energies[b])
        directions[j], directions[a] = split.first[places[j]], split.second[places[j]]
    return directions, len(exchanges)


def merge_losses(cosines: Array, energies: Array) -> Array:
    """(k, k) energy that is lost at the most when two components become one, by their cosines.

    The best direction in the plane of both captures the larger eigenvalue of the sum of both
    rank-one matrices, and the top singular vector of all their points no less.
    """
    a, b = energies[:, None], energies[None, :]
    top = (a + b) / 2 + np.sqrt(np.square((a - b) / 2) + a * b * np.square(cosines))
    return np.maximum(a + b - top, 0.0)


def dissolve_losses(points: Samples, sweep: DirectionSweep, labels: Array) -> Array:
    """(k,) energy that is lost when the points of a component go to their second best."""
    k = len(sweep.captured)
    if len(labels) * k > MOST_PRODUCTS or sweep.unit is None:
        return np.full(k, np.inf)
    cosines = points.rough_cosines_with(sweep.unit)
    cosines[np.arange(len(labels)), labels] = 0.0
    second = np.bincount(labels, points.weights * np.square(cosines.max(axis=1)), minlength=k)
    return np.maximum(sweep.captured - second, 0.0)


@dataclass(frozen=True, slots=True)
class Split:
    """Two directions for some of the components, and what both capture more than the one."""

    components: Array  # (t,)
    gains: Array  # (t,)
    first: Array  # (t, m)
    second: Array  # (t, m)


@dataclass(frozen=True, slots=True)
class Members:
    """The points of the components that are tried, with what those components miss of them."""

    points: Samples
    components: Array  # (t,) their numbers
    labels: Array  # (N,) positions among them
    missed: Array  # (N,)

    def of(self, tried: Array) -> tuple[Members, Array]:
        """Those of fewer components (t,), as points of their own, and their positions here.

        All, where a copy would be large.
        """
        positions = np.flatnonzero(tried[self.labels])
        if tried.all() or len(positions) * self.points.dimension > MOST_COPIED:
            return self, np.arange(len(self.labels))
        part = self.points.cut([positions])[0]
        labels = (np.cumsum(tried) - 1)[self.labels[positions]]
        return Members(part, self.components[tried], labels, self.missed[positions]), positions

    def draw(self, rng: np.random.Generator) -> Array:
        """Directions (t, m): of one member of each component, drawn by what is missed."""
        drawn = draw_one_each(self.missed, self.labels, len(self.components), rng)
        return self.points.at(drawn)

    def gains(self, energies: Array, own: Array) -> Array:
        """(t,) what is captured more when every member takes the better of two energies (N,)."""
        raised = np.maximum(energies - own, 0.0)
        return np.bincount(self.labels, raised, minlength=len(self.components))


def split_components(
    points: Samples,
    sweep: DirectionSweep,
    missed: Array,
    tried: Array,
    least: float,
    rng: np.random.Generator,
) -> Split | None:
    """Split the components that are tried, all at once: a pass costs O(entries), whatever k.

    The second direction starts from the best of a few points drawn by what is missed (N,). None
    where the first of these promises no component a gain above the ``least`` worth having.
    """
    everyone = Members(points, np.arange(len(tried)), sweep.labels, missed)
    members, _ = everyone.of(tried)
    second = members.draw(rng)
    other = members.points.captured_along(members.labels, second)
    most = members.gains(other, members.points.weights - members.missed)
    promising = tried[members.components] & (MOST_GROWTH * most > least)
    if not promising.any():
        return None
    before = members
    members, kept = before.of(promising)
    if members is not before:
        second, most, other = second[promising], most[promising], other[kept]
    points, labels, t = members.points, members.labels, len(members.components)
    own = points.weights - members.missed
    for _ in range(SPLIT_CANDIDATES - 1):
        candidates = members.draw(rng)
        energies = points.captured_along(labels, candidates)
        gains = members.gains(energies, own)
        better = gains > most
        most, second[better] = np.where(better, gains, most), candidates[better]
        other = np.where(better[labels], energies, other)
    first, lengths = own, np.sqrt(points.weights)
    for _ in range(SPLIT_SWEEPS):
        nearer = other > first
        cosines = divide(np.sqrt(np.where(nearer, other, first)), lengths)
        halves = np.where(nearer, labels + t, labels)
        sums = points.power_update(halves, cosines, 2 * t)
        first = points.captured_along(labels, sums[:t])
        other = points.captured_along(labels, sums[t:])
    gains = np.bincount(labels, np.maximum(first, other) - own, minlength=t)
    return Split(members.components, gains, sums[:t], sums[t:])


def draw_one_each(chances: Array, labels: Array, k: int, rng: np.random.Generator) -> Array:
    """(k,) positions of one point for every of k labels, drawn by chances (N,); 0 where none has.

    Every point waits an exponential time at the rate of its chance; the first of a label wins.
    """
    waits = np.full(len(chances), np.inf)
    hot = np.flatnonzero(chances > 0)
    waits[hot] = rng.standard_exponential(len(hot)) / chances[hot]
    shortest = np.full(k, np.inf)
    np.minimum.at(shortest, labels[hot], waits[hot])
    first = hot[waits[hot] == shortest[labels[hot]]][::-1]  # of several the first is written last
    drawn = np.zeros(k, dtype=np.intp)
    drawn[labels[first]] = first
    return drawn


def choose_exchanges(gains: Array, losses: Array, least: float) -> list[tuple[int, int, int]]:
    """Pairs of a split and what pays for it, the largest gains first, no component twice.

    (j, a, b): component j is split in two, a and b become one; a = b: a dissolves.
    """
    rows, columns = np.nonzero(np.triu(losses < gains.max()))
    values, most = losses[rows, columns], PAIRS_PER_COMPONENT * len(gains)
    cheapest = (
        np.argpartition(values, most)[:most] if len(values) > most else np.arange(len(values))
    )
    order = cheapest[np.argsort(values[cheapest], kind="stable")]
    pairs = list(zip(rows[order].tolist(), columns[order].tolist(), strict=True))
    used: set[int] = set()
    exchanges, first = [], 0
    for j in np.argsort(-gains, kind="stable").tolist():
        if j in used:
            continue
        while first < len(pairs) and not used.isdisjoint(pairs[first]):
            first += 1
        taken = used | {j}
        free = (pair for pair in islice(pairs, first, None) if taken.isdisjoint(pair))
        payer = next(free, None)
        if payer is None:
            continue
        if not gains[j] > losses[payer] + least:
            break
        used.update((j, *payer))
        exchanges.append((j, *payer))
    return exchanges


def join(one: Array, other: Array, energy: float, other_energy: float) -> Array:
    """The direction (m,) that captures most of two, in their plane."""
    cosine = float(one @ other)
    matrix = np.array([[energy, energy * cosine], [other_energy * cosine, other_energy]])
    values, vectors = np.linalg.eig(matrix)
    shares = np.abs(np.real(vectors[:, np.argmax(np.real(values))]))
    return shares[0] * one + shares[1] * other
