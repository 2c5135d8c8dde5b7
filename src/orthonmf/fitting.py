"""``factorize``: what every way into the library calls."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import fields, replace
from typing import Any

import numpy as np

from orthonmf.cautions import find_cautions
from orthonmf.certificate import (
    CERTIFICATE_SECONDS,
    NOTHING_PROMISED,
    ZERO,
    Certificate,
    state_promise,
    tell_zero_rows,
)
from orthonmf.engine.checksums import digest
from orthonmf.engine.executors import one_blas_thread
from orthonmf.engine.losses import FROBENIUS, LOSSES
from orthonmf.engine.matrix import Matrix
from orthonmf.errors import FewerComponentsWarning
from orthonmf.evidence import Evidence, Pending
from orthonmf.factorization import Factorization, FitOptions
from orthonmf.files.checkpoint import FileCheckpoint
from orthonmf.inputs.data import Data, as_directions
from orthonmf.inputs.names import names_for
from orthonmf.inputs.parameters import (
    as_certificate,
    as_choice,
    as_count,
    as_generator,
    as_n_init,
    as_path,
    as_seed,
    as_sizes,
    as_tolerance,
    as_weights,
)
from orthonmf.kmeans.subroutines import SUBROUTINES
from orthonmf.onmf.algorithms import (
    COMPLETE,
    CORE,
    FULL_RANK,
    INITS,
    MISSING,
    NAMES,
    SETTINGS,
    algorithm_for,
)
from orthonmf.onmf.memory import refuse_large_fit, refuse_large_result, usable
from orthonmf.onmf.missing import NO_PROMISE
from orthonmf.onmf.options import Options
from orthonmf.onmf.promises import promise_for
from orthonmf.onmf.solution import solve_zero
from orthonmf.progress import progress_lines
from orthonmf.version import __version__

# Options that must be the same for a checkpoint to be gone on from, as they are.
SAME_WHEN_RESUMED = ("algorithm", "orthogonal", "beta_loss", "n_init", "max_iter", "tol")


def factorize(
    X: Any,
    n_components: int | tuple[int, int] = 8,
    *,
    orthogonal: str = "samples",
    beta_loss: str = FROBENIUS,
    algorithm: str = "best",
    init: Any = "auto",
    kmeans: str | Callable[..., Any] | None = None,
    n_init: int | str = "auto",
    max_iter: int = 300,
    tol: float = 3e-5,
    certificate: str | None = "svd",
    certificate_seconds: float = CERTIFICATE_SECONDS,
    sample_weight: Any = None,
    feature_weight: Any = None,
    missing_values: Any = None,
    sample_names: Any = None,
    feature_names: Any = None,
    max_memory: int | str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Factorization:
    """Split a non-negative matrix into parts that do not overlap.

    Parameters
    ----------
    X
        (n, m) non-negative array, frame, AnnData (its ``X``) or SciPy sparse matrix; rows are
        samples. A memory map, an HDF5 dataset, a zarr array or anything else with a shape, a dtype
        and slices of rows is read block by block, never as a whole. A tensor on a GPU is fitted
        where it lies.
    n_components
        How many parts; more than there are rows (columns, for both either) cannot be in use. For
        both two numbers (k, l) ask for k groups of rows and l groups of columns with a core
        between them: every group of rows may meet every group of columns.
    orthogonal
        What the parts share none of: "samples" (every row belongs to one part), "features"
        (every column does) or "both" (disjoint blocks, or with two numbers groups of both).
    beta_loss
        What an entry x costs that is approximated by y. "frobenius": ``(x - y)^2``, where large
        entries decide. "kullback-leibler": ``x ln(x / y) - x + y``, made for counts, where what
        matters is which share of its row an entry is; over samples and features, and over both
        with two numbers. Components are then profiles of sum 1, and what is lost is a share of
        the information that rows hold about columns.
    algorithm
        "best": a tournament of starts, a look for groups that it left out, descent and single
        moves; with several starts, and over both always, escapes; as good an answer as we can
        find. "paper": the published algorithm,
        step by step, then one assignment by the final components that the paper does not have: it
        can only lower the error, and makes ``transform`` give the same bits.
    init
        For "best", where directions start. "auto": the winner of a tournament that plays many
        starts at once on the products of points with each other: of all points when they are few,
        of a sample, or of candidates drawn in rounds where any draw costs a read of the data.
        "lines": from all points, one by one, which keeps the promise of the draws.
        "k-means||": in rounds, a few reads for any number of components. "local-search": as "auto",
        then exchanged for points until no exchange helps, which promises 26.65 always (53.30 with a
        core), in time quadratic in the number of points. Or an array of components (at most
        ``n_components`` rows, as many columns as X), which is one start. For disjoint blocks only
        "auto" and components are taken.
    kmeans
        For "paper", the k-means subroutine: "k-means++" (the default), "k-means||", "ls++",
        "local-search" (proves its ratio, in time quadratic in the number of points), or a function
        of (normalized points, weights, k, rng) that returns labels and stops when it likes:
        ``max_iter``, ``tol`` and ``checkpoint`` have no effect on it.
    n_init
        For "best", how many tournaments of starts are played; the best answer is kept, and with
        more than one answers are also recombined. "auto" plays one, which is nearly always near
        the best answer known; with missing values it makes four starts. For "paper", independent
        starts; "auto" makes one. Where one start promises a ratio r on average, the best of R
        starts is within 2 r with a chance of at least 1 - 2**-R.
    max_iter, tol
        A descent stops after this many sweeps, or when a sweep lowers the squared error (for
        "paper" the k-means cost) by less than this share of itself.
    certificate
        What ``result.certificate`` will be, which is computed when it is first looked at. "svd":
        a lower bound from the singular values. "tight": a much stronger one, from a search that
        may take a minute and may be interrupted: what it found until then is proven. Until
        then the result holds X and the weights of rows themselves, no copies of them (a tensor on
        a GPU too): keep them as they are. None: no bound, only what the algorithm promises;
        nothing is held.
    certificate_seconds
        What the search of "tight" may take. A bound that was stopped by it says so; one that was
        not is the same again.
    sample_weight, feature_weight
        Non-negative weights of the squared errors of rows and columns. Feature weights are the
        metric of the result: loadings, labels and ``transform`` use them too, and a feature of
        weight 0 is as if it were not there.
    missing_values
        numpy.nan leaves entries that are NaN out of the error (samples and features; nothing is
        proven then, and the start is not to be chosen). None refuses them.
    sample_names, feature_names
        One name per row and per column, for arrays and sparse matrices, which have none; by
        default those of a frame or an AnnData.
    max_memory
        Most memory for blocks of rows at work, as bytes or a text like "1GB": it limits how many
        are in flight, so fewer threads may run; results do not depend on it. What is kept per
        row and the result come on top.
    checkpoint
        A file that holds what the fit has found so far, written after every sweep of a descent
        and every step. The same call on the same data goes on from it and ends with the bits of a
        fit that was never broken off; other data, settings or versions are refused. It stays when
        the fit is done.
    random_state
        Seed, Generator or RandomState; the same seed gives the same bits for any ``n_jobs``.
        Without one a seed is drawn; ``result.random_state`` is it.
    n_jobs
        Threads; None for all cores this process may use.
    verbose
        1 prints a plain line on stderr for every step.

    Returns
    -------
    Factorization

    Raises
    ------
    InvalidInputError
        For data or options that cannot be used, and for an option that would be ignored.
    TooLargeError
        Before any work, when the fit would take more memory than there is.
    SourceChangedError
        When data that are read from elsewhere change while they are fitted.

    Examples
    --------
    >>> import numpy as np
    >>> import orthonmf
    >>> X = np.array([[4.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 3.0], [0.0, 0.0, 1.0]])
    >>> result = orthonmf.factorize(X, 2, random_state=0)
    >>> result.labels, result.components.shape, result.loadings.shape
    (array([0, 0, 1, 1], dtype=int32), (2, 3), (4, 2))
    >>> result.relative_squared_error < 1e-12
    True

    Disjoint blocks, and what is proven about them:

    >>> noisy = X + np.random.default_rng(0).random(X.shape) / 5
    >>> blocks = orthonmf.factorize(noisy, 2, orthogonal="both", random_state=0)
    >>> blocks.labels, blocks.feature_labels
    (array([0, 0, 1, 1], dtype=int32), array([0, 0, 1], dtype=int32))
    >>> bound = blocks.certificate.lower_bound
    >>> bound <= blocks.relative_squared_error <= blocks.certificate.ratio * bound
    True
    """
    as_choice(orthogonal, tuple(SETTINGS), "orthogonal")
    as_choice(beta_loss, tuple(LOSSES), "beta_loss")
    as_choice(algorithm, tuple(NAMES), "algorithm")
    certificate, limit = as_certificate(certificate, certificate_seconds, beta_loss)
    if init is None or isinstance(init, str):
        as_choice(init, tuple(INITS), "init")
    if kmeans is not None and not callable(kmeans):
        as_choice(kmeans, tuple(SUBROUTINES), "kmeans")
    asked = as_sizes(n_components, orthogonal)
    k, n_groups = asked if isinstance(asked, tuple) else (asked, 0)
    n_starts = as_n_init(n_init)
    seed = as_seed(random_state)
    options = Options(
        asked=asked,
        rng=as_generator(random_state if seed is None else seed),
        seed=seed,
        orthogonal=orthogonal,
        beta_loss=beta_loss,
        algorithm=algorithm,
        init=init,
        kmeans=kmeans,
        n_init=0 if isinstance(n_starts, str) else n_starts,
        max_iter=as_count(max_iter, "max_iter"),
        tol=as_tolerance(tol),
        certificate=certificate,
        checkpoint=None if checkpoint is None else as_path(checkpoint, "checkpoint"),
        n_components=k,
        n_groups=n_groups,
    )
    # Asked again when data are known: what none could make right is refused before they are read.
    algorithm_for(options, CORE if n_groups else COMPLETE)
    # One BLAS thread around all that is computed: entering costs as much as a small pass.
    with progress_lines() if verbose else nullcontext(), one_blas_thread():
        started = time.perf_counter()
        refuse_large_result(X, asked, orthogonal)
        data = Data(X, sample_weight, feature_weight, missing_values, n_jobs, max_memory)
        matrix = data.read()
        names = names_for(X, matrix.shape, sample_names, feature_names)
        weights = as_weights(feature_weight, matrix.shape[1], "feature_weight")
        options = fit_to_data(options, matrix)
        chosen = algorithm_for(options, kind_of_data(options, matrix))
        refuse_large_fit(matrix, chosen, options)
        repeated = repeat(options)
        options = replace(options, n_init=options.n_init or chosen.starts)
        options = with_checkpoint(options, matrix, seeded=random_state is not None)
        if matrix.total > 0:
            solution = chosen.solve(matrix, options)
        else:
            solution = solve_zero(matrix, NOTHING_PROMISED if matrix.complete else NO_PROMISE)
        published = chosen.publish(matrix, solution, options)
        result = replace(
            published,
            feature_weight=weights,
            promise=promise_for(matrix, published, solution.promise),
            sample_names=names[0],
            feature_names=names[1],
            random_state=options.seed,
            fit_options=repeated,
            seconds=time.perf_counter() - started,
        )
        pending = None
        if certificate is not None and matrix.complete and matrix.total > 0:
            # Weights of columns are the metric of the result, which holds a copy of them.
            pending = Pending(replace(data, feature_weight=weights), certificate, verbose, limit)
        known = known_without_data(matrix, result, solution.packed)
        result = replace(
            result, cautions=find_cautions(matrix, result), evidence=Evidence(known, pending)
        )
    if result.shortage:
        warnings.warn(result.shortage, FewerComponentsWarning, stacklevel=2)
    return result


def fit_to_data(options: Options, matrix: Matrix) -> Options:
    """Options with a start of the width of X, and with as many components as can be in use.

    Never fewer than are given as a start.
    """
    k, n_groups = usable(options.asked, matrix.shape, options.orthogonal)
    if isinstance(options.init, str):
        return replace(options, n_components=k, n_groups=n_groups)
    init = as_directions(options.init, options.n_components, matrix.shape[1])
    return replace(options, init=init, n_components=max(k, len(init)), n_groups=n_groups)


def kind_of_data(options: Options, matrix: Matrix) -> str:
    """What an algorithm is looked up by, next to its name and the setting."""
    if not matrix.complete:
        return MISSING
    if options.n_groups:
        return CORE
    full = options.orthogonal == "both" and options.n_components >= min(matrix.shape)
    return FULL_RANK if full else COMPLETE


def repeat(options: Options) -> FitOptions | None:
    """What a refit is asked for; None with a function of the user, which no file holds."""
    if callable(options.kmeans):
        return None
    repeated = {field.name: getattr(options, field.name) for field in fields(FitOptions)}
    init = options.init if isinstance(options.init, str) else "auto"
    return FitOptions(**{**repeated, "init": init, "n_init": options.n_init or "auto"})


def with_checkpoint(options: Options, matrix: Matrix, *, seeded: bool) -> Options:
    """Options whose steps go on from those in the file, where one was asked for, with its seed."""
    if options.checkpoint is None:
        return options
    init, kmeans, asked = options.init, options.kmeans or "k-means++", options.asked
    identity = {
        "version of orthonmf": __version__,
        "version of NumPy": np.__version__,
        **{name: getattr(options, name) for name in SAME_WHEN_RESUMED},
        "n_components": list(asked) if isinstance(asked, tuple) else asked,  # as JSON has it
        "init": init if isinstance(init, str) else digest(init),
        "kmeans": kmeans if isinstance(kmeans, str) else getattr(kmeans, "__qualname__", "?"),
        "the data": matrix.fingerprint(),
    }
    path, seed = options.checkpoint, options.seed
    steps = FileCheckpoint(path, options.rng, identity, seed, seeded=seeded)
    return replace(options, steps=steps, seed=steps.seed)


def known_without_data(matrix: Matrix, result: Factorization, packed: float) -> Certificate:
    """What is known before a bound is computed; ``packed`` is one that came free with the fit."""
    if matrix.complete and not matrix.total > 0:
        certificate = replace(ZERO, quantity=LOSSES[result.beta_loss].quantity)
    elif packed > 0:
        from orthonmf.certifying import prove_by_packing  # most fits need no bounds

        certificate = prove_by_packing(matrix, result, packed)
    else:
        certificate = state_promise(result.promise)
    return tell_zero_rows(certificate, len(matrix.underflown))
