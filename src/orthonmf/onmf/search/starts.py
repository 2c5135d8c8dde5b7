"""First directions: the winner of a tournament, or drawn by what is not captured yet.

`way_to_start` says which way a fit goes, docs/defaults.md why.

A tournament plays many starts at once on the products of points with each other: of all points
when they are few, of a weighted sample, or of candidates drawn in rounds. `init="lines"` draws
from all points, one by one, and exchanges: k-means++ on lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from orthonmf.certificate import Promise
from orthonmf.engine.points import Points, Samples
from orthonmf.engine.sampling import draw_distinct
from orthonmf.errors import InvalidInputError
from orthonmf.kmeans.exchanges import Nearest, best_exchanges
from orthonmf.kmeans.rounds import seed_in_rounds
from orthonmf.kmeans.seeding import draw_by_law, lines
from orthonmf.onmf.options import Options
from orthonmf.onmf.promises import single_from_lines
from orthonmf.onmf.search.candidates import (
    MANY_COMPONENTS,
    SOME_COMPONENTS,
    Chosen,
    choose,
    count_candidates,
    draw_plainly,
    gather,
    gather_in_rounds,
    repair_labels,
)
from orthonmf.onmf.search.loop import Start
from orthonmf.onmf.search.tournament import (
    POOL_PER_COMPONENT,
    POOL_ROUNDS,
    POOL_STARTS,
    USUAL_SWEEPS,
    WIDE_POOL,
    Tournament,
)
from orthonmf.typing import Array
from orthonmf.vectors import divide, unit_lengths

# Up to FEW points, hardly more than a sample has, all play; up to TINY there are more rounds.
FEW = 512
TINY = 128
# Seconds, by counting, that products may always take, and how many sweeps a fit is taken to have.
ALWAYS_SECONDS = 0.1
SAMPLE_SECONDS = 0.05
TOURNAMENT_SECONDS = 0.25
SWEEPS_OF_A_FIT = 7
SWEEPS_WITH_MOVES = 25
SAMPLE_SHARE = 0.4
# A sample this size finds the same directions as all points do. One that is played on is fitted
# closely, so it needs more points for every component than one that only offers groups; of few
# components each may have more.
SMALL_SAMPLE = 500
LARGE_SAMPLE = 1000
SAMPLE_OF_FEW_COMPONENTS = 60
SAMPLE_PER_COMPONENT = 40
DEAR_SAMPLE_PER_COMPONENT = 20
# So many groups may become components where single points do not matter.
POOL_SIZE = 40
# Exchanges keep the distances of all points to the pool; more than this are too many.
MOST_DISTANCES = 2**24
# Candidates stand for so many times as many points, or of many components all points take part.
FEWER_CANDIDATES = 3
# Candidates are dense vectors: these take half a gigabyte.
MOST_COORDINATES = 2**26
# A component of fewer equal points than this turns when one of them moves.
DECISIVE_POINTS = 50
GIVEN = "the first directions were given, not drawn; init='lines' draws them and promises a ratio"
NO_PROMISE = (
    "directions were drawn {}; init='lines' draws from all points one by one and keeps the "
    "promise of the draws, init='local-search' one that always holds"
)


@dataclass(frozen=True, slots=True)
class Seeding:
    """One way to choose first directions, and what a draw by it promises for the answer."""

    step: str
    draw: Callable[[], Chosen]
    promise: Promise


def one_side_starts(points: Points, options: Options, way: str) -> Iterator[Start]:
    """The starts over samples or features, found in this way; a finished draw is not repeated."""
    given = None if isinstance(options.init, str) else points.directions_of(options.init)
    if given is not None and not given.any():
        raise InvalidInputError(
            "init captures nothing: its rows are zero wherever X and the weights are above zero"
        )
    for number in range(options.n_init if given is None else 1):
        seeding = choose_seeding(points, options, way, number, given)
        step, sweep = options.steps.next_step(), None
        if not step.finished:
            chosen = seeding.draw()
            step.finish(vectors=chosen.directions)
            sweep = chosen.sweep
        yield Start(seeding.step, step.arrays["vectors"].copy(), seeding.promise, sweep)


def way_to_start(points: Points, options: Options) -> str:
    """How first directions are found: "given", by the name of an `init`, or what "auto" stands for.

    That is a tournament of "all" points where they are few, of "candidates" where drawing these is
    cheap, or of a "sample"; and of candidates "in passes" where only passes reach the points.
    """
    if not isinstance(options.init, str):
        return "given"
    if options.init != "auto":
        return options.init
    if points.fetchable is None:
        return "in passes"
    if all_may_play(points.fetchable, options.n_components):
        return "all"
    candidates = candidates_may_play(points, options.n_components)
    return "candidates" if candidates else "sample"


def choose_seeding(
    points: Points, options: Options, way: str, number: int, given: Array | None = None
) -> Seeding:
    """How the first directions of one start are drawn; every second one of "lines" exchanges."""
    k, rng, fetchable = options.n_components, options.rng, points.fetchable
    if given is not None:
        return Seeding("given directions", lambda: Chosen(given), Promise(reason=GIVEN))
    nothing = Promise(reason=NO_PROMISE.format("in rounds"))
    if way == "k-means||":
        draw_rounds = partial(seed_in_rounds, points, k, rng)
        return Seeding("line seeding in rounds", lambda: Chosen(draw_rounds()), nothing)
    if way == "in passes":
        draw = partial(choose_in_passes, points, k, rng)
        return Seeding("tournament of candidates", draw, nothing)
    promise = single_from_lines(k)
    if way in PLAYED and fetchable is not None:
        step, play = PLAYED[way]
        return Seeding(step, partial(play, fetchable, k, rng), promise)
    at_hand, fits = points.at_hand, len(points.weights) * pool_size(points, k) <= MOST_DISTANCES
    if number % 2 == 0 and k > 1 and at_hand is not None and fits:
        return Seeding("line seeding", partial(draw_and_exchange, at_hand, k, rng), promise)
    return Seeding("line seeding", partial(draw_directions, points, k, rng), promise)


def sample_size(k: int, per_component: int = SAMPLE_PER_COMPONENT) -> int:
    """How many points a sample for k directions holds."""
    return max(SMALL_SAMPLE, min(SAMPLE_OF_FEW_COMPONENTS * k, LARGE_SAMPLE), per_component * k)


def pool_size(points: Points, k: int) -> int:
    """How many groups of points may become one of k directions: more where few matter."""
    least = WIDE_POOL if single_points_matter(points, k) else POOL_SIZE
    return max(least, POOL_PER_COMPONENT * k)


def single_points_matter(points: Points, k: int) -> bool:
    """Whether one of k components has, on average, the weight of few points.

    Where a component holds hundreds of them, moving one hardly turns its direction, and single
    moves find next to nothing.
    """
    return points.equal_count < DECISIVE_POINTS * k


def all_may_play(points: Samples, k: int) -> bool:
    """Whether all points are few, and their products take no longer than a few sweeps."""
    if len(points.weights) > FEW:
        return False
    formed, _ = points.products_seconds(len(points.weights))
    return formed <= max(ALWAYS_SECONDS, SWEEPS_OF_A_FIT * points.sweep_seconds(k))


def candidates_may_play(points: Points, k: int) -> bool:
    """Whether candidates find room and take no longer than the descent, or a sample to play on."""
    local = points.on_the_host
    if local is None or count_candidates(local, k) * points.dimension > MOST_COORDINATES:
        return False
    size = sample_size(k)
    sample = local.products_seconds(size)[0] + tournament_seconds(local, k, size)
    fit = SWEEPS_OF_A_FIT * local.sweep_seconds(k)
    return local.sweep_seconds(count_candidates(local, k)) <= max(fit, sample)


def tournament_is_dear(points: Samples, k: int) -> bool:
    """Whether a tournament of a sample would take more than a share of the fit."""
    sweeps = SWEEPS_WITH_MOVES if single_points_matter(points, k) else SWEEPS_OF_A_FIT
    size, share = sample_size(k), SAMPLE_SHARE * sweeps * points.sweep_seconds(k)
    formed, _ = points.products_seconds(size)
    played = tournament_seconds(points, k, size)
    return formed > max(SAMPLE_SECONDS, share) or played > max(TOURNAMENT_SECONDS, share)


def tournament_seconds(points: Samples, k: int, size: int) -> float:
    """About how long a tournament of so many points takes, by counting, never by a clock."""
    _, multiplied = points.products_seconds(size)  # of a column
    return USUAL_SWEEPS * (count_starts(k, 72, 8) + POOL_STARTS) * k * multiplied


def play_on_all(points: Samples, k: int, rng: np.random.Generator) -> Chosen:
    """The directions of a tournament of all points."""
    heavy = np.flatnonzero(points.weights > 0)
    n = len(heavy)
    tournament = Tournament(points.products_of(heavy), k, rng, tol=1e-4)
    tiny, n_starts = n <= TINY, count_starts(k, 144, 16)
    tournament.begin(n_starts, all_points=True)
    won, products = tournament.play(n_starts, 6 if tiny else 4, 4 if tiny else 2)
    labels, cosines = np.full(len(points.weights), -1), np.zeros(len(points.weights))
    labels[heavy], cosines[heavy] = won, products / np.sqrt(points.weights[heavy])
    if k >= SOME_COMPONENTS:
        lengths = np.sqrt(points.weights)
        labels, products = repair_labels(points, labels, cosines * lengths, k)
        cosines = divide(products, lengths)
    return Chosen(points.power_update(labels, cosines, k))


def play_on_sample(points: Samples, k: int, rng: np.random.Generator) -> Chosen:
    """The directions of a tournament of a sample; never worse than the draws by the plain law.

    Half of the sample is drawn by weight, half by what the draws miss: a few points that fit
    nowhere may be worth a component, and a sample by weight alone would not hold them. Where a
    tournament takes too long, candidates stand for a sample.
    """
    plain = draw_plainly(points, k, rng)
    if tournament_is_dear(points, k):
        sample = points.sample(sample_size(k, DEAR_SAMPLE_PER_COMPONENT), rng)
        candidates = gather(draw_plainly(sample, k, rng), k, rng)
        return plain.or_better(choose(sample, candidates, k, rng))
    # The sums are above zero: the weights' always, and where nothing is missed nothing is added.
    chances = points.weights / points.total + plain.missed / (plain.missed.sum() or 1.0)
    sample = points.sample(sample_size(k), rng, chances)
    lengths = np.sqrt(sample.weights)
    products = sample.products_of(np.arange(len(lengths)), exact=False)
    tournament = Tournament(products, k, rng, tol=1e-3)
    n_starts, n_moved = count_starts(k, 72, 8), 3 if single_points_matter(points, k) else 0
    tournament.begin(n_starts)
    if not tournament.agreed:
        cosines = sample.rough_cosines_with(unit_lengths(plain.directions))
        tournament.add(cosines * lengths[:, None])
    labels, scales = tournament.play(n_starts, 2, n_moved, persistent=False)
    return plain.or_better(sample.power_update(labels, scales / lengths, k))


def count_starts(k: int, n_directions: int, most: int) -> int:
    """How many starts of k directions are played: about so many directions in all."""
    return int(np.clip(n_directions // k, 4, most))


def play_on_gathered(points: Samples, k: int, rng: np.random.Generator) -> Chosen:
    """The directions that are best for candidates; never worse than the draws by the plain law."""
    plain = draw_plainly(points, k, rng)
    if k >= MANY_COMPONENTS and FEWER_CANDIDATES * count_candidates(points, k) > len(
        points.weights
    ):
        # They would only be repaired, and all points are repaired next.
        return Chosen(plain.directions)
    return plain.or_better(choose(points, gather(plain, k, rng), k, rng))


def choose_in_passes(points: Points, k: int, rng: np.random.Generator) -> Chosen:
    """The directions that are best for candidates drawn in rounds, for data far away."""
    return Chosen(choose(points, gather_in_rounds(points, k, rng), k, rng))


# The winner of each captures no less than the one start that is drawn by the plain law.
PLAYED = {
    "all": ("tournament", play_on_all),
    "candidates": ("tournament of candidates", play_on_gathered),
    "sample": ("tournament of a sample", play_on_sample),
}


def draw_directions(points: Points, k: int, rng: np.random.Generator) -> Chosen:
    """Up to k directions drawn from all points, one by one."""
    return Chosen(points.at(draw_by_law(points, k, rng, distance=lines).picks))


def draw_and_exchange(points: Samples, k: int, rng: np.random.Generator) -> Chosen:
    """Directions drawn from all points and exchanged for those of groups.

    Exchanges only lower what the draws cost, so the promise of the draws holds.
    """

    def distances_to(unit: Array) -> Array:
        cosines = points.rough_cosines_with(unit)
        return lines(cosines, np.ones(len(unit), dtype=cosines.dtype))

    directions = draw_directions(points, k, rng).directions
    pool = draw_pool(points, pool_size(points, k), rng)
    state = Nearest(points.weights, distances_to(directions))
    for center, number in best_exchanges(state, distances_to(pool)).items():
        directions[center] = pool[number]
    return Chosen(directions)


def draw_pool(points: Samples, size: int, rng: np.random.Generator) -> Array:
    """Unit directions of small groups of points, any of which may become a component's.

    The groups are the points nearest to each of a few that were drawn, in rounds, by what those
    drawn before fail to capture. A group stands for a component much better than one point does:
    noise of its points cancels.
    """
    n, n_seeds = len(points.weights), 0
    labels, cosines, missed = np.zeros(n, dtype=np.int32), np.zeros(n), points.weights
    for _ in range(POOL_ROUNDS):
        drawn = draw_distinct(missed, -(-size // POOL_ROUNDS), rng)
        if len(drawn) == 0:
            break
        products = points.rough_cosines_with(points.at(drawn))
        nearest = products.argmax(axis=1)
        largest = products[np.arange(n), nearest]
        largest[drawn] = 1.0
        labels = np.where(largest > cosines, nearest + n_seeds, labels)
        cosines = np.maximum(largest, cosines)
        missed = points.weights * np.maximum(1.0 - np.square(cosines), 0.0)
        n_seeds += len(drawn)
    return unit_lengths(points.power_update(labels, cosines, n_seeds))
