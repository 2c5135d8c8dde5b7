"""One trial of one number of components: the fit, a permuted null, and two halves compared.

Halves are those of the rows, or where counts are held out those of the counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score

from orthonmf.engine.copies import permute_columns, split_counts
from orthonmf.factorization import Factorization
from orthonmf.fitting import factorize
from orthonmf.selection.held_out import held_out_error
from orthonmf.typing import Array
from orthonmf.vectors import unit_lengths

# A number of components, or the numbers of groups of samples and of features.
Size = int | tuple[int, int]


def sides_of(n_components: Size) -> tuple[int, ...]:
    """The numbers of groups of a pair, or the one number of components."""
    return n_components if isinstance(n_components, tuple) else (n_components,)


def size_of(n_components: Size) -> tuple[int, ...]:
    """What candidates are sorted by: how many groups in all, then those of samples."""
    return sum(sides_of(n_components)), *sides_of(n_components)


@dataclass(frozen=True, slots=True)
class Trial:
    """What one repetition found for one number of components, or pair of numbers of groups."""

    n_components: Size
    repetition: int
    n_components_found: int  # how many the fit used
    relative_error: float  # of the fit to all data
    lower_bound: float | None  # on that error; None after the first repetition, or if not found
    null_error: float  # of a fit to data with permuted columns
    matched_cosine: float  # mean cosine of the components of two halves, matched one to one
    # Agreement of the labels that both halves give to the same samples (or features); of a pair
    # that of the side on which they agree less.
    adjusted_rand: float
    refit_agreement: float | None = None  # of refits of the first repetition, if any were asked for
    held_out_error: float | None = None  # of the counts of either half by groups of the other


def run_trial(
    data: Any,
    n_components: Size,
    repetition: int,
    entropy: int,
    options: Mapping[str, Any],
    refits: int,
    hold_out: bool,
) -> Trial:
    """Run one repetition for one number of components, in one thread.

    ``data`` is an array or CSR array; the result depends on nothing but the arguments.
    """
    sizes = sides_of(n_components)
    rng = np.random.default_rng([entropy, *sizes, repetition])

    def fit(rows: Any, certificate: str | None = None) -> Factorization:
        return factorize(
            rows, n_components, certificate=certificate, random_state=rng, n_jobs=1, **options
        )

    whole = fit(data, "svd" if repetition == 0 else None)
    null = fit(permute_columns(data, rng))
    if hold_out:
        # The same halves for every number of components.
        halves = split_counts(data, np.random.default_rng([entropy, 0, repetition]))
    else:
        order = rng.permutation(data.shape[0])
        half = data.shape[0] // 2
        halves = tuple(data[np.sort(part)] for part in (order[:half], order[half:]))
    first, second = (fit(half) for half in halves)
    held_out = None
    if hold_out:
        errors = held_out_error(first, *halves), held_out_error(second, *halves[::-1])
        held_out = float(np.mean(errors))
    refit_agreement = None
    if refits and repetition == 0:
        # From a seed of its own, so that all else is the same without it.
        again = np.random.default_rng([entropy, *sizes, repetition, refits])
        stability = whole.refit(data, refits, random_state=again, n_jobs=1)
        refit_agreement = stability.agreement
    return Trial(
        n_components=n_components,
        repetition=repetition,
        n_components_found=whole.n_components_found,
        relative_error=whole.relative_error,
        lower_bound=whole.certificate.lower_bound,
        null_error=null.relative_error,
        matched_cosine=matched_cosine(first.components, second.components, sizes[0]),
        adjusted_rand=agreement(first, second, data),
        refit_agreement=refit_agreement,
        held_out_error=held_out,
    )


def matched_cosine(first: Array, second: Array, n_components: int) -> float:
    """Mean cosine of rows (k, m) and (l, m) under the best matching; unmatched count 0."""
    cosines = unit_lengths(first.astype(np.float64)) @ unit_lengths(second.astype(np.float64)).T
    rows, columns = linear_sum_assignment(cosines, maximize=True)
    return min(1.0, float(cosines[rows, columns].sum() / n_components))


def agreement(first: Factorization, second: Factorization, data: Any) -> float:
    """Adjusted Rand index of the labels of two fits; with a core that of the worse side."""
    index = adjusted_rand_score(labels_of(first, data), labels_of(second, data))
    if isinstance(first.n_components, tuple):
        # A side that falls apart is not made good by the other.
        index = min(index, adjusted_rand_score(first.feature_labels, second.feature_labels))
    return float(index)


def labels_of(result: Factorization, data: Any) -> Array:
    """Labels that a factorization of other samples gives: to these samples, or to features."""
    if result.feature_labels is not None and result.labels is None:
        return result.feature_labels
    loadings = result.transform(data, n_jobs=1)
    labels = np.full(data.shape[0], -1)
    labels[np.diff(loadings.indptr) > 0] = loadings.indices
    return labels
