"""``factorize``: the function behind every door of the library."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from orthant.algorithms.single_factor import factorize_single
from orthant.certificate import Certificate
from orthant.factorization import Factorization
from orthant.kmeans.solve import MAX_ITER, SUBROUTINES, TOL
from orthant.validation import (
    as_choice,
    as_generator,
    as_matrix,
    as_n_components,
    as_tolerance,
)


def factorize(
    X: Any,
    n_components: int = 8,
    *,
    orthogonal: str = "samples",
    algorithm: str = "paper",
    kmeans: str | Callable[..., Any] | None = None,
    n_init: int = 1,
    max_iter: int = MAX_ITER,
    tol: float = TOL,
    sample_weight: Any = None,
    feature_weight: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Factorization:
    """Split a non-negative matrix into parts that do not overlap.

    Parameters
    ----------
    X
        (n, m) non-negative array, frame, memory map or SciPy sparse matrix; rows are samples.
    n_components
        How many parts.
    orthogonal
        What the parts share none of: "samples" (every row belongs to one part) or "features"
        (every column does).
    algorithm
        "paper": the published algorithm, step by step.
    kmeans
        The k-means subroutine: "k-means++" (the default), "greedy-k-means++", "ls++",
        "local-search" (proves its ratio, in time quadratic in the number of points), or a
        function of (normalised points, weights, k, rng) that returns labels.
    n_init
        Independent starts; the best is kept.
    max_iter, tol
        At most this many Lloyd iterations; stop when one lowers the cost by less than this share.
    sample_weight, feature_weight
        Non-negative weights of the squared errors of rows and columns.
    random_state
        Seed, Generator or RandomState; the same seed gives the same bits for any ``n_jobs``.
    n_jobs
        Threads; None for all cores this process may use.

    Returns
    -------
    Factorization
    """
    k = as_n_components(n_components)
    as_choice(orthogonal, ("samples", "features"), "orthogonal")
    as_choice(algorithm, ("paper",), "algorithm")
    subroutine = "k-means++" if kmeans is None else kmeans
    if not callable(subroutine):
        as_choice(subroutine, tuple(SUBROUTINES), "kmeans")
    starts = as_n_components(n_init, "n_init")
    iterations = as_n_components(max_iter, "max_iter")
    tolerance = as_tolerance(tol)
    rng = as_generator(random_state)
    matrix = as_matrix(X, sample_weight=sample_weight, feature_weight=feature_weight, n_jobs=n_jobs)
    started = time.perf_counter()
    result, promise = factorize_single(
        matrix,
        k,
        orthogonal=orthogonal,
        rng=rng,
        kmeans=subroutine,
        n_init=starts,
        max_iter=iterations,
        tol=tolerance,
    )
    certificate = Certificate(
        a_priori_ratio=promise.ratio, a_priori_kind=promise.kind, reason=promise.reason
    )
    return replace(result, certificate=certificate, seconds=time.perf_counter() - started)
