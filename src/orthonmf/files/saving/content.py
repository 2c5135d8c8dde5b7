"""Content: the values and arrays of an archive, handed out only after checks."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from orthonmf.certificate import KINDS, Certificate, Promise
from orthonmf.errors import InvalidInputError
from orthonmf.files.archive import Archive
from orthonmf.numerics.arrays import Array

LARGEST = float(np.finfo(np.float64).max)
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

    def value(self, name: str, *types: type) -> Any:
        """A value of the header that must be there and of one of these types."""
        if name not in self._values:
            raise self.wrong(f"it lacks {name!r}")
        found = self._values[name]
        if type(found) not in types:
            raise self.wrong(f"{name} is {found!r}")
        return found

    def number(self, name: str) -> float:
        """A finite number that is not negative."""
        return self._amount(name, self.value(name, int, float))

    def numbers(self, name: str) -> tuple[float, ...]:
        """A list of finite numbers that are not negative."""
        return tuple(self._amount(name, found) for found in self.value(name, list))

    def _amount(self, name: str, found: Any) -> float:
        if type(found) not in (int, float) or not 0 <= found <= LARGEST:
            raise self.wrong(f"{name} is {found!r}")
        return float(found)

    def count(self, name: str) -> int:
        """A whole number that is not negative."""
        found: int = self.value(name, int)
        if found < 0:
            raise self.wrong(f"{name} is {found}")
        return found

    def seed(self, name: str) -> int | None:
        """A whole number that is not negative, or None."""
        return None if self.value(name, int, type(None)) is None else self.count(name)

    def sizes(self, name: str) -> int | tuple[int, int]:
        """A whole number that is not negative, or two of them."""
        found = self.value(name, int, list)
        if isinstance(found, int):
            return self.count(name)
        if len(found) != 2 or any(type(one) is not int or one < 0 for one in found):
            raise self.wrong(f"{name} is {found!r}")
        return found[0], found[1]

    def inner(self, name: str) -> Content:
        """A part of the content that has values of its own."""
        return Content(self._archive, self.value(name, dict))

    def text(self, name: str) -> str:
        """A text."""
        return str(self.value(name, str))

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts."""
        found = self.value(name, list)
        if not all(isinstance(text, str) for text in found):
            raise self.wrong(f"{name} holds more than text")
        return tuple(found)

    def names(self, name: str, size: int) -> tuple[str, ...] | None:
        """One text each for so many things; None, and none in older files, for no names."""
        if self._values.get(name) is None:
            return None
        found = self.texts(name)
        if len(found) != size:
            raise self.wrong(f"{name} holds {len(found)} names for {size}")
        return found

    def scalars(self, name: str, size: int) -> list[Any] | None:
        """A list of texts and numbers of a given length, or None."""
        found = self.value(name, list, type(None))
        if found is None:
            return None
        if len(found) != size or not all(isinstance(one, str | int | float) for one in found):
            raise self.wrong(f"{name} does not hold {size} texts or numbers")
        return list(found)

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
        found = self.value("orthogonal", str)
        if found not in ("samples", "features", "both"):
            raise self.wrong(f"orthogonal is {found!r}")
        return str(found)

    def certificate(self, name: str) -> Certificate:
        """The certificate; keys that a later version may add are ignored."""
        known = {f.name for f in fields(Certificate)}
        inner = self.inner(name)
        values = {name: value for name, value in inner.items().items() if name in known}
        texts = {"method", "a_priori_kind", "reason", "quantity"}
        for name, value in values.items():
            if value is not None and name not in texts:
                self._amount(name, value)
            elif not (value is None or isinstance(value, str)):
                raise self.wrong(f"{name} of the certificate is {value!r}")
        return Certificate(**values)

    def promise(self, name: str) -> Promise:
        """What was promised; older files say it in the certificate alone."""
        if name not in self._values:
            known = self.certificate("certificate")
            return Promise(known.a_priori_ratio, known.a_priori_kind, known.reason)
        inner = self.inner(name)
        ratio = inner.value("ratio", float, int, type(None))
        kind = inner.value("kind", str, type(None))
        if (ratio is None) != (kind is None) or kind not in (None, *KINDS):
            raise self.wrong(f"{name} is {inner.items()!r}")
        given = None if ratio is None else inner.number("ratio")
        return Promise(given, kind, inner.text("reason"))


def _fits(shape: tuple[int, ...], wanted: tuple[int | None, ...]) -> bool:
    return len(shape) == len(wanted) and all(
        size is None or size == found for found, size in zip(shape, wanted, strict=True)
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
