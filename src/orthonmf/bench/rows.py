"""What a benchmark finds: rows of figures, each with the goals it is held to."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

REACHED, MISSED, NO_GOAL = "reached", "missed", "no goal"
NOT_JUDGED, SKIPPED, FAILED = "not judged", "skipped", "failed"
RELATIONS = {"<=": operator.le, "<": operator.lt, ">=": operator.ge}


@dataclass(frozen=True, slots=True)
class Goal:
    """A figure of a row and the bound it should keep.

    ``relation`` is "<=", "<" or ">=". A figure that is no number misses every goal.
    """

    figure: str
    relation: str
    bound: float
    found: float

    @property
    def is_reached(self) -> bool:
        """Whether the figure keeps the bound."""
        return RELATIONS[self.relation](self.found, self.bound)  # NaN has no relation to anything

    def plain(self) -> dict[str, Any]:
        """The same as JSON has it."""
        return {
            "figure": self.figure,
            "goal": f"{self.relation} {self.bound:g}",
            "found": self.found,
            "verdict": REACHED if self.is_reached else MISSED,
        }


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison of a benchmark."""

    benchmark: str
    case: str  # what it was measured on
    against: str = ""  # what it is compared with
    figures: Mapping[str, Any] = field(default_factory=dict)  # seconds and bytes, by name
    goals: tuple[Goal, ...] = ()  # empty where nothing was asked for
    # "" where there is a verdict, or why not: too small to mean anything, skipped, failed.
    state: str = ""
    note: str = ""  # a sentence for the reader, such as why a row was skipped

    @property
    def missed(self) -> list[str]:
        """Names of the figures that miss their goals."""
        return [goal.figure for goal in self.goals if not goal.is_reached]

    @property
    def verdict(self) -> str:
        """One word, and which figures missed: every row has a verdict."""
        if self.state:
            return self.state
        if not self.goals:
            return NO_GOAL
        return f"{MISSED}: {', '.join(self.missed)}" if self.missed else REACHED

    def plain(self) -> dict[str, Any]:
        """The same as JSON has it."""
        judged = not self.state
        return {
            "benchmark": self.benchmark,
            "case": self.case,
            "against": self.against,
            "verdict": self.verdict,
            "goals": [goal.plain() for goal in self.goals] if judged else [],
            "figures": dict(self.figures),
            "note": self.note,
        }
