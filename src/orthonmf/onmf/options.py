"""Options: the checked keywords of a fit, as every algorithm gets them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from orthonmf.checkpoint import Checkpoint
from orthonmf.numerics.arrays import Array

# What leaving an option out means; the doors of the library give these as defaults.
DEFAULTS: dict[str, Any] = {"n_init": "auto", "max_iter": 300, "tol": 3e-5, "checkpoint": None}


@dataclass(frozen=True, slots=True)
class Options:
    """What a fit was asked for; ``factorize`` describes each of them.

    Of the components ``asked`` for, ``n_components`` can be in use with these data. With a core
    two numbers are asked for, and ``n_groups`` groups of columns can be in use; else it is 0. The
    relaxation of a tight certificate may take ``relaxation_seconds``, by counting, for starts of a
    search.
    """

    asked: int | tuple[int, int]
    n_components: int
    orthogonal: str
    init: str | Array
    kmeans: str | Callable[..., Any]
    n_init: int
    max_iter: int
    tol: float
    rng: np.random.Generator
    checkpoint: Checkpoint = field(default_factory=Checkpoint)
    relaxation_seconds: float = 0.0
    n_groups: int = 0
