"""Would I get these groups again: what certainty is worth, what it repeats, and what it costs.

Calibration: of rows of planted groups whose certainty lies in a bin, the share that is in its
place, with weights on the columns and with other seeds alone; labels of one default fit each, all
cases and seeds together. Repetition: two default fits of a real set, twenty refits of each from
other seeds; of the rows that one set keeps, the share that the other gives the same name by most
votes. Cost: twenty refits against twenty default fits, wall seconds, all cores for both; and CPU
seconds against twenty replicates of scikit-learn's NMF with the consensus that cNMF makes of them.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import NMF
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import normalize

from benchmarks.data import TINY, Data, real
from benchmarks.planted_groups import CASES, in_place, refit_case
from benchmarks.rows import Row, clock, guard, judge, measure
from orthonmf import Factorization, Stability, factorize
from orthonmf.engine.executors import one_blas_thread

SEEDS = (401, 402, 403)
EDGES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
REFITS = 20
SETS = {
    "bow-kos": 6, "bow-nips": 6, "mfeat-pix": 10, "arcene-train": 6, "amazon-commerce-reviews": 6
}  # fmt: skip
RIVALS = ("mfeat-pix", "bow-kos", "bow-nips")  # on which others are run, too
TURNS = 3
# What cNMF (Kotliar et al., 2019) does by default: so many columns, and of the replicates'
# components those whose nearest neighbors, this share of the replicates, are this near on average.
MOST_COLUMNS, NEIGHBORS, DISTANCE = 2000, 0.3, 0.5


def certainty(tiny: bool) -> Iterator[Row]:
    """Rows of all three questions."""
    cases, seeds = (tuple(CASES)[:1], SEEDS[:1]) if tiny else (tuple(CASES), SEEDS)
    n_refits, turns = (2, 1) if tiny else (REFITS, TURNS)
    for resample in ("coordinates", None):
        yield from measure(calibrate, resample, cases, seeds, 2 * n_refits if tiny else n_refits)
    sets = [(TINY, TINY.n_components)] if tiny else [(real(name), k) for name, k in SETS.items()]
    for data, k in sets:
        questions = [
            (f"refits of {side}", repeat, side, n_refits) for side in ("coordinates", "both")
        ]
        if tiny or data.name in RIVALS:
            questions += [
                (f"{REFITS} default fits", compare_cost, turns, n_refits),
                ("20 NMF, consensus, as cNMF scales", compare_consensus, True, n_refits),
                ("20 NMF, consensus", compare_consensus, False, n_refits),
            ]
        case = f"{data.name or data.title} k={k}"
        for against, question, *about in questions:
            yield guard(case, measure, question, data, k, *about, against=against)


def calibrate(
    resample: str | None, cases: tuple[str, ...], seeds: tuple[int, ...], n_refits: int
) -> list[Row]:
    """The share in its place, by certainty; a row for every bin."""
    rows_of_cases = [refit_case(case, seed, resample, n_refits) for case in cases for seed in seeds]
    sure, in_group = (np.concatenate(arrays) for arrays in zip(*rows_of_cases, strict=True))
    rows = []
    for low, high in pairwise(EDGES):
        inside = (sure >= low) & ((sure < high) | (high == EDGES[-1]))
        row: Row = {
            "case": f"planted, certainty {low:g} to {high:g}",
            "against": "weights on columns" if resample else "seeds alone",
            "share_right": float(in_group[inside].mean()) if inside.any() else float("nan"),
            "share_of_rows": float(inside.mean()),
        }
        row["above_middle"] = row["share_right"] - (low + high) / 2
        goals = (("above_middle", ">=", -0.05), ("above_middle", "<=", 0.12)) if resample else ()
        rows.append(judge(row, *goals) if goals else row)
    return rows


def repeat(data: Data, k: int, resample: str, n_refits: int) -> Row:
    """Two fits, and a set of refits of each: how much of what one keeps the other names alike."""
    X = data.make()
    fits = [factorize(X, k, random_state=seed, certificate=None) for seed in (0, 1)]
    sets = [
        result.refit(X, n_refits, resample, random_state=seed)
        for result, seed in zip(fits, (10, 11), strict=True)
    ]
    alike = [same_name(one, other) for one, other in (sets, sets[::-1])]
    kept = [stability.kept() for stability in sets]
    both = (kept[0] >= 0) & (kept[1] >= 0)
    row: Row = {
        "rand_of_fits": float(adjusted_rand_score(fits[0].labels, fits[1].labels)),
        "kept": float(np.mean([np.mean(labels >= 0) for labels in kept])),
        "same_name": float(np.mean(alike)),
        "rand_where_both_keep": float(adjusted_rand_score(kept[0][both], kept[1][both])),
        "agreement": float(np.mean([stability.agreement for stability in sets])),
    }
    return judge(row, ("same_name", ">=", 0.97)) if resample == "both" else row


def same_name(one: Stability, other: Stability) -> float:
    """Of the rows that one set keeps, the share that most refits of the other name alike."""
    votes = other.samples.counts.argmax(axis=1)
    alike = in_place(one.samples.labels, votes, other.samples.counts.shape[1])
    inside = one.kept() >= 0
    return float(np.mean(alike[inside])) if inside.any() else float("nan")


def fit_and_warm(data: Data, k: int) -> tuple[Any, Factorization]:
    """The matrix and a fit of it, refitted once."""
    X = data.make()
    result = factorize(X, k, random_state=0, certificate=None)
    result.refit(X, 2, random_state=0)
    return X, result


def compare_cost(data: Data, k: int, turns: int, n_refits: int) -> Row:
    """Wall seconds of refits over those of as many default fits, in turns."""
    X, result = fit_and_warm(data, k)
    ratios, seconds = [], []
    for turn in range(turns):
        _, refits = clock(lambda turn=turn: result.refit(X, n_refits, random_state=turn))
        _, fits = clock(
            lambda: [factorize(X, k, random_state=s, certificate=None) for s in range(n_refits)]
        )
        ratios.append(refits / fits)
        seconds.append(refits)
    row = {"ratio": float(np.median(ratios)), "seconds": float(np.median(seconds))}
    return judge(row, ("ratio", "<=", 1.1))


def compare_consensus(data: Data, k: int, scaled: bool, n_refits: int) -> Row:
    """CPU seconds of replicates of NMF and their consensus over those of the refits."""
    X, result = fit_and_warm(data, k)
    with one_blas_thread():
        ours = clock(lambda: result.refit(X, n_refits, random_state=1, n_jobs=1), time.process_time)
        theirs = [
            clock(lambda s=s: consensus(X, k, n_refits, s, scaled), time.process_time)
            for s in range(2)
        ]
    row = {
        "cpu_ratio": float(np.mean([seconds for _, seconds in theirs])) / ours[1],
        "cpu_seconds": ours[1],
        "rand_of_two_runs": float(adjusted_rand_score(theirs[0][0], theirs[1][0])),
    }
    return judge(row, ("cpu_ratio", ">=", 10))


def consensus(X: Any, k: int, n_replicates: int, seed: int, scaled: bool) -> np.ndarray:
    """The group of largest usage, from replicates of NMF and the consensus of cNMF.

    With ``scaled`` its columns as well: those of the largest variance for their mean, at unit
    variance. Components of replicates that have few near relatives are left out, the others
    clustered, and the medians of clusters are what usages are fitted to.
    """
    if scaled:
        X = as_cnmf_scales(X)
    options: dict[str, Any] = {"init": "random", "tol": 1e-4, "max_iter": 1000}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = [NMF(k, random_state=1000 * seed + s, **options) for s in range(n_replicates)]
        spectra = np.concatenate([model.fit(X).components_ for model in models])
        unit = normalize(spectra)
        near = max(1, int(NEIGHBORS * n_replicates))
        distances, _ = NearestNeighbors(n_neighbors=near + 1).fit(unit).kneighbors(unit)
        dense = distances[:, 1:].mean(axis=1) < DISTANCE
        unit = unit[dense] if dense.sum() >= k else unit
        clusters = KMeans(k, n_init=10, random_state=1).fit_predict(unit)
        medians = np.array([np.median(unit[clusters == c], axis=0) for c in range(k)])
        medians = np.maximum(medians, 0) / np.maximum(medians.sum(axis=1, keepdims=True), 1e-300)
        model = NMF(k, random_state=0, **options).fit(X[:k])
        model.components_ = medians
        return np.asarray(model.transform(X)).argmax(axis=1)


def as_cnmf_scales(X: Any) -> Any:
    """The columns of the largest variance for their mean, each divided by its deviation."""
    means = np.asarray(X.mean(axis=0)).ravel()
    squares = np.asarray(X.multiply(X).mean(axis=0) if hasattr(X, "multiply") else (X**2).mean(0))
    variances = np.maximum(squares.ravel() - means**2, 0)
    score = np.divide(variances, means, out=np.zeros_like(means), where=means > 0)
    chosen = np.sort(np.argsort(-score)[:MOST_COLUMNS])
    chosen = chosen[variances[chosen] > 0]
    part = X[:, chosen]
    factors = 1 / np.sqrt(variances[chosen])
    return part.multiply(factors).tocsr() if hasattr(part, "multiply") else part * factors
