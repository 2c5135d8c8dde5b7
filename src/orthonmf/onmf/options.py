"""Options: the checked keywords of a fit, as every algorithm gets them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from orthonmf.checkpoint import Checkpoint
from orthonmf.engine.losses import FROBENIUS
from orthonmf.typing import Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a fit was asked for; ``factorize`` describes each of them.

    What follows from the data stands at the end. Of the components ``asked`` for, ``n_components``
    can be in use. With a core two numbers are asked for, and ``n_groups`` groups of columns can be
    in use; else it is 0.
    """

    asked: int | tuple[int, int]
    rng: np.random.Generator
    seed: int | None = None  # that ``rng`` was made of, where it was made of one
    orthogonal: str = "samples"
    beta_loss: str = FROBENIUS
    algorithm: str = "best"
    init: str | Array = "auto"
    kmeans: str | Callable[..., Any] | None = None  # None: that of the paper
    n_init: int = 0  # 0: as many as the algorithm makes by itself, until that is known
    max_iter: int = 300
    tol: float = 3e-5
    certificate: str | None = "svd"
    checkpoint: Path | None = None

    n_components: int = 0
    n_groups: int = 0
    steps: Checkpoint = field(default_factory=Checkpoint)  # where they are kept

    def is_default(self, option: str) -> bool:
        """Whether an option was left out, or is what leaving it out means."""
        if option == "n_init":
            return self.n_init <= 1
        return bool(getattr(self, option) == DEFAULTS[option])


DEFAULTS: dict[str, Any] = {option.name: option.default for option in fields(Options)}
