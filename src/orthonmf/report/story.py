"""Story: everything a page tells, gathered before any of it is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from orthonmf import certificate
from orthonmf.cautions import compare_sizes, compare_with_chance, in_options
from orthonmf.distinctive import AHEAD, distinctive_features, name_components, times_ahead
from orthonmf.engine.losses import LOSSES, Loss
from orthonmf.engine.placement import find_largest
from orthonmf.factorization import Factorization
from orthonmf.report.findings import Findings
from orthonmf.stability.record import Stability
from orthonmf.typing import Array
from orthonmf.views import weights_of_features

LONGEST_SHOWN, LONGEST_NAME = 60, 1_000
MOST_LISTED = 10


@dataclass(frozen=True, eq=False)
class Story:
    """A factorization with its names, and the figures about it."""

    result: Factorization
    findings: Findings
    source: str  # what the data are called
    image_shape: tuple[int, int] | None = None  # (height, width) when the features are pixels
    selection: Mapping[str, Any] | None = None  # of select-k: candidates, suggestion, reason
    related: Sequence[tuple[str, str]] = ()  # other pages: a label and a relative address each
    remarks: Sequence[str] = ()  # sentences to show under the headline
    chance: float | None = None  # the share that as many components capture of shuffled data
    groups: Sequence[str] | None = None  # known groups of the rows, a name for each
    positions: Array | None = None  # (n, 2) places of the rows on a map that came with the data
    positions_name: str = ""  # what the map is called
    part: str = "component"  # what rows and columns belong to, in a word
    stability: Stability | None = None  # what refits say, where any were made
    by_command: bool = False  # whether a command made it, and a folder is around the page

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the data."""
        return self.findings.matrix.shape

    @property
    def loss(self) -> Loss:
        """What the fit took as its error."""
        return LOSSES[self.result.beta_loss]

    @cached_property
    def weights(self) -> Array:
        """(k, m) how much every feature matters in a component."""
        return weights_of_features(self.result)

    @property
    def has_core(self) -> bool:
        """Whether every group of rows may meet every group of columns: a pair was asked for."""
        return isinstance(self.result.n_components, tuple)

    @property
    def captured(self) -> float:
        """The share of the energy that the fit captures, weighted if it was."""
        return max(0.0, 1.0 - self.result.relative_error)

    @property
    def headline(self) -> str:
        """The answer in one plain sentence."""
        k = self.result.n_components_found
        kinds = {"samples": "of rows", "features": "of features", "both": "of rows and features"}
        if self.has_core:
            parts = f"{count(k, 'group')} of rows and {count(self.n_groups, 'group')} of features"
        else:
            thing = "block" if self.result.orthogonal == "both" else "group"
            parts = f"{count(k, thing)} {kinds[self.result.orthogonal]}"
        verb = "explain" if self.loss.amount == "energy" else "keep"
        verb += "s" if k == 1 and not self.has_core else ""
        whole = "the data" if self.loss.amount == "energy" else f"the {self.loss.amount}"
        decimals = 0
        if self.chance is not None and abs(self.captured - self.chance) < 0.02:
            decimals = 1  # else the two could read the same
        text = f"{parts} {verb} {percent(self.captured, decimals)} of {whole}"
        if self.chance is None:
            return text
        return f"{text}; chance alone gives {percent(self.chance, decimals)}"

    @property
    def cautions(self) -> list[str]:
        """What may mislead: what the fit says, and what follows from chance and ``select-k``."""
        result, told = self.result, [*self.result.cautions]
        if self.chance is not None:
            captured, shares = self.findings.captured, self.findings.row_shares
            k = result.n_components_found
            told += compare_with_chance(captured, self.chance, k, shares)
        if self.selection and self.selection.get("orthogonal") == result.orthogonal:
            told += compare_sizes(result.n_components, self.selection["suggestion"])
        return list(in_options(told)) if self.by_command else told

    def row(self, number: int) -> str:
        """The name of a row, short enough to show."""
        return shorten(self.whole_row(number))

    def column(self, number: int) -> str:
        """The name of a column, short enough to show."""
        return shorten(self.whole_column(number))

    def whole_row(self, number: int) -> str:
        """The whole name of a row, up to a thousand letters."""
        names = self.result.sample_names
        return f"row {number}" if names is None else names[number][:LONGEST_NAME]

    def whole_column(self, number: int) -> str:
        """The whole name of a column, up to a thousand letters."""
        if self.result.feature_names is not None:
            return self.result.feature_names[number][:LONGEST_NAME]
        if self.image_shape is not None:
            down, across = divmod(int(number), self.image_shape[1])
            return f"pixel {down},{across}"
        return f"feature {number}"

    def top_columns(self, component: int, count: int) -> Array:
        """Columns of the largest weights in a component, the largest first."""
        return find_largest(self.weights[component], 0, count)

    @cached_property
    def _distinctive(self) -> list[Array]:
        return distinctive_features(self.weights, MOST_LISTED)

    def distinctive_columns(self, component: int, count: int = MOST_LISTED) -> Array:
        """Columns that make a component different, or its heaviest where none does."""
        return self._distinctive[component][:count]

    def is_ahead(self, component: int) -> bool:
        """Whether anything that matters weighs more in a component than in any other."""
        first = self.distinctive_columns(component, 1)
        ahead = times_ahead(self.weights, component, first)
        return self.result.n_components_found > 1 and bool((ahead > AHEAD).all())

    def also_heavy(self, component: int, count: int = MOST_LISTED) -> list[int]:
        """The heaviest columns that do not make a component different, to fill up a list."""
        listed = self.distinctive_columns(component, count).tolist()
        heavy = self.top_columns(component, count).tolist()
        return [column for column in heavy if column not in listed][: count - len(listed)]

    def lift(self, component: int, column: int) -> str:
        """How many times as much a column weighs here as in any other component."""
        if self.result.n_components_found < 2:
            return ""
        (times,) = times_ahead(self.result.components, component, np.array([column])).tolist()
        if np.isinf(times):
            return "only here"
        return f"\N{MULTIPLICATION SIGN}{times:.{0 if times >= 10 else 1}f}"

    @cached_property
    def labels(self) -> list[str]:
        """What components could be called: their most distinctive features, if they have names."""
        names = self.result.feature_names
        if names is None:
            return [""] * self.result.n_components_found
        return name_components(self.weights, [shorten(name) for name in names])

    @property
    def n_groups(self) -> int:
        """How many groups of columns there are next to the components: none without a core."""
        return self.core_shares.shape[1] if self.has_core else 0

    @property
    def core_shares(self) -> Array:
        """(k, l) the share of the squared norm that every entry of the core captures."""
        core = self.result.core
        assert core is not None
        squares = core / max(float(core.max(initial=0.0)), np.finfo(float).tiny)
        if self.loss.amount == "energy":
            squares = np.square(squares)
        whole = np.maximum(squares.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        return self.findings.energies[:, None] * squares / whole

    def n_columns(self, component: int) -> int:
        """How many columns a component has to itself; with a core, how many it weighs."""
        if self.has_core:
            return int(np.count_nonzero(self.result.components[component]))
        return len(self.findings.columns_of(component))

    def top_of_group(self, group: int, count: int = MOST_LISTED) -> Array:
        """Columns of the largest scales in a group of columns, the largest first."""
        members = self.findings.columns_of(group)
        return members[find_largest(self.findings.column_weights[members], 0, count)]

    @property
    def group_labels(self) -> list[str]:
        """What groups of columns could be called: their heaviest features, if they have names."""
        count = 0 if self.result.feature_names is None else 3
        tops = (self.top_of_group(group, count) for group in range(self.n_groups))
        return [", ".join(map(self.column, top)) for top in tops]

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
        return find_largest(self.findings.row_misses, 0, count)


def shorten(name: str) -> str:
    """A name of bounded length."""
    cut = name[: LONGEST_SHOWN - 1] + "\N{HORIZONTAL ELLIPSIS}"
    return name if len(name) <= LONGEST_SHOWN else cut


def count(number: int, thing: str) -> str:
    """So many things, in words."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def sentence(text: str) -> str:
    """A text with a capital first and a full stop at its end."""
    return f"{text[0].upper()}{text[1:]}."


def ratio_text(ratio: float | None) -> str:
    """A proven ratio, rounded up so that the claim stays true."""
    return "none" if ratio is None else certificate.ratio_text(ratio, most_decimals=3)


def percent(share: float, decimals: int = 1) -> str:
    """A share for people, never a rounded 0 or 100."""
    smallest = 10.0 ** -(decimals + 2)
    if share <= 0 or share >= 1:
        return "0%" if share <= 0 else "100%"
    if share < smallest / 2:
        return f"under {100 * smallest:.{decimals}f}%"
    if share > 1 - smallest / 2:
        return f"over {100 - 100 * smallest:.{decimals}f}%"
    return f"{100 * share:.{decimals}f}%"
