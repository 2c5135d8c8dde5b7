"""Smallest errors and errors of stored factors in exact arithmetic: no rounding anywhere.

Doubles are integers times a power of two, so everything here is done in Python's integers. Only
eigenvalues are irrational; they are enclosed from above to `BITS` binary places.
"""

from fractions import Fraction
from functools import cache
from itertools import product
from math import lcm

import numpy as np

from tests.oracles.partitions import Group, group_sets

BITS = 2600  # squares of doubles that are 2**1200 apart still differ
Matrix = list[list[Fraction]]


def fractions_of(array: np.ndarray) -> Matrix:
    """The numbers of a two-dimensional array as they are stored."""
    return [[Fraction(float(value)) for value in row] for row in array]


def exact_total(X: np.ndarray, rows=None, columns=None) -> Fraction:
    """The squared norm of X (n, m), with weights of rows and columns."""
    return exact_error(X, np.zeros((len(X), 1)), np.zeros((1, X.shape[1])), rows, columns)


def exact_error(X, loadings, components, rows=None, columns=None) -> Fraction:
    """The weighted squared error of ``X ~ loadings @ components`` as they are stored."""
    loadings = loadings if isinstance(loadings, np.ndarray) else loadings.toarray()
    left, right, values = map(fractions_of, (loadings, components, X))
    w, v = _weights(rows, len(X)), _weights(columns, X.shape[1])
    return sum(
        (
            w[i] * v[j] * (x - sum(a * right[s][j] for s, a in enumerate(left[i]) if a)) ** 2
            for i, row in enumerate(values)
            for j, x in enumerate(row)
        ),
        Fraction(0),
    )


def smallest_error(X, k: int, orthogonal: str, rows=None, columns=None) -> Fraction:
    """The least squared error, rounded down by less than ``2**-BITS`` times the squared norm.

    Every partition of the points, and for blocks every map of the columns, is tried. The best
    fit of a block is its top singular pair, which a non-negative block has without signs.
    """
    if orthogonal == "features":
        return smallest_error(X.T, k, "samples", columns, rows)
    total = exact_total(X, rows, columns)
    if not total:
        return total
    values = _integers([value for row in fractions_of(X) for value in row])
    values = [values[start : start + X.shape[1]] for start in range(0, X.size, X.shape[1])]
    w, v = _integers(_weights(rows, len(X))), _integers(_weights(columns, X.shape[1]))
    unit = sum(
        p * q * x**2
        for p, row in zip(w, values, strict=True)
        for q, x in zip(v, row, strict=True)
    )  # fmt: skip

    @cache
    def captured(inside: Group, across: Group) -> int:
        return _top_eigenvalue(_gram(values, w, v, inside, across), unit)

    best = max(
        sum(captured(*block) for block in blocks)
        for blocks in _block_sets(len(X), X.shape[1], k, orthogonal)
    )
    return total * max(Fraction(0), 1 - Fraction(best, 2**BITS))


def _integers(numbers: list[Fraction]) -> list[int]:
    """The numbers times the least integer that makes all of them integers."""
    common = lcm(*(one.denominator for one in numbers))
    return [one.numerator * (common // one.denominator) for one in numbers]


@cache
def _block_sets(n: int, m: int, k: int, orthogonal: str) -> list[list[tuple[Group, Group]]]:
    """Rows and columns of the blocks of every solution worth trying."""
    found = []
    for groups in group_sets(n, k):
        if orthogonal == "samples":
            found.append([(group, tuple(range(m))) for group in groups])
            continue
        for owner in product(range(len(groups)), repeat=m):
            across = [tuple(j for j in range(m) if owner[j] == s) for s in range(len(groups))]
            found.append(list(zip(groups, across, strict=True)))
    return found


def _gram(values, w, v, inside, across) -> list[list[int]]:
    """A matrix with the eigenvalues of the smaller Gram matrix of a weighted block.

    ``B V B^T W`` has those of ``W^(1/2) B V B^T W^(1/2)`` and needs no roots.
    """
    block = [[values[i][j] for j in across] for i in inside]
    left, right = [w[i] for i in inside], [v[j] for j in across]
    if len(across) < len(inside):
        block, left, right = [list(column) for column in zip(*block, strict=True)], right, left
    return [
        [sum(a * b * q for a, b, q in zip(x, y, right, strict=True)) * p
         for y, p in zip(block, left, strict=True)]
        for x in block
    ]  # fmt: skip


def _top_eigenvalue(gram: list[list[int]], unit: int) -> int:
    """The largest eigenvalue times ``2**BITS / unit``, rounded up by at most a few units.

    All roots of the characteristic polynomial are real, so Newton's method from the right of the
    largest never steps over it, and steps that are rounded down do not either.
    """
    if not gram or not any(any(row) for row in gram):
        return 0
    coefficients = _characteristic(gram)
    degree = len(coefficients) - 1
    # p(t * unit / 2**BITS) times 2**(BITS * degree), in integers.
    terms = [
        one * unit ** (degree - power) << (BITS * power) for power, one in enumerate(coefficients)
    ]  # of t**(degree - power)
    trace = sum(gram[i][i] for i in range(degree))
    t = -(-(trace << BITS) // unit)
    while True:
        value, slope = 0, 0
        for term in terms:
            slope = slope * t + value
            value = value * t + term
        if value <= 0 or slope <= 0 or value < slope:
            return t
        t -= value // slope


def _characteristic(matrix: list[list[int]]) -> list[int]:
    """Coefficients of det(t I - matrix), the highest power first (Faddeev and LeVerrier)."""
    size = len(matrix)
    coefficients = [1]
    power = [[0] * size for _ in range(size)]
    for step in range(1, size + 1):
        for i in range(size):
            power[i][i] += coefficients[-1]
        power = [
            [sum(a * b for a, b in zip(row, column, strict=True))
             for column in zip(*power, strict=True)]
            for row in matrix
        ]  # fmt: skip
        # Integers have integer coefficients, so nothing is left over.
        coefficients.append(-sum(power[i][i] for i in range(size)) // step)
    return coefficients


def _weights(weights, count: int) -> list[Fraction]:
    return [Fraction(1)] * count if weights is None else [Fraction(float(one)) for one in weights]
