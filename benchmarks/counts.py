"""Counts: the divergence of one default fit, and its CPU seconds, next to two rivals.

scikit-learn's NMF with this loss (multiplicative updates, 200 of them), whose largest loading is
taken as the label; and plain k-means under the divergence, the best of ten starts from rows drawn
at random. All are judged by the divergence of the partition: the share of the information lost.
The worst of five seeds of ours meets one run of theirs. Then what certificates prove; how well the
groups of four ways agree with known labels (adjusted Rand index); and how CPU time grows with the
numbers of rows, columns, groups and entries, each doubled from the same planted counts.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, load_npz
from sklearn.decomposition import NMF
from sklearn.metrics import adjusted_rand_score

from benchmarks.data import TINY, Data, real
from benchmarks.rows import Row, SkippedError, clock, guard, judge, measure
from experiments.uci import HOME_VARIABLE
from orthonmf import certify, chi_square_weights, factorize
from orthonmf.engine.executors import one_blas_thread

LOSS = "kullback-leibler"
SEEDS = (501, 502, 503, 504, 505)
# Lost shares to stay below, the worst of five seeds, and CPU seconds.
SETS = {
    ("bow-kos", 6): (0.8740, 1.5), ("bow-nips", 6): (0.8750, 2.0), ("mfeat-pix", 6): (0.7165, 0.7),
    ("bow-kos", 12): (0.8275, 3.0),
}  # fmt: skip
NMF_SHARE = 0.25  # of the CPU time of NMF
# Ratios to prove for six groups by singular values, their CPU seconds, and ratios of "tight".
PROOFS = {
    ("bow-kos", "samples"): (1.07, 10, 1.045), ("bow-nips", "samples"): (1.08, 15, 1.055),
    ("amazon-commerce-reviews", "samples"): (1.06, 40, 1.05),
    ("arcene-train", "samples"): (1.19, 10, 1.06), ("mfeat-pix", "samples"): (1.43, 10, np.inf),
    ("mfeat-pix", "features"): (np.inf, 10, 1.13),
}  # fmt: skip
TIGHT_SECONDS = 120
LABELED = {"classic3": (3, 0.95), "digits": (10, -1.0)}  # groups, and the worst index asked for
STEPS, STARTS, SWEEPS = 200, 10, 100
BASE = {"n": 4000, "m": 2000, "k": 8, "entries": 80}
MANY_GROUPS = {"n": 3000, "m": 400, "k": 250, "entries": 60}


def counts(tiny: bool) -> Iterator[Row]:
    """Rows of the rivals, of proofs, of labels, then of growth."""
    sets = {("tiny", TINY.n_components): (1.0, np.inf)} if tiny else SETS
    for ((name, k), goals), against in product(sets.items(), RIVALS):
        data = TINY if tiny else real(name)
        yield guard(f"{name} k={k}", measure, compare, data, k, goals, against, against=against)
    for (name, side), goals in ({("tiny", "samples"): (9, 60, 9)} if tiny else PROOFS).items():
        yield guard(f"{name} {side}", measure, prove, TINY if tiny else real(name), side, goals)
    for name, way in () if tiny else product(LABELED, WAYS):
        yield guard(name, measure, agree, name, way, against=way)
    base = {"n": 200, "m": 60, "k": 3, "entries": 20} if tiny else BASE
    yield from measure(grow, base, {**base, "k": 30} if tiny else MANY_GROUPS)


def compare(data: Data, k: int, goals: tuple[float, float], rival: str) -> Row:
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
    more = [("cpu_ratio", "<=", NMF_SHARE)] if RIVALS[rival] is nmf_labels else []
    asked = ("lost", "<=", min(goals[0], theirs)), ("cpu", "<=", goals[1])
    return judge(row, *asked, *more)


def prove(data: Data, side: str, goals: tuple[float, float, float]) -> Row:
    """How many times the least divergence a default fit has at most, and CPU seconds of proofs."""
    X, row = data.make(), {}
    options = {"orthogonal": side, "beta_loss": LOSS, "random_state": SEEDS[0]}
    result = factorize(X, data.n_components, certificate=None, **options)
    for method, limit in (("svd", {}), ("tight", {"seconds": TIGHT_SECONDS})):
        proven, spent = clock(partial(result.certify, X, method, **limit), time.process_time)
        row |= {method: proven.ratio, f"{method}_cpu": spent}
    asked = ("svd", "<=", goals[0]), ("svd_cpu", "<=", goals[1]), ("tight", "<=", goals[2])
    return judge(row, *asked, ("tight_cpu", "<=", TIGHT_SECONDS))


def agree(name: str, way: str) -> Row:
    """How well groups agree with known labels: the worst and the median of five seeds."""
    k, goal = LABELED[name]
    X, labels = classic3() if name == "classic3" else digits()
    found = [adjusted_rand_score(labels, WAYS[way](X, k, seed)) for seed in SEEDS]
    row = {"worst": min(found), "median": float(np.median(found))}
    return judge(row, ("worst", ">=", goal)) if way == LOSS else row


def classic3() -> tuple[Any, Any]:
    """Words of three collections of abstracts, and which collection every one is of."""
    folder = Path(os.environ.get(HOME_VARIABLE, ""))
    if not (folder / "classic3.npz").exists():
        raise SkippedError(f"no classic3.npz and classic3_labels.npy in {HOME_VARIABLE}")
    X = csr_array(load_npz(folder / "classic3.npz"), dtype=float)
    return X, np.load(folder / "classic3_labels.npy")


def digits() -> tuple[Any, Any]:
    """Pixels of handwritten digits, 200 of each in order."""
    return real("mfeat-pix").make(), np.repeat(np.arange(10), 200)


def labels_by(X: Any, k: int, seed: int, **options: Any) -> Any:
    """Labels of one default fit."""
    return factorize(X, k, random_state=seed, certificate=None, **options).labels


def labels_by_weights(X: Any, k: int, seed: int) -> Any:
    """The same with chi-square weights."""
    rows, columns = chi_square_weights(X)
    return labels_by(X, k, seed, sample_weight=rows, feature_weight=columns)


WAYS: dict[str, Callable[[Any, int, int], Any]] = {
    "squared error": labels_by,
    "chi-square weights": labels_by_weights,
    "square roots": lambda X, k, seed: labels_by(np.sqrt(X), k, seed),
    LOSS: partial(labels_by, beta_loss=LOSS),
}


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


def grow(base: dict[str, int], many: dict[str, int]) -> list[Row]:
    """CPU seconds when one size is doubled, over those of the base; last those of many groups."""
    fit(planted(**base), base["k"], 0)
    rows: list[Row] = []
    doubled = {f"twice as large: {name}": {**base, name: 2 * base[name]} for name in base}
    for case, sizes in {"planted counts": base, **doubled, f"planted counts, {many}": many}.items():
        X = planted(**sizes)
        with one_blas_thread():
            fits = [partial(fit, X, sizes["k"], seed) for seed in range(3)]
            spent = float(np.median([clock(work, time.process_time)[1] for work in fits]))
        growth = spent / rows[0]["cpu"] if rows else 1.0
        rows.append({"case": case, "against": "planted counts", "cpu": spent, "growth": growth})
    return rows


def planted(n: int, m: int, k: int, entries: int) -> csr_array:
    """Counts of n rows with about so many entries each, in k groups."""
    rng = np.random.default_rng(7)
    profiles = rng.dirichlet(np.full(m, 0.3), k)
    profiles = 0.5 * profiles + 0.5 * rng.dirichlet(np.full(m, 0.5))
    return csr_array(rng.poisson(2 * entries * profiles[rng.integers(k, size=n)]).astype(float))
