"""How many components: error and its lower bound, a permuted null, halves, held-out counts."""

from __future__ import annotations

import os
from collections.abc import Iterable
from operator import itemgetter
from typing import Any
from warnings import catch_warnings, simplefilter

from joblib import Parallel, delayed

from orthonmf.engine.copies import can_split
from orthonmf.engine.executors import available_cores
from orthonmf.engine.losses import FROBENIUS, KULLBACK_LEIBLER
from orthonmf.errors import FewerComponentsWarning, InvalidInputError
from orthonmf.inputs.data import as_matrix
from orthonmf.inputs.parameters import as_count, as_entropy, as_n_jobs, as_sizes
from orthonmf.progress import count_progress
from orthonmf.selection.choice import Selection, suggest, sum_up
from orthonmf.selection.journal import TrialJournal
from orthonmf.selection.trial import run_trial, size_of

__all__ = ["Selection", "select_n_components"]

FEWEST_SAMPLES = 4
FRACTIONS = (
    "; no counts were held out, for not all entries of X are whole numbers, so halves are of the "
    "samples"
)


def select_n_components(
    X: Any,
    candidates: Iterable[int] | Iterable[tuple[int, int]] = range(2, 21),
    *,
    orthogonal: str = "samples",
    beta_loss: str = FROBENIUS,
    algorithm: str = "best",
    n_init: int | str = "auto",
    n_repetitions: int = 3,
    refits: int = 0,
    results: str | os.PathLike[str] | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Selection:
    """Try several numbers of components and suggest one.

    For every number, and every repetition: a fit to all data (the first one with its lower
    bound), a fit to data in which every column was permuted by itself, and fits to two random
    halves of the samples that are compared by their components and by the labels they give.

    Under ``beta_loss="kullback-leibler"`` halves of whole numbers are halves of the counts: every
    count goes to either by the toss of a coin, and the groups of one half are judged by the share
    of the information in the other that they lose. Suggested is the number that loses least.
    Entries that are no whole numbers are compared by halves of the samples; the reason says so.

    Parameters
    ----------
    X
        (n, m) non-negative array, frame or sparse matrix; at least 4 rows.
    candidates
        The numbers of components to try; over both also pairs (k, l), all of them: groups of
        samples and groups of features with a core between them. What was found with fewer groups
        on either side counts for a pair as well, so the errors of the table never rise.
    orthogonal, beta_loss, algorithm, n_init
        As in :func:`orthonmf.factorize`.
    n_repetitions
        How often everything is repeated, with other random choices.
    refits
        With 2 or more, that many refits of every number as well (:meth:`Factorization.refit`); how
        much they agree stands in the table next to the halves and changes no suggestion. It asks
        about other features, where halves ask about other samples.
    results
        A file that every finished trial is appended to, one JSON line each. Called again with
        the same data and settings, trials found there are not run again.
    random_state
        Seed; the results do not depend on ``n_jobs``.
    n_jobs
        Trials at a time; None for all cores this process may use.
    verbose
        1 shows a progress bar; where stderr is no terminal, a line every ten seconds.

    Returns
    -------
    Selection
        With ``suggestion``, ``reason``, ``table`` (a DataFrame) and ``plot()``.

    Examples
    --------
    >>> import orthonmf
    >>> X = orthonmf.datasets.make_planted(60, 20, 3, noise=0.1, random_state=0).X
    >>> selection = orthonmf.select_n_components(X, range(2, 6), n_repetitions=1, random_state=0)
    >>> selection.suggestion
    3
    """
    numbers = _as_candidates(candidates, orthogonal)
    repetitions = range(as_count(n_repetitions, "n_repetitions"))
    n_refits = as_count(refits, "refits", least=2) if refits != 0 else 0
    workers = as_n_jobs(n_jobs) or available_cores()
    matrix = as_matrix(X, n_jobs=n_jobs)
    if matrix.shape[0] < FEWEST_SAMPLES:
        raise InvalidInputError(
            f"X has {matrix.shape[0]} samples; comparing halves needs {FEWEST_SAMPLES} or more"
        )
    if not matrix.total > 0:
        raise InvalidInputError("X is zero everywhere: there are no components to choose between")
    data = matrix.whole()
    options = {
        "orthogonal": orthogonal,
        "beta_loss": beta_loss,
        "algorithm": algorithm,
        "n_init": n_init,
    }
    divergence = beta_loss == KULLBACK_LEIBLER
    hold_out = divergence and can_split(data)
    kept = {**options, "refits": n_refits, "halves": "counts" if hold_out else "rows"}
    seed = None if random_state is None else as_entropy(random_state)
    journal = TrialJournal(results, data, kept, seed)
    wanted = [(k, repetition) for k in numbers for repetition in repetitions]
    missing = [place for place in wanted if place not in journal.trials]
    missing.sort(key=itemgetter(1))  # every number once before any twice
    # Threads: what takes time releases the interpreter lock.
    parallel = Parallel(workers, backend="threading", return_as="generator_unordered")
    trials = parallel(
        delayed(run_trial)(data, *place, journal.seed, options, n_refits, hold_out)
        for place in missing
    )
    title = "selecting n_components"
    with count_progress(title, len(wanted), verbose) as show, catch_warnings():
        # Fewer components than a large candidate asks for are an answer here, in the table.
        simplefilter("ignore", FewerComponentsWarning)
        for done, trial in enumerate(trials, start=1):
            journal.add(trial)
            show(len(wanted) - len(missing) + done)
    all_trials = tuple(journal.trials[place] for place in wanted)
    summary = sum_up(all_trials)
    suggestion, reason = suggest(summary)
    if divergence and not hold_out:
        reason += FRACTIONS
    return Selection(suggestion, reason, summary, all_trials, journal.seed)


def _as_candidates(candidates: Iterable[Any], orthogonal: str) -> list[Any]:
    """Numbers of components, or pairs of numbers of groups, each once, ascending."""
    given = [
        as_sizes(size, orthogonal)
        if isinstance(size, tuple | list)
        else as_count(size, "candidates")
        for size in candidates
    ]
    if not given:
        raise InvalidInputError("candidates is empty; name at least one number of components")
    if len({isinstance(size, tuple) for size in given}) > 1:
        raise InvalidInputError("candidates holds numbers and pairs; name either, not both")
    return sorted({*given}, key=size_of)
