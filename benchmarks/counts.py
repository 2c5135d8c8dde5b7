"""Counts: the divergence of one default fit, and its CPU seconds, next to two rivals.

scikit-learn's NMF with this loss (multiplicative updates, 200 of them), whose largest loading is
taken as the label; and plain k-means under the divergence, the best of ten starts from rows drawn
at random. All are judged by the divergence of the partition: the share of the information lost.
The worst of five seeds of ours meets one run of theirs. Then how CPU time grows with the numbers of
rows, columns, groups and entries, each doubled from the same planted counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.decomposition import NMF

from benchmarks.data import TINY, Data, real
from benchmarks.rows import Row, clock, guard, judge, measure
from orthonmf import certify, factorize
from orthonmf.engine.executors import one_blas_thread

LOSS = "kullback-leibler"
SEEDS = (501, 502, 503, 504, 505)
# Lost shares to stay below, the worst of five seeds.
SETS = {
    ("bow-kos", 6): 0.8740, ("bow-nips", 6): 0.8750, ("mfeat-pix", 6): 0.7165,
    ("bow-kos", 12): 0.8275,
}  # fmt: skip
STEPS, STARTS, SWEEPS = 200, 10, 100
BASE = {"n": 4000, "m": 2000, "k": 8, "entries": 80}


def counts(tiny: bool) -> Iterator[Row]:
    """Rows of the rivals, then of growth."""
    cases = {("tiny", TINY.n_components): 1.0} if tiny else SETS
    for (name, k), goal in cases.items():
        data = TINY if tiny else real(name)
        for against in RIVALS:
            yield guard(f"{name} k={k}", measure, compare, data, k, goal, against, against=against)
    base = {"n": 200, "m": 60, "k": 3, "entries": 20} if tiny else BASE
    yield from measure(grow, base)


def compare(data: Data, k: int, goal: float, rival: str) -> Row:
    """Ours over five seeds, theirs once: shares lost and CPU seconds."""
    X = csr_array(data.make())
    X = X[X.sum(axis=1) > 0]
    factorize(X, k, beta_loss=LOSS, random_state=0, certificate=None)
    with one_blas_thread():
        ours = [clock(lambda seed=seed: fit(X, k, seed), time.process_time) for seed in SEEDS]
        labels, seconds = clock(lambda: RIVALS[rival](X, k), time.process_time)
    theirs = certify(X, labels, n_components=k, beta_loss=LOSS, method="svd").relative_error
    row = {
        "lost": max(lost for lost, _ in ours),
        "lost_there": theirs,
        "cpu": float(np.median([spent for _, spent in ours])),
        "cpu_there": seconds,
    }
    row["cpu_ratio"] = row["cpu"] / seconds
    return judge(row, ("lost", "<=", goal), ("lost", "<=", theirs))


def fit(X: Any, k: int, seed: int) -> float:
    """What one default fit loses."""
    return factorize(X, k, beta_loss=LOSS, random_state=seed, certificate=None).relative_error


def nmf_labels(X: Any, k: int) -> Any:
    """The largest loading of every row, profiles brought to sum 1."""
    model = NMF(k, beta_loss=LOSS, solver="mu", init="nndsvda", max_iter=STEPS, tol=0.0)
    loadings = model.fit_transform(X)
    return (loadings * model.components_.sum(axis=1)).argmax(axis=1)


def kmeans_labels(X: Any, k: int) -> Any:
    """The best of ten starts of Lloyd's iterations under the divergence."""
    rng, best = np.random.default_rng(0), (-np.inf, np.zeros(X.shape[0], dtype=int))
    for _ in range(STARTS):
        profiles = X[rng.choice(X.shape[0], k, replace=False)].toarray()
        labels = np.full(X.shape[0], -1)
        for _ in range(SWEEPS):
            shares = profiles / np.maximum(profiles.sum(axis=1), 1e-300)[:, None]
            logs = np.log(np.maximum(shares, 1e-300))
            scores = X @ logs.T
            before, labels = labels, scores.argmax(axis=1)
            if np.array_equal(labels, before):
                break
            members = csr_array((np.ones(len(labels)), (labels, np.arange(len(labels)))),
                                shape=(k, len(labels)))  # fmt: skip
            profiles = (members @ X).toarray()
        best = max(best, (float(scores.max(axis=1).sum()), labels), key=lambda found: found[0])
    return best[1]


RIVALS: dict[str, Callable[[Any, int], Any]] = {
    "NMF, KL, argmax": nmf_labels,
    "KL k-means, ten starts": kmeans_labels,
}


def grow(base: dict[str, int]) -> list[Row]:
    """CPU seconds when one size is doubled, over those of the base."""
    fit(planted(**base), base["k"], 0)
    rows: list[Row] = []
    for name in ("", *base):
        sizes = {**base, **({name: 2 * base[name]} if name else {})}
        X = planted(**sizes)
        with one_blas_thread():
            fits = [partial(fit, X, sizes["k"], seed) for seed in range(3)]
            spent = float(np.median([clock(work, time.process_time)[1] for work in fits]))
        case = f"twice as large: {name}" if name else "planted counts"
        growth = spent / rows[0]["cpu"] if rows else 1.0
        rows.append({"case": case, "against": "planted counts", "cpu": spent, "growth": growth})
    return rows


def planted(n: int, m: int, k: int, entries: int) -> csr_array:
    """Counts of n rows with about so many entries each, in k groups."""
    rng = np.random.default_rng(7)
    profiles = rng.dirichlet(np.full(m, 0.3), k)
    profiles = 0.5 * profiles + 0.5 * rng.dirichlet(np.full(m, 0.5))
    return csr_array(rng.poisson(2 * entries * profiles[rng.integers(k, size=n)]).astype(float))
