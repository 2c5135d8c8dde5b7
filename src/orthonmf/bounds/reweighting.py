"""Y for a bound on the divergence: it proves nothing, whatever comes out serves (`divergence`).

What Y proves is smooth in ln Y. Where Z is the best of a relaxation of the groups (a projector on
leading singular vectors, or the doubly non-negative one of `relaxation`), it is stationary if

    Y_ij (Z Y)_ij = <Y Y^T, Z> x_ij / N    at every entry of X,

so a step moves ln Y against the logarithm of the quotient of both sides. Only entries of X are
touched, and a step costs about as much as a few sweeps by k groups.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from orthonmf.bounds.allowance import Allowance, proof_seconds, search_seconds
from orthonmf.bounds.relaxation import Aim, Multiplier, ritz, search
from orthonmf.engine.counts import Counts
from orthonmf.engine.kernels.sparse import gram_of_rows, with_values
from orthonmf.engine.segments import slices
from orthonmf.typing import Array

# Steps by singular vectors, how far one goes at first, and when such steps end.
STEPS, RATE, LEAST_RATE = 10, 0.5, 0.05
LEAST_QUOTIENT, LONGEST_STEP = 1e-3, 2.0
# Iterations towards the singular vectors of a first Y, and of one that differs by a step.
FIRST_ITERATIONS, MORE_ITERATIONS, SPARE_VECTORS = 6, 3, 4
# How much of ln Y comes from the answer in hand, and how much from rows that are groups by
# themselves: steps begin at the best of these.
STARTS = ((0.75, 0.0), (0.75, 0.25), (0.0, 0.25))
LEAST_ENTRY = 2.0**-300  # the least entry of a Y of which groups capture about 1
# The search for Z and Y together: steps, iterations for each, and those at the end.
ROUNDS, ITERATIONS, LAST_ITERATIONS, PRECISION = 8, 20, 200, 1e-4
SLOW = 0.5  # of the rate in the last rounds, so that Y comes to rest
GAP = 5e-4  # it ends also when the bound is within this part of the divergence in hand
ENTRIES = 2**17  # of which products are formed at once


class Contingency:
    """Rows of counts that all hold something, and what a bound over groups of them needs.

    ``roots`` (n,) are about the roots of the shares of rows, all positive.
    """

    def __init__(self, counts: Counts) -> None:
        self.counts = counts
        self.rows, self.columns = counts.owners, counts.rows.indices
        self.shares: Array = counts.rows.data / counts.total
        self.roots = np.sqrt(counts.row_sums / counts.total)

    def matrix(self, logs: Array) -> Any:
        """Y (n, m) from its logarithms (c,) at the entries of X."""
        return with_values(self.counts.rows, np.maximum(np.exp(logs), LEAST_ENTRY))

    def value(self, logs: Array, captured: float) -> float:
        """About what Y proves, as a part of N."""
        return float(self.shares @ (2.0 * logs - np.log(self.shares))) - math.log(captured)

    def normalized(self) -> Array:
        """``ln(p_ij / sqrt(p_i p_j))`` (c,), p the shares: with one group there is no better Y."""
        return np.log(self.shares) - (self._row_logs() + self._column_logs()) / 2.0

    def ratios_to_chance(self, labels: Array) -> tuple[Array, Array]:
        """``ln(p_ij / (p_i p_j))`` (c,), of every row and of the group of every row.

        For labels (n,), all of -1 being one group more.
        """
        labels = np.where(labels < 0, labels.max() + 1, labels)
        pooled = self.counts.pooled(labels, int(labels.max()) + 1)
        of_entries = labels[self.rows]
        of_groups = np.log(pooled / np.maximum(pooled.sum(axis=1), 1e-300)[:, None] + 1e-300)
        of_rows = np.log(self.shares) - self._row_logs() - self._column_logs()
        return of_rows, of_groups[of_entries, self.columns] - self._column_logs()

    def _row_logs(self) -> Array:
        return np.log(self.counts.row_sums / self.counts.total)[self.rows]

    def _column_logs(self) -> Array:
        shares = np.maximum(self.counts.column_sums / self.counts.total, 1e-300)
        return np.log(shares)[self.columns]

    def products(self, left: Array, right: Array) -> Array:
        """``left @ right.T`` at the entries of X, (c,), for (n, r) and (m, r)."""
        products = np.empty(len(self.rows))
        for part in slices(len(products), ENTRIES):
            rows, columns = self.rows[part], self.columns[part]
            products[part] = np.einsum("ej,ej->e", left[rows], right[columns])
        return products


@dataclass(frozen=True, slots=True)
class Choice:
    """Y by its logarithms (c,) at the entries of X, in units in which k groups capture about 1."""

    logs: Array
    value: float  # about what it proves, as a part of N
    root: Array  # (n, r) of Z = root @ root.T
    vectors: Array  # (n, l) near the leading ones of what is orthogonal to the roots


def reweight(table: Contingency, labels: Array, k: int) -> Choice:
    """Y after some steps by singular vectors, the best seen; k > 1."""
    rng = np.random.default_rng(0)
    normalized, (of_rows, of_groups) = table.normalized(), table.ratios_to_chance(labels)
    starts = (normalized - (a * of_groups + b * of_rows) / 2.0 for a, b in STARTS)
    best = max((capture(table, logs, k, None, rng) for logs in starts), key=lambda y: y.value)
    rate = RATE
    for _ in range(STEPS):
        choice = capture(table, step(table, best.logs, best.root, rate), k, best.vectors, rng)
        if choice.value > best.value:
            best = choice
        else:
            rate /= 2.0
            if rate < LEAST_RATE:
                break
    return best


def capture(
    table: Contingency, logs: Array, k: int, vectors: Array | None, rng: np.random.Generator
) -> Choice:
    """Y with its leading singular vectors, the roots first; ``vectors`` may be near those."""
    Y, q = table.matrix(logs), table.roots

    def without_roots(vectors: Array) -> Array:
        return vectors - np.outer(q, q @ vectors)

    def times(vectors: Array) -> Array:
        return without_roots(Y @ (Y.T @ without_roots(vectors)))

    iterations = FIRST_ITERATIONS if vectors is None else MORE_ITERATIONS
    if vectors is None:
        width = min(len(q), k - 1 + SPARE_VECTORS)
        vectors = np.linalg.qr(rng.standard_normal((len(q), width)))[0]
    values, vectors = ritz(times, vectors, rng, iterations)
    along = Y.T @ q
    captured = float(along @ along) + float(np.maximum(values[: k - 1], 0.0).sum())
    return Choice(
        np.log(Y.data) - math.log(captured) / 2.0,
        table.value(np.log(Y.data), captured),
        np.column_stack([q, vectors[:, : k - 1]]),
        vectors[:, : k - 1 + SPARE_VECTORS],
    )


def step(table: Contingency, logs: Array, root: Array, rate: float) -> Array:
    """Logarithms of Y (c,) after one step, for Z = root @ root.T, ``root`` (n, r)."""
    Y = table.matrix(logs)
    products = table.products(root, Y.T @ root)
    moves = np.log(np.maximum(Y.data * products / table.shares, LEAST_QUOTIENT))
    return logs - rate / 2.0 * np.clip(moves, -LONGEST_STEP, LONGEST_STEP)


def search_jointly(
    table: Contingency, choice: Choice, labels: Array, k: int, cost: float, allowance: Allowance
) -> tuple[Array, Multiplier]:
    """Logarithms of Y (c,) and a multiplier for its Gram matrix, sought in turns; 1 < k < n.

    Y begins halfway between the one chosen and that of the answer in hand, of which ``cost`` is
    the divergence as a part of N.
    """
    n = len(table.roots)
    rounds = int(np.clip(allowance.seconds / search_seconds(2 * ITERATIONS, n), 1, ROUNDS))
    roots = table.roots / np.linalg.norm(table.roots)
    answer = table.normalized() - table.ratios_to_chance(labels)[1] / 2.0
    logs, captured = (choice.logs + answer) / 2.0, 1.0
    multiplier: Multiplier | None = None
    done = 0
    while True:
        last = done == rounds
        target = math.exp(table.value(logs, 1.0) - (1.0 - GAP) * cost)
        # What is captured enters the bound by its logarithm: near the end, as a part of this sum.
        whole = captured * (1.0 + choice.value) if last else 0.0
        multiplier = search(
            gram_of_rows(table.matrix(logs)),
            k,
            Aim(whole, PRECISION, target, LAST_ITERATIONS if last else ITERATIONS),
            allowance,
            reserve=2.0 * proof_seconds(n),
            fixed=roots,
            start=multiplier,
        )
        captured = multiplier.top
        if last or captured <= target or allowance.cut:
            return logs, multiplier
        logs = logs - math.log(captured) / 2.0
        rate = RATE if done < rounds // 2 else RATE * SLOW
        logs = step(table, logs, multiplier.root.astype(np.float64), rate)
        done += 1
