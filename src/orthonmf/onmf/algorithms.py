"""What may be chosen: every algorithm by name and setting, with the options it takes.

An option that would be ignored is refused, with what to use instead read off the table. The
choices and help texts of the command line come from here too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from orthonmf.certificate import CERTIFICATES
from orthonmf.engine.losses import FROBENIUS, KULLBACK_LEIBLER
from orthonmf.errors import InvalidInputError
from orthonmf.factorization import Factorization
from orthonmf.kmeans.subroutines import SUBROUTINES
from orthonmf.onmf.blocks.both_sides import factorize_blocks
from orthonmf.onmf.core.three_factors import factorize_core
from orthonmf.onmf.divergence.core import factorize_information
from orthonmf.onmf.divergence.one_side import factorize_profiles
from orthonmf.onmf.divergence.publish import publish_profiles
from orthonmf.onmf.double_factor import factorize_double
from orthonmf.onmf.heaviest_classes import factorize_without_limit
from orthonmf.onmf.missing import factorize_masked
from orthonmf.onmf.options import Options
from orthonmf.onmf.publish import publish
from orthonmf.onmf.search.one_side import factorize_one_side
from orthonmf.onmf.search.starts import SOME_COMPONENTS, sample_size
from orthonmf.onmf.single_factor import factorize_single
from orthonmf.onmf.solution import Solution

SETTINGS = {
    "samples": "every row belongs to one part",
    "features": "every column does",
    "both": "disjoint blocks",
}
NAMES = {
    "best": "as good an answer as we find",
    "paper": "as published",
}
INITS = {
    "auto": "the winner of a tournament of many starts",
    "lines": "drawn by what is not captured yet, from all points, one by one",
    "k-means||": "drawn by the same in a few rounds",
    "local-search": "exchanged for points until no exchange helps; looks at all pairs of points",
}
COMPLETE, MISSING, FULL_RANK, CORE = "complete", "missing values", "full rank", "core"


class Problem(NamedTuple):
    """What an algorithm is looked up by."""

    algorithm: str
    orthogonal: str
    data: str = COMPLETE
    beta_loss: str = FROBENIUS


@dataclass(frozen=True, slots=True)
class Accepted:
    """The values of an option that make a difference.

    ``idle`` names the options that have no effect next to a value that is no name: a k-means of the
    user's stops when it likes.
    """

    names: Collection[str | None]
    others: bool = False  # also what is no name: components, a function, a file
    idle: tuple[str, ...] = ()

    def __contains__(self, value: Any) -> bool:
        return value in self.names if value is None or isinstance(value, str) else self.others


NOTHING, NO_CHOICE = Accepted((None,)), Accepted(("auto",))


@dataclass(frozen=True, slots=True)
class Algorithm:
    """A way to solve a problem, and the options it takes; the defaults are among them.

    ``widest`` tells how many vectors as long as a point, for so many points and components, it
    holds at once; ``sample`` of how many points it makes copies as they are stored.
    """

    solve: Callable[[Any, Options], Solution]
    publish: Callable[[Any, Solution, Options], Factorization] = publish
    init: Accepted = NO_CHOICE
    kmeans: Accepted = NOTHING
    certificate: Accepted = Accepted(CERTIFICATES.keys())
    checkpoint: Accepted = Accepted((None,), others=True)
    without: tuple[str, ...] = ()  # options that have no effect at all
    starts: int = 1  # that n_init="auto" stands for
    widest: Callable[[int, int], int] = lambda n_points, k: 7 * k
    sample: Callable[[int], int] = lambda k: 0

    def takes(self, option: str, value: Any) -> bool:
        """Whether a value of an option makes a difference."""
        return option not in self.without and value in getattr(self, option, (value,))

    def list_ignored(self, options: Options) -> Iterator[tuple[str, str]]:
        """Options that were given and would be ignored, each with the one that is to blame."""
        yield from ((option, "") for option in self.without if not options.is_default(option))
        for option in ("init", "kmeans", "certificate", "checkpoint"):
            value, accepted = getattr(options, option), getattr(self, option)
            if value not in accepted:
                yield option, ""
            elif value is not None and not isinstance(value, str):
                idle = (other for other in accepted.idle if not options.is_default(other))
                yield from ((other, option) for other in idle)


def _candidates(n_points: int, k: int) -> int:
    """Candidates for many components are vectors too: as drawn, as sums, and of unit length."""
    return max(7 * k, 3 * min(n_points, 4 * k + 40)) if k >= SOME_COMPONENTS else 7 * k


_BEST = Algorithm(
    factorize_one_side,
    widest=_candidates,
    sample=sample_size,
    init=Accepted(tuple(INITS), others=True, idle=("n_init",)),
)
_BLOCKS = Algorithm(
    factorize_blocks,
    init=Accepted(("auto",), others=True),
    widest=lambda n_points, k: 14 * k,  # all starts are held until the best are known
    sample=sample_size,
)
_CORE = replace(_BEST, solve=factorize_core)
_PAPER = Algorithm(
    factorize_single,
    kmeans=Accepted((None, *SUBROUTINES), others=True, idle=("max_iter", "tol", "checkpoint")),
)
_GAPS = Algorithm(
    factorize_masked, starts=4, certificate=Accepted(("svd", None)), checkpoint=NOTHING
)

_PROFILES = Algorithm(
    factorize_profiles,
    publish=publish_profiles,
    init=Accepted(("auto",), others=True, idle=("n_init",)),
)

ALGORITHMS: dict[Problem, Algorithm] = {
    Problem("best", "samples"): _BEST,
    Problem("best", "features"): _BEST,
    Problem("best", "both"): _BLOCKS,
    Problem("best", "both", FULL_RANK): _BLOCKS,
    Problem("best", "both", CORE): _CORE,
    Problem("paper", "samples"): _PAPER,
    Problem("paper", "features"): _PAPER,
    Problem("paper", "both"): replace(_PAPER, solve=factorize_double),
    Problem("paper", "both", FULL_RANK): Algorithm(
        factorize_without_limit,
        checkpoint=NOTHING,
        widest=lambda n_points, k: 4 * n_points,
        without=("n_init", "max_iter", "tol"),
    ),
    Problem("best", "samples", MISSING): _GAPS,
    Problem("best", "features", MISSING): _GAPS,
    Problem("best", "samples", beta_loss=KULLBACK_LEIBLER): _PROFILES,
    Problem("best", "features", beta_loss=KULLBACK_LEIBLER): _PROFILES,
    Problem("best", "both", CORE, KULLBACK_LEIBLER): replace(
        _PROFILES, solve=factorize_information
    ),
}

INFINITE = (
    ": a positive entry outside of the blocks makes the divergence infinite; two numbers "
    "n_components=(k, l) let every group of rows meet every group of columns"
)
UNKNOWN_SUMS = ": the best scale of a row is its sum, which a missing entry leaves open"
OF_SQUARES = ": the steps of the paper are about squared errors"
WHY_NONE = {
    ("both", MISSING, FROBENIUS): (
        ": with both sides disjoint the update of one side given the other has no closed form "
        "over the observed entries"
    ),
    ("both", COMPLETE, KULLBACK_LEIBLER): INFINITE,
    ("both", FULL_RANK, KULLBACK_LEIBLER): INFINITE,
    ("samples", MISSING, KULLBACK_LEIBLER): UNKNOWN_SUMS,
    ("features", MISSING, KULLBACK_LEIBLER): UNKNOWN_SUMS,
}


def algorithm_for(options: Options, data: str = COMPLETE) -> Algorithm:
    """The algorithm for such data; refused where there is none or it would ignore an option."""
    problem = Problem(options.algorithm, options.orthogonal, data, options.beta_loss)
    algorithm = ALGORITHMS.get(problem)
    if algorithm is None:
        why = WHY_NONE.get((problem.orthogonal, problem.data, problem.beta_loss), "")
        if problem.algorithm == "paper" and problem.beta_loss == KULLBACK_LEIBLER:
            why = OF_SQUARES
        raise InvalidInputError(
            f"there is no algorithm for {_tell(problem)}{why}; use {_way(problem, ALGORITHMS)}"
        )
    for option, culprit in algorithm.list_ignored(options):
        value = getattr(options, option)
        short = value is None or isinstance(value, str | int | float)
        shown = f"{option}={value!r}" if short else option
        if culprit:
            raise InvalidInputError(
                f"{shown} would be ignored, as {culprit} brings its own; leave one of them out"
            )
        takers = [other for other, taker in ALGORITHMS.items() if taker.takes(option, value)]
        raise InvalidInputError(
            f"{shown} would be ignored with {_tell(problem)}; leave it out, or use "
            f"{_way(problem, takers)}"
        )
    return algorithm


def _tell(problem: Problem) -> str:
    data = {
        COMPLETE: "",
        MISSING: " and missing values",
        FULL_RANK: " and as many components as X has rows or columns",
        CORE: " and two numbers of groups",
    }[problem.data]
    loss = "" if problem.beta_loss == FROBENIUS else f", beta_loss={problem.beta_loss!r}"
    return f"algorithm={problem.algorithm!r}, orthogonal={problem.orthogonal!r}{loss}{data}"


def _way(problem: Problem, others: Iterable[Problem]) -> str:
    """What to change to come to the nearest of other problems."""

    def changes(other: Problem) -> list[str]:
        told = {
            "algorithm": f"algorithm={other.algorithm!r}",
            "orthogonal": f"orthogonal={other.orthogonal!r}",
            "data": {
                MISSING: "data without missing values (impute them)",
                FULL_RANK: "fewer components",
                CORE: "one number of components",
            }.get(problem.data, ""),
            "beta_loss": f"beta_loss={other.beta_loss!r}",
        }
        names = problem._fields
        return [told[n] for n, a, b in zip(names, problem, other, strict=True) if a != b]

    ways = [changes(other) for other in others if other.data in (COMPLETE, problem.data)]
    fewest = min(map(len, ways))
    return " or ".join(dict.fromkeys(" and ".join(way) for way in ways if len(way) == fewest))
