"""Options: the checked keywords of a fit, as every algorithm gets them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from orthant.arrays import Array
from orthant.checkpoint import Checkpoint


@dataclass(frozen=True, slots=True)
class Options:
    """What a fit was asked for; ``factorize`` describes each of them."""

    n_components: int
    orthogonal: str
    seeding: str | Array
    kmeans: str | Callable[..., Any]
    n_init: int
    max_iter: int
    tol: float
    rng: np.random.Generator
    checkpoint: Checkpoint = field(default_factory=Checkpoint)
