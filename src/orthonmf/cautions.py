"""Cautions: what may mislead in an answer that is computed right, each with what to do about it.

Those of :func:`find_cautions` need the validating pass, the result and, where a column is suspect,
one more pass over data in memory. What needs a fit of shuffled data or several numbers of
components is said where these were asked for: :func:`compare_with_chance`, :func:`compare_sizes`.
"""

from __future__ import annotations

import math
import shlex
from typing import Any

import numpy as np

from orthonmf.engine.matrix import Matrix
from orthonmf.engine.placement import on_host
from orthonmf.factorization import Factorization
from orthonmf.typing import Array
from orthonmf.vectors import divide

# Of the energy, from which on a row outweighs all others, and a column. A column may well hold
# more than half of it: the commonest word of a text does.
HEAVY_ROW, HEAVY_COLUMN = 0.5, 0.75
TIMES_EVEN = 3  # so many times as much as if all held the same: for tables of few rows or columns
SUSPECT = 0.1  # of the energy, captured in a column, from which on a dense one is looked at
NEARLY_ALL, FEW_COLUMNS, FEWEST_COLUMNS = 0.95, 3, 8  # when columns are on different scales
TINY = 0.005  # of what all components capture
ROUNDED = 1e-2  # by how much a total may differ from the sum, for entries are often rounded
MOST_LOOKED_AT = 2**19  # rows by which shares are told first; a fit on a GPU waits for each
FEWEST_COUNTED, MOST_SUSPECTS = 6, 4
# Counts are told from a few rows; so many of their entries are not zero at most, and the largest
# is so many times the usual one at least.
COUNTED_ROWS, COUNTED_ENTRIES = 200, 2**18
FEWEST_COUNTS, MOSTLY_ZEROS, TAIL = 500, 0.25, 8.0
YEARS = (1850, 2100)
LITTLE_MORE, TELLS_NOTHING = 0.02, 0.99  # compared with chance
FEW_ROWS = 0.2

ZERO = "X is zero everywhere: there is nothing to find in it."
EQUAL = "All entries of X are equal: there are no parts to find in it."


def find_cautions(matrix: Matrix, result: Factorization) -> tuple[str, ...]:
    """Sentences about a result and the matrix it was fitted to.

    Weighted sides are taken as they are meant; entries of data that are not in memory are not
    read again.
    """
    underflown = _about_underflow(matrix)
    if not matrix.total > 0:
        return underflown or (ZERO,)
    if _all_equal(result):
        return (EQUAL,)
    if result.information_shares is not None:
        kept = divide(result.information_shares, result.information_shares.sum())
        return (*underflown, *_about_components(kept))
    step = max(1, matrix.shape[0] // MOST_LOOKED_AT)
    energies = _energies(result, step)
    if step > 1 and _about_components(energies):
        energies = _energies(result)  # what is said is true of all rows
    general = [*underflown, *_about_components(energies)]
    if matrix.row_weights is not None or matrix.column_factors is not None:
        return tuple(general)
    captured = (1.0 - result.relative_error) * (energies @ np.square(result.components))
    rows = _about_rows(matrix, result)
    columns = _about_columns(matrix, result, captured, bool(rows))
    return (*rows, *columns, *general, *_about_counts(matrix))


def _about_underflow(matrix: Matrix) -> tuple[str, ...]:
    """Rows that count as zero because their squares underflow next to the largest entry."""
    rows = matrix.underflown
    if len(rows) == 0:
        return ()
    who, what = f"Row {rows[0]} is", "its square underflows: it counts"
    if len(rows) > 1:
        who = f"{len(rows):,} rows (the first: {rows[0]}) are"
        what = "their squares underflow: they count"
    return (
        f"{who} so small next to the largest entry that {what} as zero, and what is said of the "
        "error, a certificate too, is about X with zeros there. Try --normalize rows.",
    )


def compare_with_chance(
    captured: float, chance: float, n_components: int, row_shares: Array
) -> tuple[str, ...]:
    """What follows from the share that as many components capture of shuffled data.

    ``row_shares`` (n,) are the shares captured of every row, NaN for zero rows. A single component
    splits nothing, so there is nothing to compare.
    """
    if n_components < 2:
        return ()
    told = f"As many components capture {_percent(chance)} of shuffled data"
    if min(captured, chance) > TELLS_NOTHING:
        return (
            f"{told} and {_percent(captured)} of these: such shares tell nothing about the "
            "components. Something that all rows have in common may outweigh the rest; try "
            "--normalize columns.",
        )
    if captured - chance < LITTLE_MORE * (1 - chance) and captured < (1 + LITTLE_MORE) * chance:
        return (
            f"{told} and {_percent(captured)} of these: hardly more than chance, so the components "
            "may be accidents. Try another --orthogonal, or --normalize rows.",
        )
    shares = row_shares[~np.isnan(row_shares)]
    above = float((shares > chance).mean()) if len(shares) else 1.0
    if above < FEW_ROWS:
        return (
            f"Only {_percent(above)} of the rows are captured better than shuffled data are: a few "
            "large rows decide. Try --normalize rows, or more components.",
        )
    return ()


def compare_sizes(n_components: Any, suggestion: Any) -> tuple[str, ...]:
    """What to say where another number of components was suggested for the same data."""
    asked, suggested = (
        ",".join(map(str, size)) if isinstance(size, tuple | list) else str(size)
        for size in (n_components, suggestion)
    )
    if asked == suggested or ("," in asked) != ("," in suggested):
        return ()
    return (
        f"select-k suggested {suggested} components for these data, not {asked}: compare with "
        f"-k {suggested}.",
    )


def _all_equal(result: Factorization) -> bool:
    """Whether the answer is one component with equal weights and scales, and leaves nothing."""
    if result.n_components_found != 1 or result.relative_error > 1e-12:
        return False
    return all(
        np.ptp(values) <= 1e-6 * values.max()
        for values in (result.components, np.asarray(result.loadings.sum(axis=1)))
    )


def _energies(result: Factorization, step: int = 1) -> Array:
    """(k,) what every component captures, as shares of what all do; of every so many-th row."""
    k = result.n_components_found
    if result.labels is None or result.scales is None:
        loadings = np.asarray(result.loadings[::step], dtype=np.float64)
        squares = np.square(loadings / (loadings.max() or 1.0)).sum(axis=0)
    else:
        labels = result.labels[::step]
        used = labels >= 0
        scales = result.scales[::step][used].astype(np.float64)
        largest = scales.max(initial=0.0) or 1.0
        squares = np.bincount(labels[used], np.square(scales / largest), minlength=k)
    if step > 1 and not squares.sum() > 0:
        return _energies(result)
    return squares / squares.sum()


def _about_components(energies: Array) -> list[str]:
    k = len(energies)
    tiny = int((energies < min(TINY, 0.1 / k)).sum())
    if 2 * tiny <= k:
        return []
    return [
        f"{tiny} of {k} components are tiny, each under {_percent(TINY)} of what is captured: ask "
        "for fewer (-k), or see what select-k suggests."
    ]


def _about_counts(matrix: Matrix) -> list[str]:
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
    return [
        "X looks like counts (whole numbers, mostly zeros, a few of them large), and under the "
        'squared error the large ones decide: try beta_loss="kullback-leibler" (--beta-loss '
        "kullback-leibler), which compares shares of rows."
    ]


def _about_rows(matrix: Matrix, result: Factorization) -> list[str]:
    """A row that holds most of the energy; a total always does, for entries are not negative."""
    n = matrix.shape[0]
    share = float(matrix.row_squares.max()) / matrix.total
    if n < 3 or share < HEAVY_ROW:
        return []
    row = int(np.argmax(on_host(matrix.row_squares)))
    name = _call("Row", row, result.sample_names)
    if _is_total_row(matrix, row):
        return [f"{name} is the sum of all other rows: leave it out of the file."]
    if share < TIMES_EVEN / n:
        return []
    return [
        f"{name} holds {_percent(share)} of the energy and decides the answer: leave it out, or "
        "give all rows the same length (--normalize rows)."
    ]


def _is_total_row(matrix: Matrix, row: int) -> bool:
    if not (matrix.source.in_memory and matrix.complete):
        return False
    n = matrix.shape[0]
    sums = matrix.row_sums(np.zeros(n, dtype=np.int32), np.ones(n), 1)[0]
    own = np.ldexp(matrix.source.rows(np.array([row]))[0], -matrix.exponent)
    return bool(np.abs(sums - 2 * own).sum() <= ROUNDED * sums.sum())


def _about_columns(
    matrix: Matrix, result: Factorization, captured: Array, heavy_row: bool
) -> list[str]:
    """Columns that count rows, hold years or totals, or outweigh the others.

    What columns weigh is not looked at next to a heavy row, for it is that row's doing.
    """
    m = matrix.shape[1]
    heavy = np.flatnonzero(captured > (SUSPECT if _is_dense(matrix) else HEAVY_COLUMN / 2))
    if m < 3 or not (matrix.source.in_memory and matrix.complete and matrix.exponent == 0):
        return []
    counting, dated = _suspects(matrix)
    looked_at = np.unique(np.concatenate([heavy, counting, dated]))
    told: list[str] = []
    if len(looked_at):
        directions = np.zeros((len(looked_at) + 1, m))
        directions[np.arange(len(looked_at)), looked_at] = 1.0
        directions[-1] = 1.0
        *columns, sums = on_host(matrix.products(directions)).T
        for column, values in zip(looked_at.tolist(), columns, strict=True):
            share = 0.0 if heavy_row else float(values @ values) / matrix.total
            told += _about_column(column, values, sums, share, result)
    if told or heavy_row or m < FEWEST_COLUMNS or not _is_dense(matrix):
        return told
    together = float(np.sort(captured)[-FEW_COLUMNS:].sum())
    if together > NEARLY_ALL:
        told.append(
            f"{FEW_COLUMNS} of {m} columns hold {_percent(together)} of the energy: columns are on "
            "very different scales; bring them to one (--normalize columns)."
        )
    return told


def _about_column(
    column: int, values: Array, sums: Array, share: float, result: Factorization
) -> list[str]:
    """What is odd about one column (n,), next to the sums (n,) of all."""
    n = len(values)
    name, drop = _call("Column", column, result.feature_names), _drop(column, result.feature_names)
    ordered = np.sort(values)
    if n >= FEWEST_COUNTED and (np.diff(ordered) == 1).all():
        return [f"{name} counts by ones, like the numbers of the rows: leave it out{drop}."]
    if n >= FEWEST_COUNTED and _are_years(ordered).all():
        return [f"{name} looks like years, not amounts: leave it out{drop}."]
    if np.abs(sums - 2 * values).sum() <= ROUNDED * sums.sum():
        return [f"{name} is the sum of all other columns: leave it out{drop}."]
    if share > max(HEAVY_COLUMN, TIMES_EVEN / result.components.shape[1]):
        return [
            f"{name} holds {_percent(share)} of the energy and decides the answer: bring columns "
            f"to one scale (--normalize columns), or leave it out{drop}."
        ]
    return []


def _suspects(matrix: Matrix) -> tuple[Array, Array]:
    """Columns that may count rows in order, and that may hold years, by a few rows; each few."""
    n = matrix.shape[0]
    if n < FEWEST_COUNTED or not _is_dense(matrix):
        return np.zeros(0, dtype=int), np.zeros(0, dtype=int)
    places = np.array([0, 1, 2, n // 3, n // 2, n - 1])
    rows = matrix.source.rows(places)
    counting = np.flatnonzero((rows - rows[0] == (places - places[0])[:, None]).all(axis=0))
    dated = np.flatnonzero(_are_years(rows).all(axis=0))
    # Where many columns are of that size it is how large these data are.
    return counting[:MOST_SUSPECTS], dated if len(dated) <= matrix.shape[1] / 4 else dated[:0]


def _are_years(values: Array) -> Array:
    return (values == np.floor(values)) & (values >= YEARS[0]) & (values < YEARS[1])


def _is_dense(matrix: Matrix) -> bool:
    return matrix.n_entries == matrix.shape[0] * matrix.shape[1]


def _call(side: str, place: int, names: tuple[str, ...] | None) -> str:
    return f"{side} {place if names is None else names[place]}"


def _drop(column: int, names: tuple[str, ...] | None) -> str:
    """How the command leaves a column out, where it can."""
    name = str(column) if names is None else names[column]
    return "" if "," in name else f" (--drop {shlex.quote(name)})"


def _percent(share: float) -> str:
    """A share rounded towards nothing, so that none becomes all."""
    return f"{math.floor(1000 * share) / 10:g}%"
