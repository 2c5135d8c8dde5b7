"""Story: everything a page tells, gathered before any of it is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from orthonmf import certificate
from orthonmf.factorization import Factorization
from orthonmf.numerics.arrays import Array
from orthonmf.numerics.distinctive import distinctive_features, name_components, times_ahead
from orthonmf.report.findings import Findings

LONGEST_NAME = 60
MOST_DISTINCTIVE = 10


@dataclass(frozen=True, slots=True, eq=False)
class Story:
    """A factorization, the figures about it, and the names of things."""

    result: Factorization
    findings: Findings
    source: str  # what the data are called
    row_names: Sequence[str] | None = None  # None: numbers
    column_names: Sequence[str] | None = None
    image_shape: tuple[int, int] | None = None  # (height, width) when the features are pixels
    selection: Mapping[str, Any] | None = None  # of select-k: candidates, suggestion, reason
    related: Sequence[tuple[str, str]] = ()  # other pages: a label and a relative address each
    remarks: Sequence[str] = ()  # sentences to show under the headline
    cautions: Sequence[str] = ()  # what may mislead, besides the cautions of the result
    version: str = ""  # of the program that made the result
    chance: float | None = None  # the share that as many components capture of shuffled data
    groups: Sequence[str] | None = None  # known groups of the rows, a name for each
    positions: Array | None = None  # (n, 2) places of the rows on a map that came with the data
    positions_name: str = ""  # what the map is called
    part: str = "component"  # what rows and columns belong to, in a word
    _distinctive: list[Array] = field(init=False)  # of every component, as many as are shown
    _names: list[str] = field(init=False)  # of the components; empty where columns have none

    def __post_init__(self) -> None:
        components = self.result.components
        object.__setattr__(self, "_distinctive", distinctive_features(components, MOST_DISTINCTIVE))
        columns = [] if self.column_names is None else list(map(shorten, self.column_names))
        names = name_components(components, columns) if columns else []
        object.__setattr__(self, "_names", names)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the data."""
        return self.findings.matrix.shape

    def row(self, number: int) -> str:
        """The name of a row, short enough to show."""
        if self.row_names is None:
            return f"row {number}"
        return shorten(self.row_names[number])

    def column(self, number: int) -> str:
        """The name of a column, short enough to show."""
        if self.column_names is not None:
            return shorten(self.column_names[number])
        if self.image_shape is not None:
            down, across = divmod(int(number), self.image_shape[1])
            return f"pixel {down},{across}"
        return f"feature {number}"

    def top_columns(self, component: int, count: int) -> Array:
        """Columns of the largest weights in a component, the largest first."""
        weights = self.result.components[component]
        order = np.argsort(-weights, kind="stable")[:count]
        return order[weights[order] > 0]

    def distinctive_columns(self, component: int, count: int) -> Array:
        """Columns that make a component different, the most distinctive first."""
        return self._distinctive[component][:count]

    def lift(self, component: int, column: int) -> str:
        """How many times as much a column weighs here as in any other component."""
        if self.result.n_components_found < 2:
            return ""
        times = float(times_ahead(self.result.components, component, np.array([column]))[0])
        if np.isinf(times):
            return "only here"
        return f"\N{MULTIPLICATION SIGN}{times:.{0 if times >= 10 else 1}f}"

    @property
    def n_groups(self) -> int:
        """How many groups of columns there are next to the components: none without a full core."""
        return 0 if not self.result.has_full_core else self.core_shares.shape[1]

    @property
    def core_shares(self) -> Array:
        """(k, l) the share of the squared norm that every entry of the core captures."""
        core = self.result.core
        assert core is not None
        squares = np.square(core / max(float(core.max(initial=0.0)), np.finfo(float).tiny))
        whole = np.maximum(squares.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        return self.findings.energies[:, None] * squares / whole

    def n_columns(self, component: int) -> int:
        """How many columns a component has to itself; with a full core, how many it weighs."""
        if self.result.has_full_core:
            return int(np.count_nonzero(self.result.components[component]))
        return len(self.findings.columns_of(component))

    def top_of_group(self, group: int, count: int) -> Array:
        """Columns of the largest scales in a group of columns, the largest first."""
        members = self.findings.columns_of(group)
        scales = self.findings.column_weights[members]
        return members[np.argsort(-scales, kind="stable")[:count]]

    def group_label(self, group: int) -> str:
        """What a group of columns could be called: its heaviest features, if they have names."""
        return self._call(self.top_of_group(group, 3))

    def label(self, component: int) -> str:
        """What a component could be called: its most distinctive features, if they have names."""
        return self._names[component] if self._names else ""

    def _call(self, columns: Array) -> str:
        return "" if self.column_names is None else ", ".join(map(self.column, columns))

    def size(self, component: int) -> str:
        """How many rows and features belong to a component."""
        rows = count(len(self.findings.rows_of(component)), "row")
        columns = count(len(self.findings.columns_of(component)), "feature")
        if self.result.orthogonal == "samples" or self.result.has_full_core:
            return rows
        if self.result.orthogonal == "features":
            return f"{columns} \N{MIDDLE DOT} strongest in {rows}"
        return f"{rows} \N{MIDDLE DOT} {columns}"

    def typical_rows(self, component: int, count: int) -> Array:
        """Rows most like a component, among those of its members that are not small."""
        rows = self.findings.rows_of(component)
        squares = self.findings.matrix.row_squares[rows]
        if len(rows) > 2 * count:
            rows = rows[squares >= np.median(squares)]
        shares = self.findings.row_shares[rows]
        return rows[np.argsort(-np.nan_to_num(shares), kind="stable")[:count]]

    def worst_rows(self, count: int) -> Array:
        """Rows of which most is not captured, the worst first."""
        misses = self.findings.row_misses
        order = np.argsort(-misses, kind="stable")[:count]
        return order[misses[order] > 0]


def shorten(name: str) -> str:
    """A name of bounded length."""
    cut = name[: LONGEST_NAME - 1] + "\N{HORIZONTAL ELLIPSIS}"
    return name if len(name) <= LONGEST_NAME else cut


def count(number: int, thing: str) -> str:
    """So many things, in words."""
    return f"{number:,} {thing}{'s' * (number != 1)}"


def sentence(text: str) -> str:
    """A text with a capital first and a full stop at its end."""
    return f"{text[0].upper()}{text[1:]}."


def ratio_text(ratio: float | None) -> str:
    """A proven ratio, rounded up so that the claim stays true."""
    return "none" if ratio is None else certificate.ratio_text(ratio, most_decimals=3)


def percent(share: float) -> str:
    """A share for people: three digits, never a rounded 0 or 100."""
    if share <= 0 or share >= 1:
        return "0%" if share <= 0 else "100%"
    if share < 0.0005:
        return "under 0.1%"
    if share > 0.9995:
        return "over 99.9%"
    return f"{100 * share:.1f}%"
