"""Cautions: what may mislead in an answer that is computed right, each with what to do about it.

Those of :func:`find_cautions` need the validating pass, the result and, of data in memory, the
lengths of columns and one more pass where one is suspect. What needs a fit of shuffled data or
several numbers of components is said where these were asked for: :func:`compare_with_chance`,
:func:`compare_sizes`.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable
from typing import Any

import numpy as np

from orthonmf.engine.matrix import Matrix
from orthonmf.engine.placement import on_host
from orthonmf.factorization import Factorization
from orthonmf.typing import Array
from orthonmf.vectors import divide
from orthonmf.views import strengths

# Of the energy, from which on a row outweighs all others, and a column. A column may well hold
# more than half of it: the commonest word of a text does.
HEAVY_ROW, HEAVY_COLUMN = 0.5, 0.75
TIMES_EVEN = 3  # so many times as much as if all held the same: for tables of few rows or columns
SUSPECT = 0.1  # of the energy, from which on a dense column is looked at
NEARLY_ALL, FEW_COLUMNS, FEWEST_COLUMNS = 0.95, 3, 8  # when columns are on different scales
TINY = 0.005  # of what all components capture
ROUNDED = 1e-2  # by how much a total may differ from the sum, for entries are often rounded
FEWEST_COUNTED, MOST_SUSPECTS = 6, 4
# Counts are told from a few rows; so many of their entries are not zero at most, and the largest
# is so many times the usual one at least.
COUNTED_ROWS, COUNTED_ENTRIES = 200, 2**18
FEWEST_COUNTS, MOSTLY_ZEROS, TAIL = 500, 0.25, 8.0
LITTLE_MORE, TELLS_NOTHING = 0.02, 0.99  # compared with chance
FEW_ROWS = 0.2

ROWS = "sklearn.preprocessing.normalize(X)", "--normalize rows"
COLUMNS = "sklearn.preprocessing.normalize(X, axis=0)", "--normalize columns"


class Caution(str):
    """A sentence that ends with what to do in Python; ``for_command`` names options instead."""

    for_command: str

    def __new__(cls, problem: str, remedy: tuple[str, str] | None = None) -> Caution:
        """A problem with its remedy, in Python and in options; or a sentence that has none."""
        sentences = [problem] * 2 if remedy is None else [f"{problem} {what}." for what in remedy]
        caution = super().__new__(cls, sentences[0])
        caution.for_command = sentences[1]
        return caution


def in_options(cautions: Iterable[str]) -> tuple[str, ...]:
    """What the command says: options where Python's words are."""
    return tuple(getattr(caution, "for_command", caution) for caution in cautions)


ZERO = Caution("X is zero everywhere: there is nothing to find in it.")
EQUAL = Caution("All entries of X are equal: there are no parts to find in it.")


def find_cautions(matrix: Matrix, result: Factorization) -> tuple[Caution, ...]:
    """Sentences about a result and the matrix it was fitted to.

    Weighted sides are taken as they are meant; entries of data that are not in memory are not
    read again.
    """
    underflown = _about_underflow(matrix)
    if not matrix.total > 0:
        return tuple(underflown) or (ZERO,)
    if _all_equal(result):
        return (EQUAL,)
    kept = result.information_shares
    if kept is not None:
        return (*underflown, *_about_components(divide(kept, kept.sum())))
    lengths = strengths(result)
    energies = np.square(divide(lengths, lengths.max(initial=0.0)))
    energies = divide(energies, energies.sum())
    general = [*underflown, *_about_components(energies)]
    if matrix.row_weights is not None or matrix.column_factors is not None:
        return tuple(general)
    rows = _about_rows(matrix, result)
    columns = _about_columns(matrix, result, bool(rows))
    return (*rows, *columns, *general, *_about_counts(matrix))


def _about_underflow(matrix: Matrix) -> list[Caution]:
    """Rows that count as zero because their squares underflow next to the largest entry."""
    rows = matrix.underflown
    if len(rows) == 0:
        return []
    problem = (
        f"The squares of {len(rows):,} of the rows (the first: {rows[0]}) are so small next to the "
        "largest entry that they underflow and count as zero, and what is said of the error, a "
        "certificate too, is about X with zeros there. Try"
    )
    return [Caution(problem, ROWS)]


def compare_with_chance(
    captured: float, chance: float, n_components: int, row_shares: Array
) -> tuple[Caution, ...]:
    """What follows from the share that as many components capture of shuffled data.

    ``row_shares`` (n,) are the shares captured of every row, NaN for zero rows. A single component
    splits nothing, so there is nothing to compare.
    """
    if n_components < 2:
        return ()
    told = f"As many components capture {_percent(chance)} of shuffled data"
    if min(captured, chance) > TELLS_NOTHING:
        problem = (
            f"{told} and {_percent(captured)} of these: such shares tell nothing about the "
            "components. Something that all rows have in common may outweigh the rest; try"
        )
        return (Caution(problem, COLUMNS),)
    if captured - chance < LITTLE_MORE * (1 - chance) and captured < (1 + LITTLE_MORE) * chance:
        problem = (
            f"{told} and {_percent(captured)} of these: hardly more than chance, so the components "
            "may be accidents. Try another"
        )
        settings = f"setting of orthogonal, or {ROWS[0]}", f"--orthogonal, or {ROWS[1]}"
        return (Caution(problem, settings),)
    shares = row_shares[~np.isnan(row_shares)]
    above = float((shares > chance).mean()) if len(shares) else 1.0
    if above < FEW_ROWS:
        problem = (
            f"Only {_percent(above)} of the rows are captured better than shuffled data are: a few "
            "large rows decide. Try more components, or"
        )
        return (Caution(problem, ROWS),)
    return ()


def compare_sizes(n_components: Any, suggestion: Any) -> tuple[Caution, ...]:
    """What to say where ``select-k`` suggested another number of components for the same data."""
    asked, suggested = (
        ",".join(map(str, size)) if isinstance(size, tuple | list) else str(size)
        for size in (n_components, suggestion)
    )
    if asked == suggested or ("," in asked) != ("," in suggested):
        return ()
    told = f"select-k suggested {suggested} components for these data, not {asked}: compare with"
    return (Caution(told, (f"n_components={suggested}", f"-k {suggested}")),)


def _all_equal(result: Factorization) -> bool:
    """Whether the answer is one component with equal weights and scales, and leaves nothing."""
    if result.n_components_found != 1 or result.relative_error > 1e-12:
        return False
    return all(
        np.ptp(values) <= 1e-6 * values.max()
        for values in (result.components, np.asarray(result.loadings.sum(axis=1)))
    )


def _about_components(energies: Array) -> list[Caution]:
    k = len(energies)
    tiny = int((energies < min(TINY, 0.1 / k)).sum())
    if 2 * tiny <= k:
        return []
    problem = (
        f"{tiny} of {k} components are tiny, each under {_percent(TINY)} of what is captured: ask "
        "for fewer, or see what"
    )
    return [Caution(problem, ("select_n_components suggests", "select-k suggests"))]


def _about_counts(matrix: Matrix) -> list[Caution]:
    """Whole numbers, mostly zeros, mostly small, a few large: words, tags, events."""
    n, m = matrix.shape
    if not (matrix.source.in_memory and matrix.complete and matrix.exponent == 0):
        return []
    some = min(n, COUNTED_ROWS, max(1, COUNTED_ENTRIES // m))
    rows = matrix.source.rows(np.linspace(0, n - 1, some).astype(np.int64))
    values = rows[rows > 0]
    if len(values) < FEWEST_COUNTS or len(values) > MOSTLY_ZEROS * rows.size:
        return []
    tail = values.max() >= TAIL * np.median(values)
    if not tail or not (values == np.floor(values)).all():
        return []
    problem = (
        "X looks like counts (whole numbers, mostly zeros, a few of them large), and under the "
        "squared error the large ones decide; to compare shares of rows try"
    )
    remedy = 'beta_loss="kullback-leibler"', "--beta-loss kullback-leibler"
    return [Caution(problem, remedy)]


def _about_rows(matrix: Matrix, result: Factorization) -> list[Caution]:
    """A row that holds most of the energy; a total always does, for entries are not negative."""
    n = matrix.shape[0]
    share = float(matrix.row_squares.max()) / matrix.total
    if n < 3 or share < HEAVY_ROW:
        return []
    row = int(np.argmax(on_host(matrix.row_squares)))
    name = _call("Row", row, result.sample_names)
    if _is_total_row(matrix, row):
        total = f"{name} is the sum of all other rows: leave it out of"
        return [Caution(total, ("X", "the file"))]
    if share < TIMES_EVEN / n:
        return []
    problem = (
        f"{name} holds {_percent(share)} of the energy and decides the answer: leave it out, or "
        "give all rows the same length by"
    )
    return [Caution(problem, ROWS)]


def _is_total_row(matrix: Matrix, row: int) -> bool:
    if not (matrix.source.in_memory and matrix.complete):
        return False
    n = matrix.shape[0]
    sums = matrix.row_sums(np.zeros(n, dtype=np.int32), np.ones(n), 1)[0]
    own = np.ldexp(matrix.source.rows(np.array([row]))[0], -matrix.exponent)
    return bool(np.abs(sums - 2 * own).sum() <= ROUNDED * sums.sum())


def _about_columns(matrix: Matrix, result: Factorization, heavy_row: bool) -> list[Caution]:
    """Columns that count rows, hold totals, or outweigh the others.

    What columns weigh is not looked at next to a heavy row, for it is that row's doing.
    """
    m = matrix.shape[1]
    if m < 3 or not (matrix.source.in_memory and matrix.complete and matrix.exponent == 0):
        return []
    shares = matrix.column_squares / matrix.total
    suspect = shares > (SUSPECT if _is_dense(matrix) else HEAVY_COLUMN / 2)
    looked_at = np.union1d(np.flatnonzero(suspect), _counting(matrix))
    told: list[Caution] = []
    if len(looked_at):
        directions = np.zeros((len(looked_at) + 1, m))
        directions[np.arange(len(looked_at)), looked_at] = 1.0
        directions[-1] = 1.0
        *columns, sums = on_host(matrix.products(directions)).T
        for column, values in zip(looked_at.tolist(), columns, strict=True):
            share = 0.0 if heavy_row else float(shares[column])
            told += _about_column(column, values, sums, share, result)
    if told or heavy_row or m < FEWEST_COLUMNS or not _is_dense(matrix):
        return told
    together = float(np.sort(shares)[-FEW_COLUMNS:].sum())
    if together > NEARLY_ALL:
        problem = (
            f"{FEW_COLUMNS} of {m} columns hold {_percent(together)} of the energy: columns are on "
            "very different scales; bring them to one by"
        )
        told.append(Caution(problem, COLUMNS))
    return told


def _about_column(
    column: int, values: Array, sums: Array, share: float, result: Factorization
) -> list[Caution]:
    """What is odd about one column (n,), next to the sums (n,) of all."""
    names = result.feature_names
    name, own = _call("Column", column, names), str(column if names is None else names[column])
    # No option takes a name with a comma.
    drop = "leave it out", "leave it out" + ("" if "," in own else f" by --drop {shlex.quote(own)}")
    if len(values) >= FEWEST_COUNTED and (np.diff(np.sort(values)) == 1).all():
        return [Caution(f"{name} counts by ones, like the numbers of the rows:", drop)]
    if np.abs(sums - 2 * values).sum() <= ROUNDED * sums.sum():
        return [Caution(f"{name} is the sum of all other columns:", drop)]
    if share > max(HEAVY_COLUMN, TIMES_EVEN / result.components.shape[1]):
        problem = (
            f"{name} holds {_percent(share)} of the energy and decides the answer: leave it out, "
            "or bring columns to one scale by"
        )
        return [Caution(problem, COLUMNS)]
    return []


def _counting(matrix: Matrix) -> Array:
    """Columns that may count rows in order, by a few rows; a few of them."""
    n = matrix.shape[0]
    if n < FEWEST_COUNTED or not _is_dense(matrix):
        return np.zeros(0, dtype=int)
    places = np.array([0, 1, 2, n // 3, n // 2, n - 1])
    rows = matrix.source.rows(places)
    counting = (rows - rows[0] == (places - places[0])[:, None]).all(axis=0)
    return np.flatnonzero(counting)[:MOST_SUSPECTS]


def _is_dense(matrix: Matrix) -> bool:
    return matrix.n_entries == matrix.shape[0] * matrix.shape[1]


def _call(side: str, place: int, names: tuple[str, ...] | None) -> str:
    return f"{side} {place if names is None else names[place]}"


def _percent(share: float) -> str:
    """A share rounded towards nothing, so that none becomes all."""
    return f"{math.floor(1000 * share) / 10:g}%"
