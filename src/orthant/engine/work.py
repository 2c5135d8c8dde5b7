"""Work: what a pass does with the rows of a block, in a form that may travel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from orthant.engine.units import Units, UnitsByRow


@dataclass(frozen=True, slots=True)
class Work:
    """A plain function of the rows of a block and of keywords.

    Nothing is captured: the function is known by its name, small arrays go to every block, and of
    arrays with one entry per row a block gets its own part. So a block can be worked on by any
    thread, process or machine that can read its rows.
    """

    function: Callable[..., Any]
    shared: Mapping[str, Any] = field(default_factory=dict)
    by_row: Mapping[str, Any] = field(default_factory=dict)  # None, or sliced by rows

    def parts(self, rows: slice) -> dict[str, Any]:
        """The keywords that belong to these rows."""
        return {
            name: None if values is None else values[rows] for name, values in self.by_row.items()
        }


def with_units(
    function: Callable[..., Any],
    units: Units,
    shared: Mapping[str, Any],
    by_row: Mapping[str, Any] | None = None,
) -> Work:
    """Work whose function also gets the units of its rows."""
    if units.rows is None:
        return Work(function, {**shared, "units": units}, by_row or {})
    return Work(function, shared, {**(by_row or {}), "units": UnitsByRow(units)})
