"""What a user gets from the loader, and what passes between its parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from orthonmf.numerics.arrays import Array

Shape = tuple[int, int]


@dataclass(frozen=True, slots=True, eq=False)
class UciSet:
    """A data set of the UCI Machine Learning Repository; samples are rows.

    Attributes
    ----------
    name, description, citation, license
        As it was asked for; what the rows and columns are; whom to name when the data are used;
        the terms under which the repository publishes the set.
    X
        (n, m) float64 array, or CSR array where most entries are zero; never negative.
    y
        (n,) whole numbers, the class of every sample; None when the set has no classes.
    feature_names
        One text per column; None when they are not known.

    Examples
    --------
    >>> from orthonmf.datasets import load_uci
    >>> held = load_uci("mfeat-pix")  # doctest: +SKIP
    >>> held.X.shape, held.y[:3], held.license  # doctest: +SKIP
    ((2000, 240), array([0, 0, 0]), 'CC BY 4.0')
    """

    name: str
    X: Any
    y: Array | None
    feature_names: tuple[str, ...] | None
    description: str
    citation: str
    license: str


@dataclass(frozen=True, slots=True, eq=False)
class Content:
    """What a file holds: (n, m) array or CSR array, (n,) labels and names of columns, if any."""

    X: Any
    y: Array | None = None
    feature_names: tuple[str, ...] | None = None
