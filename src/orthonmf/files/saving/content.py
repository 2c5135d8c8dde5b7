"""Content: the values and arrays of an archive, handed out only after checks."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from orthonmf.certificate import KINDS, Certificate, Promise
from orthonmf.errors import InvalidInputError
from orthonmf.files.archive import Archive
from orthonmf.numerics.arrays import Array

LARGEST = float(np.finfo(np.float64).max)
LONGEST_SHOWN = 80
SETTINGS = ("samples", "features", "both")
TEXTS_OF_CERTIFICATES = ("method", "a_priori_kind", "reason", "quantity")
UNIT_LENGTH = {np.dtype(np.float32): 1e-4, np.dtype(np.float64): 1e-8}


@dataclass(frozen=True, slots=True)
class Packed:
    """An archive that is not written yet: the same header and arrays that a reader would find."""

    path: Any
    header: dict[str, Any]
    arrays: dict[str, Array]

    def __contains__(self, name: str) -> bool:
        return name in self.arrays

    def array(self, name: str) -> Array:
        """The array of this name."""
        return np.asarray(self.arrays[name])


class Content:
    """The content of an archive, handed out after checks; unknown keys are ignored."""

    def __init__(self, archive: Archive | Packed, values: Any = None) -> None:
        self._archive = archive
        given = archive.header.get("content") if values is None else values
        if not isinstance(given, dict):
            raise self.wrong("it has no content")
        self._values: dict[str, Any] = given

    def wrong(self, why: str) -> InvalidInputError:
        """The error for a file whose content does not fit together."""
        return InvalidInputError(f"{self._archive.path} is damaged: {why}")

    def value(self, name: str, fits: Callable[[Any], bool]) -> Any:
        """A value of the header that must be there and fit."""
        if name not in self._values:
            raise self.wrong(f"it lacks {name!r}")
        value = self._values[name]
        if not fits(value):
            raise self.wrong(f"{name} is {repr(value)[:LONGEST_SHOWN]}")
        return value

    def number(self, name: str) -> float:
        """A finite number that is not negative."""
        return float(self.value(name, _is_amount))

    def numbers(self, name: str) -> tuple[float, ...]:
        """A list of finite numbers that are not negative."""
        return tuple(map(float, self.value(name, lambda value: _is_list(value, _is_amount))))

    def count(self, name: str) -> int:
        """A whole number that is not negative."""
        return int(self.value(name, _is_count))

    def seed(self, name: str) -> int | None:
        """A whole number that is not negative, or None."""
        seed: int | None = self.value(name, _or_none(_is_count))
        return seed

    def sizes(self, name: str) -> int | tuple[int, int]:
        """A whole number that is not negative, or two of them."""
        sizes = self.value(name, lambda value: _is_count(value) or _is_list(value, _is_count, 2))
        return sizes if isinstance(sizes, int) else (sizes[0], sizes[1])

    def inner(self, name: str) -> Content:
        """A part of the content that has values of its own."""
        return Content(self._archive, self.value(name, lambda value: isinstance(value, dict)))

    def text(self, name: str) -> str:
        """A text."""
        return str(self.value(name, _is_text))

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts."""
        return tuple(self.value(name, lambda value: _is_list(value, _is_text)))

    def names(self, name: str, size: int) -> tuple[str, ...] | None:
        """One text each for so many things, or None."""
        names = self.value(name, _or_none(lambda value: _is_list(value, _is_text, size)))
        return None if names is None else tuple(names)

    def scalars(self, name: str, size: int) -> list[Any] | None:
        """A list of texts and numbers of a given length, or None."""
        scalars: list[Any] | None = self.value(
            name, _or_none(lambda value: _is_list(value, _is_scalar, size))
        )
        return scalars

    def items(self) -> dict[str, Any]:
        """All values, unchecked."""
        return dict(self._values)

    def has_array(self, name: str) -> bool:
        """Whether there is an array of this name."""
        return name in self._archive

    def array(self, name: str) -> Array:
        """An array of any plain numbers."""
        return self._archive.array(name)

    def amounts(self, name: str, shape: tuple[int | None, ...]) -> Array:
        """An array of finite floats that are not negative; None in the shape is any size."""
        array = self.array(name)
        if array.dtype not in UNIT_LENGTH or not _fits(array.shape, shape):
            raise self.wrong(f"{name} has shape {array.shape} and dtype {array.dtype}")
        if not np.all(np.isfinite(array)) or np.any(array < 0):
            raise self.wrong(f"{name} holds NaN, infinite or negative entries")
        return array

    def labels(self, name: str, size: int | None, k: int, lowest: int = -1) -> Array:
        """Integer labels from ``lowest`` to k - 1."""
        array = self.array(name)
        if array.dtype.kind != "i" or not _fits(array.shape, (size,)):
            raise self.wrong(f"{name} has shape {array.shape} and dtype {array.dtype}")
        if array.size and (array.min() < lowest or array.max() >= k):
            raise self.wrong(f"{name} holds labels outside {lowest} to {k - 1}")
        return array

    def components(self, name: str = "components") -> Array:
        """(k, m) amounts with rows of length 1."""
        array = self.amounts(name, (None, None))
        lengths = np.linalg.norm(array.astype(np.float64), axis=1)
        if np.any(np.abs(lengths - 1.0) > UNIT_LENGTH[array.dtype]):
            raise self.wrong(f"{name} holds rows that are not of length 1")
        return array

    def read_setting(self) -> str:
        """What the components share none of."""
        return str(self.value("orthogonal", lambda value: value in SETTINGS))

    def certificate(self, name: str) -> Certificate:
        """The certificate; keys that a later version may add are ignored."""
        inner = self.inner(name)
        known = [field.name for field in fields(Certificate) if field.name in inner.items()]
        fits = {key: _is_text if key in TEXTS_OF_CERTIFICATES else _is_amount for key in known}
        return Certificate(**{key: inner.value(key, _or_none(fit)) for key, fit in fits.items()})

    def promise(self, name: str) -> Promise:
        """What was promised, on average or always, and of what."""
        inner = self.inner(name)
        kind = inner.value("kind", lambda value: value in (None, *KINDS))
        ratio = inner.value("ratio", lambda value: (value is None) == (kind is None))
        return Promise(None if ratio is None else inner.number("ratio"), kind, inner.text("reason"))


def _is_amount(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value <= LARGEST


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_scalar(value: Any) -> bool:
    return isinstance(value, str | int | float)


def _or_none(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or fits(value)


def _is_list(value: Any, fits: Callable[[Any], bool], size: int | None = None) -> bool:
    return isinstance(value, list) and size in (None, len(value)) and all(map(fits, value))


def _fits(shape: tuple[int, ...], wanted: tuple[int | None, ...]) -> bool:
    return len(shape) == len(wanted) and all(
        size in (None, extent) for extent, size in zip(shape, wanted, strict=True)
    )


def plain(value: Any) -> Any:
    """A value as JSON can hold it; NaN, which JSON does not have, becomes ``{"float": "nan"}``."""
    if isinstance(value, Certificate | Promise):
        value = asdict(value)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    if value is None or isinstance(value, bool | int | float | str):
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
