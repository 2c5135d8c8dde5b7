"""Search on a small table: many answers at once, single moves on both sides, and kicks of the best.

An answer has unit groups of rows F (n, k), unit groups of columns G (m, l), each with one non-zero
per point at most, and the core ``F^T Y G`` between them. It captures the sum of the squares of its
core. Where the core is asked to be diagonal, only its diagonal counts: disjoint blocks.

A table of some dozens of rows and columns is read in microseconds, so what takes the time is the
number of calls: here dozens of answers are improved in each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from orthonmf.engine.matrix import Matrix
from orthonmf.onmf.options import Options
from orthonmf.onmf.search.moves import net_gains
from orthonmf.onmf.search.one_side import FIRST_SWEEPS, FIRST_TOL
from orthonmf.onmf.solution import CoreSolution
from orthonmf.typing import Array
from orthonmf.vectors import divide, square_lengths, unit_lengths

STEP = "table search"
# Answers drawn at first, and how many of them are refined.
N_DRAWN, N_REFINED = 32, 6
# Copies of the best in a round, how many groups of a copy are replaced at most, and how many copies
# are refined.
N_COPIES, MOST_REPLACED, N_SETTLED = 16, 3, 3
# Sweeps of a first look, and of a refinement at most.
LOOK_SWEEPS, MOST_SWEEPS = 4, 30
TOL = 1e-5
# Seconds, by counting, that a search may take, and how many rounds of kicks it has then; with so
# many it needs no starts but its own.
SECONDS, FEWEST_ROUNDS, ENOUGH_ROUNDS, MOST_ROUNDS = 0.1, 2, 6, 18
# Of more rows or columns hardly any matters by itself.
MOST_POINTS = 500
# Multiplications and single numbers worked on per second, and what a sweep takes at the least.
PRODUCTS_PER_SECOND, NUMBERS_PER_SECOND, SECONDS_PER_SWEEP = 4e9, 5e7, 2e-5
SWEEPS_PER_ROUND = 100
LEAST_GAIN = 1e-12  # of the energy of the table


@dataclass(frozen=True, slots=True)
class Answers:
    """R answers at once."""

    rows: Array  # (R, n, k) unit groups of rows
    columns: Array  # (R, m, l) unit groups of columns
    cores: Array  # (R, k, l) what is between them
    captured: Array  # (R,) sums of the squares of the cores

    def best(self, count: int) -> Answers:
        """Those that capture most, the best first."""
        chosen = np.argsort(-self.captured, kind="stable")[:count]
        return Answers(
            self.rows[chosen], self.columns[chosen], self.cores[chosen], self.captured[chosen]
        )


class TableSearch:
    """A search that a fit of a small table ends with, as far as there is time for it.

    Its random numbers are a stream of their own, whatever the starts have drawn of theirs. Where it
    ``suffices``, other starts are needed for what they promise alone.
    """

    def __init__(self, matrix: Matrix, options: Options, *, diagonal: bool = False) -> None:
        self._matrix, self._options, self._diagonal = matrix, options, diagonal
        self._k = options.n_components
        self._l = self._k if diagonal else options.n_groups
        n_rounds = 0
        # Who gives a start, or asks for few sweeps or a rough answer, gets no more than that.
        short = options.max_iter <= FIRST_SWEEPS or options.tol > FIRST_TOL
        if isinstance(options.init, str) and not short and min(self._k, self._l) > 1:
            n_rounds = count_rounds(matrix.shape, (self._k, self._l))
        self.suffices = n_rounds >= ENOUGH_ROUNDS and options.n_init == 1
        self.n_rounds = options.n_init * n_rounds
        if n_rounds:
            self._rng = np.random.default_rng(options.rng.integers(2**63))

    def run(self, known: list[CoreSolution]) -> CoreSolution:
        """The best of what known answers, and others that are drawn, become in some rounds."""
        step = self._options.steps.next_step()
        if not step.finished:
            self._table = self._matrix.dense() / np.sqrt(self._matrix.total)
            self._squares = np.square(self._table)
            best = self._search(known)
            groups = np.ascontiguousarray(best.columns[0].T)
            step.finish(groups=groups, core=best.cores[0])
        return CoreSolution(step.arrays["groups"], step.arrays["core"])

    def _search(self, known: list[CoreSolution]) -> Answers:
        """Refine the best of many answers, then in every round the best of its kicked copies."""
        columns, directions = self._draw_answers(N_DRAWN)
        if known:
            given = np.stack([answer.groups.T for answer in known])
            columns = np.concatenate([given, columns])
            directions = np.concatenate([np.stack([answer.core for answer in known]), directions])
        best = self._refine(columns, directions, N_REFINED)
        for _ in range(self.n_rounds):
            kicked = self._refine(*self._kick(best), N_SETTLED)
            if kicked.captured[0] > best.captured[0]:
                best = kicked
        return best

    def _refine(self, columns: Array, directions: Array, n_refined: int) -> Answers:
        """The best answer of those that look best after a few sweeps."""
        seen = self._descend(columns, directions, LOOK_SWEEPS).best(n_refined)
        return self._descend(seen.columns, seen.cores, MOST_SWEEPS).best(1)

    def _descend(self, columns: Array, directions: Array, n_sweeps: int) -> Answers:
        """Improve both sides in turn, each answer until that gains next to nothing."""
        count, (n, m) = len(columns), self._table.shape
        answers = Answers(
            np.zeros((count, n, self._k)), np.zeros((count, m, self._l)),
            np.zeros((count, self._k, self._l)), np.full(count, -1.0),
        )  # fmt: skip
        active = np.arange(count)
        for _ in range(n_sweeps):
            rows, cores = self._solve_side(columns, directions)
            columns, turned = self._solve_side(rows, _transposed(cores), by_columns=True)
            directions = _transposed(turned)
            captured = np.square(directions).sum(axis=(1, 2))
            gained = captured - answers.captured[active]
            better = np.flatnonzero(gained > 0)
            places = active[better]
            answers.rows[places], answers.columns[places] = rows[better], columns[better]
            answers.cores[places], answers.captured[places] = directions[better], captured[better]
            going = np.flatnonzero(gained > TOL * np.maximum(1.0 - captured, 0.0))
            if len(going) == 0:
                break
            active, columns, directions = active[going], columns[going], directions[going]
        return answers

    def _solve_side(
        self, others: Array, directions: Array, by_columns: bool = False
    ) -> tuple[Array, Array]:
        """Unit groups (R, N, k) of one side for those (R, M, c) of the other, and cores (R, k, c).

        Every point goes to its best direction, of (R, k, c) of any length; then single points
        move where their groups gain more than they lose.
        """
        table, squares = self._table, self._squares
        if by_columns:
            table, squares = table.T, squares.T
        points = table @ others  # (R, N, c)
        products = points @ _transposed(unit_lengths(directions))
        labels, members = _winners_only(products)
        if self._diagonal:
            energies = np.einsum("rnk,rnk->rk", members, members)
            # The other side of a block follows a point that comes to it, as far as it reaches.
            most = squares @ (others > 0)
        else:
            sums = _transposed(members) @ points
            norms = np.einsum("rnk,rnk->rk", members, members)
            energies = divide(square_lengths(sums), norms)
            products = points @ _transposed(unit_lengths(sums))
            most = square_lengths(points)[:, :, None]
        _move(members, labels, np.square(products), most, energies)
        groups = divide(members, np.sqrt(np.einsum("rnk,rnk->rk", members, members))[:, None, :])
        cores = _transposed(groups) @ points
        return groups, cores * np.eye(self._k) if self._diagonal else cores

    def _draw_answers(self, count: int) -> tuple[Array, Array]:
        """Columns, then rows as these see them, go to points drawn by what is missed so far."""
        table = self._table
        drawn = self._draw_directions(np.broadcast_to(table.T, (count, *table.T.shape)), self._l)
        _, columns = _winners_only(table.T @ _transposed(drawn))
        columns = _transposed(unit_lengths(_transposed(columns)))
        if self._diagonal:
            return columns, np.repeat(np.eye(self._k)[None], count, axis=0)
        return columns, self._draw_directions(table @ columns, self._k)

    def _draw_directions(self, points: Array, k: int) -> Array:
        """Unit points (R, k, c) of (R, N, c), drawn one by one by what those before them miss."""
        count, everyone = len(points), np.arange(len(points))
        weights = square_lengths(points)
        directions, captured = np.zeros((count, k, points.shape[2])), np.zeros_like(weights)
        missed = weights
        for number in range(k):
            drawn = self._draw(missed)
            directions[:, number] = unit_lengths(points[everyone, drawn])
            products = (points @ directions[:, number, :, None])[:, :, 0]
            captured = np.maximum(captured, np.square(products))
            missed = np.maximum(weights - captured, 0.0)
            missed[everyone, drawn] = 0.0
        return directions

    def _draw(self, chances: Array) -> Array:
        """One position for every row of chances (R, N)."""
        cumulated = np.cumsum(chances, axis=1)
        places = self._rng.random((len(chances), 1)) * cumulated[:, -1:]
        return np.minimum((cumulated <= places).sum(axis=1), chances.shape[1] - 1)

    def _kick(self, best: Answers) -> tuple[Array, Array]:
        """Copies of an answer in which some groups give way to what it misses."""
        rows, columns, core = best.rows[0], best.columns[0], best.cores[0]
        missed = np.square(self._table - rows @ core @ columns.T)
        if self._diagonal:  # groups may overlap now; the first sweep separates them
            copies = self._replace_groups(self._table, columns.T, missed.sum(axis=1), N_COPIES)
            return _transposed(copies), np.repeat(np.eye(self._k)[None], N_COPIES, axis=0)
        half, table = N_COPIES // 2, self._table
        first = self._replace_groups(table @ columns, core, missed.sum(axis=1), half)
        second = self._replace_groups(table.T @ rows, core.T, missed.sum(axis=0), N_COPIES - half)
        everyone = np.repeat(rows[None], N_COPIES - half, axis=0)
        regrouped, turned = self._solve_side(everyone, second, by_columns=True)
        kept = np.repeat(columns[None], half, axis=0)
        return np.concatenate([kept, regrouped]), np.concatenate([first, _transposed(turned)])

    def _replace_groups(self, points: Array, directions: Array, missed: Array, count: int) -> Array:
        """Copies of directions (k, c), some of them replaced by points (N, c) that are missed."""
        copies = np.repeat(unit_lengths(directions)[None], count, axis=0)
        n_replaced = self._rng.integers(1, 1 + MOST_REPLACED, size=count)
        chances = np.repeat(missed[None], count, axis=0)
        for number in range(MOST_REPLACED):
            drawn, leaving = self._draw(chances), self._rng.integers(len(directions), size=count)
            these = np.flatnonzero(n_replaced > number)
            copies[these, leaving[these]] = unit_lengths(points[drawn[these]])
        return copies


def count_rounds(shape: tuple[int, int], sizes: tuple[int, int]) -> int:
    """How many rounds of kicks there is time for on a table of this shape; 0 where it is large."""
    (n, m), (k, l) = shape, sizes  # noqa: E741
    if max(shape) > MOST_POINTS:
        return 0
    sweep = n * m * (k + l) / PRODUCTS_PER_SECOND + (n * k + m * l) / NUMBERS_PER_SECOND
    n_rounds = int(SECONDS / (SWEEPS_PER_ROUND * (sweep + SECONDS_PER_SWEEP)))
    return min(n_rounds, MOST_ROUNDS) if n_rounds >= FEWEST_ROUNDS else 0


def _move(members: Array, labels: Array, alpha: Array, most: Array, energies: Array) -> None:
    """Move single points, in place, where two groups together are sure to gain.

    No two moves of an answer share a group, so what they gain adds up.

    Parameters
    ----------
    members, labels
        (R, N, k) product of every point with the direction of its group, and (R, N) that group,
        which is not kept up to date.
    alpha
        (R, N, k) energy of every point along the direction of each group.
    most
        (R, N, k) or (R, N, 1) energy that the group could capture of it if it followed it.
    energies
        (R, k) what the groups capture.
    """
    count, size, k = members.shape
    flat = (count * size, -1)
    of_points = np.broadcast_to(energies[:, None, :], alpha.shape).reshape(flat)
    targets, net = net_gains(
        alpha.reshape(flat), most.reshape(flat), labels.reshape(-1), of_points
    )  # fmt: skip
    targets, net = targets.reshape(count, size), net.reshape(count, size)
    first = k * np.arange(count)[:, None]
    leaving, entering = first + labels, first + targets
    largest = np.full(count * k, LEAST_GAIN / size)
    np.maximum.at(largest, leaving, net)
    np.maximum.at(largest, entering, net)
    sets, points = np.nonzero((net >= largest[leaving]) & (net >= largest[entering]))
    new = targets[sets, points]
    along = alpha[sets, points, new]
    apart = np.maximum(np.broadcast_to(most, alpha.shape)[sets, points, new] - along, 0.0)
    members[sets, points, labels[sets, points]] = 0.0
    members[sets, points, new] = _entering_scales(along, apart, energies[sets, new])


def _entering_scales(alpha: Array, beta: Array, energies: Array) -> Array:
    """Products of points with the directions of their new groups, which have turned to them.

    The new direction is the Ritz vector of what a point has along the old one, and apart from it;
    the products of all other points shrink by one factor, which is divided out.
    """
    half = (energies + alpha - beta) / 2
    along = half + np.sqrt(np.square(half) + alpha * beta)
    turned = divide(np.sqrt(alpha) * beta, along) + np.sqrt(alpha)
    return np.where(along > 0, turned, np.sqrt(beta))


def _transposed(arrays: Array) -> Array:
    return arrays.swapaxes(-1, -2)


def _winners_only(products: Array) -> tuple[Array, Array]:
    """The labels (R, N) of the largest of products (R, N, k), and products with only these kept."""
    labels = products.argmax(axis=2)
    return labels, np.where(labels[:, :, None] == np.arange(products.shape[2]), products, 0.0)
