"""Content: the values and arrays of a file, handed out only after checks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, is_dataclass
from typing import Any

import numpy as np

from orthonmf.errors import InvalidInputError
from orthonmf.files.archive import Archive
from orthonmf.typing import Array

LARGEST = float(np.finfo(np.float64).max)
LONGEST_SHOWN = 80
UNIT_LENGTH = {np.dtype(np.float32): 1e-4, np.dtype(np.float64): 1e-8}
Check = Callable[[Any], bool]


class Content:
    """Values and arrays by name, handed out after checks; unknown names are ignored.

    The arrays are those of an open archive, or of one that is not written yet.
    """

    def __init__(self, path: Any, values: Any, arrays: Archive | Mapping[str, Array]) -> None:
        self.path, self.values, self.arrays = path, values, arrays
        if not isinstance(values, dict):
            raise self.wrong("it has no content")

    def wrong(self, why: str) -> InvalidInputError:
        """The error for a file whose content does not fit together."""
        return InvalidInputError(f"{self.path} is damaged: {why}")

    def value(self, name: str, fits: Check) -> Any:
        """A value that must be there and fit; lists come as tuples."""
        if name not in self.values:
            raise self.wrong(f"it lacks {name!r}")
        value = self.values[name]
        if not fits(value):
            raise self.wrong(f"{name} is {repr(value)[:LONGEST_SHOWN]}")
        return tuple(value) if isinstance(value, list) else value

    def inner(self, name: str) -> Content:
        """A part of the content that has values of its own."""
        return Content(self.path, self.values.get(name), self.arrays)

    def inner_or_none(self, name: str) -> Content | None:
        """The same; None where that is written."""
        return None if self.values.get(name) is None else self.inner(name)

    def array(self, name: str) -> Array:
        """An array of any plain numbers."""
        if name not in self.arrays:
            raise self.wrong(f"it lacks the array {name!r}")
        return self.arrays[name]

    def amounts(self, name: str, *shape: int | None) -> Array:
        """An array of finite floats that are not negative; None in the shape is any size."""
        array = self.array(name)
        if array.dtype not in UNIT_LENGTH or not _fits(array.shape, shape):
            raise self.wrong(f"{name} has shape {array.shape} and dtype {array.dtype}")
        if not np.all(np.isfinite(array)) or np.any(array < 0):
            raise self.wrong(f"{name} holds NaN, infinite or negative entries")
        return array

    def shares(self, name: str, *shape: int | None) -> Array:
        """An array of floats from 0 to 1, up to rounding."""
        array = self.amounts(name, *shape)
        if np.any(array > 1 + UNIT_LENGTH[array.dtype]):
            raise self.wrong(f"{name} holds shares above 1")
        return array

    def labels(self, name: str, *shape: int | None, k: int, lowest: int = -1) -> Array:
        """Integer labels from ``lowest`` to k - 1."""
        array = self.array(name)
        if array.dtype.kind != "i" or not _fits(array.shape, shape):
            raise self.wrong(f"{name} has shape {array.shape} and dtype {array.dtype}")
        if array.size and (array.min() < lowest or array.max() >= k):
            raise self.wrong(f"{name} holds labels outside {lowest} to {k - 1}")
        return array


def _fits(shape: tuple[int, ...], wanted: tuple[int | None, ...]) -> bool:
    return len(shape) == len(wanted) and all(
        size in (None, extent) for extent, size in zip(shape, wanted, strict=True)
    )


def number_from(least: float, most: float) -> Check:
    """The check of a number in a range."""
    return lambda value: type(value) in (int, float) and least <= value <= most


def count_from(least: int) -> Check:
    """The check of a whole number of at least so many."""
    return lambda value: type(value) is int and value >= least


def is_text(value: Any) -> bool:
    """Whether a value is a text."""
    return isinstance(value, str)


def is_name(value: Any) -> bool:
    """Whether a value is a text or a number, as scikit-learn's names of columns may be."""
    return isinstance(value, str | int | float)


def optional(fits: Check) -> Check:
    """The check that also lets None through."""
    return lambda value: value is None or fits(value)


def one_of(choices: Iterable[str | None]) -> Check:
    """The check that a value is one of these texts, or None if that is one."""
    return tuple(choices).__contains__


def list_of(fits: Check, size: int | None = None) -> Check:
    """The check of a list, of a given size if there is one, by that of its entries."""
    return lambda value: (
        isinstance(value, list) and size in (None, len(value)) and all(map(fits, value))
    )


def object_of(**checks: Check) -> Check:
    """The check of a JSON object by those of some of its values; one that is not there is None."""
    return lambda value: (
        isinstance(value, dict) and all(fits(value.get(name)) for name, fits in checks.items())
    )


def plain(value: Any) -> Any:
    """A value as JSON can hold it; NaN, which JSON does not have, becomes ``{"float": "nan"}``."""
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    if isinstance(value, int | float | str | None):
        return value
    if isinstance(value, dict):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    raise TypeError(f"{value!r} is not a plain value")


def unplain(value: Any) -> Any:
    """The value that :func:`plain` was given."""
    if isinstance(value, dict) and value.get("float") in ("nan", "inf", "-inf"):
        return float(value["float"])
    return value
