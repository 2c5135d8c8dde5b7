"""The smallest relative squared errors that anybody has found, in a JSON file.

``{"set": {"samples": {"6": 0.0756}}}``: by the name of the set, the setting and the number of
components. In names ``-`` and ``_`` are the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from orthonmf.files.readers import FileError
from orthonmf.files.whole_files import replacing
from orthonmf.onmf.algorithms import SETTINGS

LAYOUT = '{"set": {"samples": {"6": 0.0756}}}'
NUMBER = re.compile("[1-9][0-9]{0,8}")


class Case(NamedTuple):
    """What a value is known of: a set, a setting and a number of components."""

    name: str
    orthogonal: str
    n_components: int

    @property
    def title(self) -> str:
        """All of it in a few words."""
        return f"{self.name} {self.orthogonal} k={self.n_components}"


@dataclass(frozen=True, slots=True)
class BestKnown:
    """The best value known of some cases."""

    values: Mapping[Case, float]

    def of(self, case: Case) -> float | None:
        """The value of a case, or None; a name that is spelled the same comes first."""
        return self.values.get(self._spell(case))

    def with_found(self, found: Mapping[Case, float]) -> BestKnown:
        """The same and what was found, of every case the smaller one."""
        values = dict(self.values)
        for case, value in found.items():
            place = self._spell(case)
            values[place] = min(value, values.get(place, value))
        return BestKnown(values)

    def _spell(self, case: Case) -> Case:
        """The case as it is spelled here, or as it is given."""
        if case in self.values:
            return case
        return next((one for one in self.values if _fold(one) == _fold(case)), case)

    def write(self, path: Path) -> None:
        """Write all values; the file is there whole, or as it was before."""
        layout: dict[str, dict[str, dict[str, float]]] = {}
        for (name, orthogonal, k), value in self.values.items():
            layout.setdefault(name, {}).setdefault(orthogonal, {})[str(k)] = value
        with replacing(path, encoding="utf-8") as file:
            json.dump(layout, file, indent=1)
            file.write("\n")


def _fold(case: Case) -> Case:
    return case._replace(name=case.name.replace("_", "-"))


def read_best_known(path: Path) -> BestKnown:
    """The values of a file; what is no value is refused with its place."""
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise FileError(f"{path}: line {error.lineno}: this is no JSON: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise FileError(f"{path}: this is no JSON: {error}") from error
    return BestKnown(dict(_values(held, path)))


def _values(held: Any, path: Path) -> Iterator[tuple[Case, float]]:
    for name, settings in _members(held, f"{path}"):
        for orthogonal, numbers in _members(settings, f"{path}: {name}"):
            where = f"{path}: {name}, {orthogonal}"
            if orthogonal not in SETTINGS:
                raise FileError(f"{where}: a setting is one of {', '.join(SETTINGS)}")
            for k, value in _members(numbers, where):
                if not NUMBER.fullmatch(k):
                    raise FileError(f"{where}: {k[:20]!r} is no number of components")
                yield Case(name, orthogonal, int(k)), _as_error(value, f"{where}, {k}")


def _as_error(value: Any, where: str) -> float:
    if type(value) not in (int, float) or not 0 <= value <= 1:
        raise FileError(
            f"{where}: a relative squared error is a number from 0 to 1, not {str(value)[:40]}"
        )
    return float(value)


def _members(held: Any, where: str) -> Iterator[tuple[str, Any]]:
    if not isinstance(held, dict):
        raise FileError(f"{where}: an object is needed; the layout is {LAYOUT}")
    yield from held.items()
