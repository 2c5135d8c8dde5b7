"""The time, the memory and the work that a search for a lower bound and its proof may take.

What is tried follows from sizes and from the seconds that were given, never from a clock, so a
search that was not cut short proves the same again.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from orthonmf.bounds.eigenvalues import SINGLE_SIDE
from orthonmf.engine.memory import available_memory

STOPPED, INTERRUPTED = "stopped by its time limit", "interrupted"
# The side up to which the Gram matrix of the smaller side is formed.
LARGEST_SIDE = 4000
# Beyond, groups of points, of at most and at least so many, the latter for every component: so
# that all their Gram matrices and all proofs take about this many multiplications.
LARGEST_GROUP = 2000
SMALLEST_GROUP = 4
GROUP_WORK = 2**38
PRICE_OF_PROOF = 8  # what a product of a proof costs, in those of a dense Gram matrix
FEW_ITERATIONS = 25  # a search that could not make so many is not begun
LARGEST_MATRIX = 10_000  # no matrix of a larger side is made, whatever memory there is
PAIR_BYTES = 20  # for every entry of the matrix of a search over all pairs
PER_ENTRY = 8e-9  # seconds of one core that an iteration takes for every entry of its matrix
# Products per second of one core in a proof, and the time of one in float32 as a part of that.
PROOF_PER_SECOND, SINGLE_SHARE = 2e10, 0.5


class Allowance:
    """So many seconds from now on, for all that shares them, unless the user interrupts.

    Nobody asks the clock what to do, only whether to go on, and choices are made by ``seconds``: a
    search that was not cut short has the same bits again. Once cut short, all that follows is too.
    """

    def __init__(
        self,
        seconds: float = math.inf,
        interrupted: Callable[[], bool] = lambda: False,
        whole: Allowance | None = None,
    ) -> None:
        self.seconds = seconds
        self._interrupted = interrupted
        self._whole = whole
        self._cut = ""
        self._told = ""
        self._deadline = time.perf_counter() + seconds

    @property
    def cut(self) -> str:
        """Why a search was ended before it was done; empty while none was."""
        if self._cut != INTERRUPTED and self._interrupted():
            self._end(INTERRUPTED)
        return self._cut

    @property
    def left(self) -> float:
        """Seconds that are left; none once something was cut short."""
        return 0.0 if self.cut else self._deadline - time.perf_counter()

    def share(self, part: float, seconds: float | None = None) -> Allowance:
        """A part of the time that is left; what cuts it short is told here, too.

        ``seconds`` are those that choices may count on: that part of all, unless given.
        """
        seconds = self.seconds * part if seconds is None else seconds
        share = Allowance(seconds, self._interrupted, self)
        share._deadline = time.perf_counter() + max(0.0, self.left) * part
        return share

    def ends(self, reserve: float = 0.0) -> bool:
        """Whether a search must end now, to leave ``reserve`` seconds for its proof."""
        if not self.cut and self.left <= reserve:
            self._end(STOPPED)
        return bool(self.cut)

    def _end(self, why: str) -> None:
        self._cut = why
        if self._whole is not None:
            self._whole._told = self._whole._told or why

    def tell(self, method: str) -> str:
        """A method with the reason why the search was cut short, as a whole or in a part."""
        why = self.cut or self._told
        return f"{method}; the search was {why}" if why else method


def search_seconds(iterations: int, side: int) -> float:
    """About how long one core takes for so many iterations on a matrix of this side."""
    return iterations * PER_ENTRY * side**2


def proof_seconds(side: int) -> float:
    """About how long one core takes to factor a matrix of this side and to check the factor."""
    return 2.0 / 3.0 * side**3 / PROOF_PER_SECOND


def pairs_proof_seconds(side: int) -> float:
    """The same for `prove_raised`, which tries float32 first."""
    return proof_seconds(side) * (1.0 if side < SINGLE_SIDE else SINGLE_SHARE)


def has_room(side: int, entry_bytes: int) -> bool:
    """Whether matrices of this side may be made that take so many bytes for every entry."""
    return side <= LARGEST_MATRIX and entry_bytes * side**2 <= available_memory()


def group_size(k: int, n_points: int, products: float = 1.0) -> int:
    """How many of so many points may form a group; 0 where that would be too few for k parts.

    A row of the Gram matrix of all points takes so many ``products`` at most.
    """
    of_proofs = math.sqrt(GROUP_WORK / PRICE_OF_PROOF / n_points)
    size = int(min(LARGEST_GROUP, GROUP_WORK / products, of_proofs))
    return size if size >= SMALLEST_GROUP * k else 0
