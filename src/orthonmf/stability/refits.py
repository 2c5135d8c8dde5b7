"""``refit``: fit the same data again under random weights, and count how the refits vote.

A point (a row over samples, a column over features) is given to a group by a sum over its
coordinates, the other side. Weights of variance 1 on these question that sum about as much as new
data would; weights on the points, or other seeds alone, never do. Weights are drawn from the
exponential distribution of mean 1, so that no point ever loses all of its entries.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np

from orthonmf.cost import measure_error
from orthonmf.engine.copies import can_be_scaled, is_small, scaled_copy
from orthonmf.engine.executors import available_cores, one_blas_thread
from orthonmf.engine.losses import FROBENIUS, LOSSES
from orthonmf.engine.matrix import Matrix
from orthonmf.errors import FewerComponentsWarning, InvalidInputError, SourceChangedError
from orthonmf.evidence import OTHERS, read_given
from orthonmf.factorization import Factorization
from orthonmf.fitting import factorize
from orthonmf.inputs.data import Data
from orthonmf.inputs.parameters import (
    as_choice,
    as_count,
    as_entropy,
    as_n_jobs,
    as_weights,
)
from orthonmf.progress import announce, count_progress, silence
from orthonmf.stability.record import RESAMPLES, Membership, Stability
from orthonmf.stability.votes import count_votes
from orthonmf.typing import Array

TINY = float(np.finfo(np.float64).tiny)
# The labels of rows and of columns that one refit gives, each None where it gives none.
Answer = tuple[Array | None, Array | None]
NEAR = 1e-5  # shares of information that are the same, up to the rounding of float32
FEWEST_REFITS = 2  # the agreement is that of pairs


def refit(
    result: Factorization,
    data: Data,
    n_refits: int,
    resample: str | None,
    random_state: Any,
    feature_groups: Any,
    verbose: int,
) -> Stability:
    """What ``Factorization.refit`` does and describes; ``data`` are those that were fitted."""
    count = as_count(n_refits, "n_refits", least=FEWEST_REFITS)
    as_choice(resample, RESAMPLES, "resample")
    if result.fit_options is None:
        raise InvalidInputError(
            "this result does not know the options of its fit, which a refit repeats: it was made "
            "of labels, with a function as k-means, or saved by an older version; fit again with "
            "orthonmf.factorize"
        )
    workers = as_n_jobs(data.n_jobs) or available_cores()
    entropy = as_entropy(random_state)
    with one_blas_thread():
        matrix = read_given(data, result)
        if not matrix.total > 0:
            raise InvalidInputError("X is zero everywhere: there are no groups to get again")
        refuse_other_data(matrix, result)
        groups = as_groups(feature_groups, matrix.shape[1])
        sides = resampled_sides(result.orthogonal, resample)
        if groups is not None and not sides[1]:
            raise InvalidInputError(
                f"feature_groups would be ignored with orthogonal={result.orthogonal!r} and "
                f"resample={resample!r}, where features get no weights; leave it out"
            )
        weights = as_weights(data.sample_weight, matrix.shape[0], "sample_weight")
        refitting = Refitting(result, data, matrix, sides, groups, weights)
        seeds = np.random.SeedSequence(entropy).spawn(count)
        answers = run_all(refitting, seeds, workers, verbose)
    return sum_up(result, weights, answers, resample, entropy)


def refuse_other_data(matrix: Matrix, result: Factorization) -> None:
    """Refuse a matrix on which the result has another error than in its fit."""
    if result.beta_loss == FROBENIUS:
        measure_error(matrix, result)
        return
    loss = LOSSES[result.beta_loss]
    expressed = loss.express(matrix, result.components, result.orthogonal)
    error = loss.relative_error(matrix, expressed, result.components, result.orthogonal)
    if not abs(error - result.relative_error) <= NEAR:
        raise SourceChangedError(
            f"the error of the result on X is not what it was in the fit ({loss.error} "
            f"{error:.6g}, then {result.relative_error:.6g}): {OTHERS}; fit again, or pass the "
            "data that were fitted"
        )


@dataclass(frozen=True, slots=True)
class Refitting:
    """The data of a fit, and how they are fitted again under other weights."""

    result: Factorization
    data: Data
    matrix: Matrix
    sides: tuple[bool, bool]  # whether rows and columns get weights
    groups: Array | None  # (m,) columns of one group share a weight
    sample_weight: Array | None  # (n,) of the fit

    def run(self, seed: np.random.SeedSequence, n_jobs: int | None) -> Answer:
        """One refit: weights of its own, and a seed of its own.

        The weights of the fit are multiplied by the random ones, never replaced: a copy in memory
        is scaled, under the squared error by their roots, so that its errors are weighted by them.
        """
        rng = np.random.default_rng(seed)
        rows, columns = self._draw(rng)
        result, data = self.result, self.data
        assert result.fit_options is not None
        options = {**asdict(result.fit_options), "beta_loss": result.beta_loss}
        if can_be_scaled(self.matrix):
            power = LOSSES[result.beta_loss].power
            roots = (w if w is None else w ** (1 / power) for w in (rows, columns))
            X = scaled_copy(self.matrix, *roots)
            weights = self.sample_weight, data.feature_weight
        else:
            X = data.X
            weights = _times(self.sample_weight, rows), _times(data.feature_weight, columns)
        again = factorize(
            X,
            result.n_components,
            orthogonal=result.orthogonal,
            **options,
            certificate=None,
            sample_weight=weights[0],
            feature_weight=weights[1],
            missing_values=data.missing_values,
            max_memory=data.max_memory,
            random_state=rng,
            n_jobs=n_jobs,
        )
        return again.labels, again.feature_labels

    def _draw(self, rng: np.random.Generator) -> tuple[Array | None, Array | None]:
        """Weights (n,) of the rows and (m,) of the columns; None where all stay as they are."""
        (n, m), groups = self.matrix.shape, self.groups
        rows = rng.exponential(size=n) if self.sides[0] else None
        if not self.sides[1]:
            return rows, None
        if groups is None:
            return rows, rng.exponential(size=m)
        return rows, rng.exponential(size=int(groups.max()) + 1)[groups]


def _times(weights: Array | None, drawn: Array | None) -> Array | None:
    """Weights times those that were drawn; None stands for ones."""
    if weights is None or drawn is None:
        return drawn if weights is None else weights
    return weights * drawn


def resampled_sides(orthogonal: str, resample: str | None) -> tuple[bool, bool]:
    """Whether rows and columns get weights; over both each side holds the other's coordinates."""
    if resample is None:
        return False, False
    both = "both" in (resample, orthogonal)
    return both or orthogonal == "features", both or orthogonal == "samples"


def run_all(
    refitting: Refitting, seeds: list[np.random.SeedSequence], workers: int, verbose: int
) -> list[Answer]:
    """The answers of all refits, in the order of their seeds, whoever makes them.

    Several at a time in one thread each where the data are small, else one after the other in all
    threads: what takes time releases the interpreter lock.
    """
    # Follows from the data, so no bit depends on how many workers there are.
    small = is_small(refitting.matrix)
    at_once, n_jobs = (min(workers, len(seeds)), 1) if small else (1, workers)
    answers = []
    with count_progress("refitting", len(seeds), verbose) as show, catch_warnings():
        # Refits with fewer groups are votes against the others, not a reason for a warning.
        simplefilter("ignore", FewerComponentsWarning)
        for answer in in_order(refitting, seeds, at_once, n_jobs):
            answers.append(answer)
            announce("refit")
            show(len(answers))
    return answers


def in_order(
    refitting: Refitting, seeds: list[np.random.SeedSequence], at_once: int, n_jobs: int
) -> Iterator[Answer]:
    """The answers as they come; who is interrupted waits for those at work and starts no more."""
    if at_once == 1:
        for seed in seeds:
            with silence():  # steps inside have errors of their own
                answer = refitting.run(seed, n_jobs)
            yield answer
        return
    pool = ThreadPoolExecutor(at_once, thread_name_prefix="refit")
    try:
        for future in [pool.submit(refitting.run, seed, n_jobs) for seed in seeds]:
            yield future.result()
    finally:
        pool.shutdown(cancel_futures=True)


def sum_up(
    result: Factorization,
    sample_weight: Array | None,
    answers: list[Answer],
    resample: str | None,
    entropy: int,
) -> Stability:
    """What refits say about the rows, the columns or both, each renamed by itself."""
    sides: list[Membership | None] = []
    of_rows = result.labels, result.scales, sample_weight
    of_columns = result.feature_labels, result.feature_scales, None
    for side, (labels, scales, weights) in enumerate((of_rows, of_columns)):
        votes = [given for answer in answers if (given := answer[side]) is not None]
        if labels is None or scales is None:
            sides.append(None)
            continue
        k, energies = int(labels.max(initial=-1)) + 1, captured_of(scales, result)
        if weights is not None:  # points without weight are as if they were not there
            labels, energies = np.where(weights > 0, labels, np.int32(-1)), energies * weights
        sides.append(count_votes(labels, energies, k, votes))
    samples, features = sides
    return Stability(samples, features, len(answers), resample, entropy)


def captured_of(scales: Array, result: Factorization) -> Array:
    """What is captured of every point, by its scale (N,), in units of the largest."""
    shares = scales.astype(np.float64) / max(float(scales.max(initial=0.0)), TINY)
    return np.asarray(shares ** LOSSES[result.beta_loss].power)


def as_groups(groups: Any, n_features: int) -> Array | None:
    """Numbers (m,) from 0 of what groups features; None where each stands for itself."""
    if groups is None:
        return None
    given = np.asarray(groups)
    if given.shape != (n_features,):
        raise InvalidInputError(
            f"feature_groups must name the group of each of the {n_features} features; got shape "
            f"{given.shape}"
        )
    # Numbered as they appear, so that names change no bit.
    _, first, numbers = np.unique(given, return_index=True, return_inverse=True)
    return first.argsort().argsort()[numbers.reshape(-1)]
