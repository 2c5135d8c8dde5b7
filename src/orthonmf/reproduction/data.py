"""The data of a run: drawn again for every setting and seed, the same for all methods."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from orthonmf.datasets import load_uci, make_planted
from orthonmf.errors import InvalidInputError
from orthonmf.numerics.arrays import Array
from orthonmf.numerics.digest import digest_bytes
from orthonmf.reproduction.definition import PLANTED, Run, Setting


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """A matrix and, where a solution was planted in it, that solution."""

    X: Any  # n x m
    M_truth: Array | None = None  # m x n
    planted_error: float | None = None  # |M - M_truth|_F


def data_of(run: Run, data_home: Path | None = None) -> Data:
    """The matrix of a run; does not depend on the method."""
    if run.setting.dataset == PLANTED:
        return _draw_planted(run.experiment, run.setting, run.seed)
    setting = run.setting
    return Data(real_set(setting.dataset, (setting.n_samples, setting.n_features), data_home))


def generator_of(*words: object) -> np.random.Generator:
    """A generator that depends on these words alone, on every machine."""
    text = "\n".join(map(str, words))
    return np.random.default_rng(int.from_bytes(digest_bytes(text.encode())))


def method_generator(run: Run) -> np.random.Generator:
    """The generator of a run's own random choices."""
    return generator_of("method", run.experiment, *astuple(run.setting), run.seed, run.method)


# Methods that share a matrix follow each other, so one is kept.
@lru_cache(maxsize=1)
def _draw_planted(experiment: str, setting: Setting, seed: int) -> Data:
    assert setting.noise is not None
    drawn = make_planted(
        setting.n_samples,
        setting.n_features,
        setting.n_components,
        setting.noise,
        orthogonal=setting.orthogonal,
        random_state=generator_of("matrix", experiment, *astuple(setting), seed),
    )
    return Data(drawn.X, drawn.M_truth, float(np.linalg.norm(drawn.X - drawn.X_truth)))


def real_set(name: str, shape: tuple[int, int], data_home: Path | None = None) -> Any:
    """The matrix of a real set of the paper, in float64; refused where it has another shape."""
    found = _load(name, data_home)
    if isinstance(found, OSError):  # its message names folders of this machine
        raise InvalidInputError(
            f"{name} is not in the data folder and could not be downloaded; "
            f"orthonmf.datasets.load_uci({name!r}) tells why"
        )
    if isinstance(found, Exception):
        raise found
    if found.shape != shape:
        raise InvalidInputError(
            f"{name} is {found.shape[0]} x {found.shape[1]}, not {shape[0]} x {shape[1]}"
        )
    return found


@cache
def _load(name: str, data_home: Path | None) -> Any:
    """The matrix, or why there is none: asked once, since asking may take a download."""
    try:
        return load_uci(name, data_home).X
    except Exception as error:
        return error
