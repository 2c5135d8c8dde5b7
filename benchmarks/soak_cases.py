"""What a soak does: a random problem, some work on it, and what must be true of every answer.

Every kind of work is a function of a generator and an empty folder; it raises `ViolationError`
where something is not as it must be. The same generator does the same again.
"""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array, issparse

import orthonmf
from orthonmf.datasets import make_planted
from tests.oracles.correlation_clustering import disagreements, fewest_disagreements
from tests.oracles.divergence import least_divergence, least_divergence_with_core
from tests.oracles.double_factor import best_double_factor_error
from tests.oracles.single_factor import best_single_factor_error
from tests.oracles.three_factors import best_three_factor_error

KL = "kullback-leibler"
INITS = ("auto", "auto", "lines", "k-means||", "local-search")
KMEANS = (None, "k-means++", "k-means||", "ls++", "local-search")
CERTIFICATE_SECONDS = 3.0
ROUNDING = 1e-9  # of an optimum by brute force


class ViolationError(Exception):
    """Something that is promised did not hold."""


def require(holds: Any, promise: str) -> None:
    """Fail with the promise that was broken."""
    if not holds:
        raise ViolationError(promise)


@dataclass(frozen=True)
class Problem:
    """A matrix with what is asked about it; ``dense`` holds the numbers of ``X``."""

    X: Any
    dense: np.ndarray
    options: dict[str, Any]

    def fit(self, X: Any = None, **others: Any) -> orthonmf.Factorization:
        """Factorize the matrix, or the same one that lies elsewhere."""
        return orthonmf.factorize(self.X if X is None else X, **self.options | others)

    def weighted(self, X: np.ndarray, power: float) -> np.ndarray:
        """An array like the matrix times the weights of rows and columns to some power."""
        weights = [self.options.get(f"{side}_weight") for side in ("sample", "feature")]
        for axis, weight in enumerate(weights):
            if weight is not None:
                X = X * np.expand_dims(weight**power, 1 - axis)
        return X

    @property
    def given(self) -> dict[str, Any]:
        """What methods of a result want to be told again about the data."""
        return {name: value for name, value in self.options.items()
                if name in ("sample_weight", "missing_values")}  # fmt: skip


def draw_problem(rng: np.random.Generator, tiny: bool = False, plain: bool = False) -> Problem:
    """A matrix of any kind with any options that fit together; ``plain`` asks for an array
    without weights and holes.
    """
    if tiny:
        n, m = (int(size) for size in rng.integers(2, (7, 6)))
    else:
        n, m = (int(size) for size in rng.integers(2, rng.choice([[60, 30], [1500, 80]])))
    options = draw_options(rng, n, m, 3 if tiny else max(n, m))
    dense = draw_values(rng, n, m)
    if plain:
        return Problem(dense, dense, options)
    if rng.random() < 0.3:
        options["sample_weight"] = rng.exponential(size=n) * (np.arange(n) % 5 > 0)
        options["sample_weight"][-1] = 1.0
    if rng.random() < 0.2:
        options["feature_weight"] = rng.exponential(size=m) + 0.1
    squared = options["beta_loss"] != KL
    holes = options["orthogonal"] != "both" and options["algorithm"] == "best" and squared
    if holes and not tiny and rng.random() < 0.2:
        dense = np.where(rng.random((n, m)) < 0.2, np.nan, dense)
        options = options | {"missing_values": np.nan, "init": "auto"}
    elif rng.random() < 0.3:
        return Problem((csr_array, csc_array)[rng.integers(2)](dense), dense, options)
    X = (np.ascontiguousarray, np.asfortranarray)[rng.integers(2)](dense)
    return Problem(X, dense, options)


def draw_values(rng: np.random.Generator, n: int, m: int) -> np.ndarray:
    """Planted groups, noise, counts or few values, with rows and columns of zeros, of any size."""
    kind = rng.choice(["planted", "noise", "counts", "few values"])
    if kind == "planted":
        k = int(rng.integers(1, min(n, m) + 1))
        X = make_planted(n, m, k, rng.exponential(0.3), random_state=int(rng.integers(2**31))).X
    elif kind == "noise":
        X = rng.exponential(size=(n, m)) ** 3
    elif kind == "counts":
        X = rng.poisson(rng.exponential(size=(n, m)))
    else:
        X = rng.integers(0, 3, (n, m))
    if rng.random() < 0.3:
        X = X * (rng.random((n, 1)) < 0.8) * (rng.random(m) < 0.9)
    if kind == "counts":
        return X
    return (X * 10.0 ** rng.choice([0, 0, 0, -20, 20])).astype(rng.choice(["f8", "f8", "f4"]))


def draw_options(rng: np.random.Generator, n: int, m: int, most: int) -> dict[str, Any]:
    """Options of `factorize` none of which would be ignored."""
    orthogonal = str(rng.choice(["samples", "features", "both"]))
    largest = min(most, {"samples": n, "features": m, "both": min(n, m)}[orthogonal])
    loss = KL if rng.random() < 0.2 else "frobenius"
    k: Any = int(rng.integers(1, min(largest, 25) + 1))
    if orthogonal == "both" and (loss == KL or rng.random() < 0.5):
        k = (k, int(rng.integers(1, min(m, most, 25) + 1)))
    options: dict[str, Any] = {"n_components": k, "orthogonal": orthogonal, "beta_loss": loss}
    options |= {"algorithm": "best", "random_state": int(rng.integers(2**31))}
    if rng.random() < 0.2:
        options["n_init"] = int(rng.integers(1, 4))
    if rng.random() < 0.2:
        options["max_iter"] = int(rng.integers(1, 10))
    if loss == KL or (orthogonal == "both" and isinstance(k, int)):
        return options
    published = rng.random() < 0.3 and isinstance(k, int)
    given = {"kmeans": rng.choice(KMEANS)} if published else {"init": str(rng.choice(INITS))}
    return options | given | {"algorithm": "paper" if published else "best"}


def bits(result: orthonmf.Factorization) -> list[bytes]:
    """Everything that an answer consists of, to the last bit."""
    loadings = result.loadings
    parts = [loadings.indptr, loadings.indices, loadings.data] if issparse(loadings) else [loadings]
    parts += [result.components, result.labels, result.scales, result.feature_labels]
    parts += [result.feature_scales, result.error, result.history]
    return [np.asarray(part).tobytes() for part in parts if part is not None]


def check(problem: Problem, result: orthonmf.Factorization) -> None:
    """Whether an answer is one, exactly, and costs what it says."""
    W, H = _dense(result.loadings), np.asarray(result.components)
    require(np.isfinite(W).all() and np.isfinite(H).all(), "all numbers are finite")
    require((W >= 0).all() and (H >= 0).all(), "nothing is negative")
    if result.labels is not None:
        require((np.count_nonzero(W, axis=1) <= 1).all(), "a row is in one component")
        owned = np.arange(W.shape[1]) == result.labels[:, None]
        require(not W[~owned].any(), "a row is in the component of its label")
        require(((result.labels == -1) == (result.scales == 0)).all(), "label -1 is scale 0")
    if result.feature_labels is not None:
        out = (result.feature_labels == -1) == (result.feature_scales == 0)
        require(out.all(), "label -1 of a feature is scale 0")
        if not isinstance(result.n_components, tuple):
            require((np.count_nonzero(H, axis=0) <= 1).all(), "a column is in one component")
    cost, scale = cost_of(problem, W, H)
    told = result.divergence if result.beta_loss == KL else result.relative_squared_error
    rounding = 1e-4 if H.dtype == np.float32 else 1e-8
    require(abs(told - cost) <= rounding * scale, f"an error of {told} is one of {cost} by NumPy")


def cost_of(problem: Problem, W: np.ndarray, H: np.ndarray) -> tuple[float, float]:
    """What an answer costs by plain NumPy, and what its rounding is relative to."""
    X = problem.dense.astype(float)
    if problem.options["beta_loss"] == KL:
        Y = W.astype(float) @ H
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(X > 0, X * np.log(X / Y), 0.0) - X + Y
        # A row of weight 0 may have any divergence.
        terms[problem.weighted(np.ones(X.shape), 1) == 0] = 0.0
        return float(problem.weighted(terms, 1).sum()), float(problem.weighted(X, 1).sum()) + 1e-300
    peak = np.nanmax(X) or 1.0
    left = problem.weighted(X / peak - (W.astype(float) / peak) @ H, 0.5)
    total = np.nansum(problem.weighted(X / peak, 0.5) ** 2)
    return float(np.nansum(left**2) / total) if total else 0.0, 1.0


def _dense(matrix: Any) -> np.ndarray:
    return matrix.toarray() if issparse(matrix) else np.asarray(matrix)


def fit(rng: np.random.Generator, folder: Path) -> None:
    """Any fit: one and two threads, the same seed and `transform` give the same bits."""
    problem = draw_problem(rng)
    result = problem.fit(n_jobs=1)
    check(problem, result)
    require(bits(problem.fit(n_jobs=2)) == bits(result), "two threads give the bits of one")
    missing = problem.options.get("missing_values")
    again = result.transform(problem.X, missing_values=missing)
    same = _dense(again).tobytes() == _dense(result.loadings).tobytes()
    require(same, "transform of the same rows gives the bits of the fit")


def brute_force(rng: np.random.Generator, folder: Path) -> None:
    """A tiny table: bound <= least cost of all partitions <= cost of the answer."""
    problem = draw_problem(rng, tiny=True)
    method = str(rng.choice(["svd", "tight"]))
    limit = {"certificate_seconds": CERTIFICATE_SECONDS} if method == "tight" else {}
    result = problem.fit(certificate=method, **limit)
    check(problem, result)
    least = least_cost(problem)
    W, H = _dense(result.loadings), np.asarray(result.components)
    cost, scale = cost_of(problem, W, H)
    if problem.options["beta_loss"] == KL:
        least, cost, scale = (value / (result.information or 1.0) for value in (least, cost, scale))
    rounding = ROUNDING + (1e-4 if H.dtype == np.float32 else 1e-8) * scale
    require(cost >= least - rounding, f"an error of {cost} is below the least one, {least}")
    bound = result.certificate.lower_bound
    if bound is not None:
        require(bound <= least * (1 + ROUNDING) + ROUNDING * max(scale, 1.0),
                f"a bound of {bound} is above the least error, {least}")  # fmt: skip


def least_cost(problem: Problem) -> float:
    """The least cost by brute force: the relative squared error, or the divergence."""
    X, k = problem.dense.astype(float), problem.options["n_components"]
    orthogonal = problem.options["orthogonal"]
    if problem.options["beta_loss"] == KL:
        # Only the numbers of X above 0 count, and a row or a column of zeros costs nothing.
        counted = problem.weighted(X, 1)
        counted = counted[counted.any(axis=1)][:, counted.any(axis=0)]
        if not counted.size:
            return 0.0
        if isinstance(k, tuple):
            return float(least_divergence_with_core(counted, *k))
        return float(least_divergence(counted if orthogonal == "samples" else counted.T, k))
    X = problem.weighted(X / (X.max() or 1.0), 0.5)
    total = np.sum(X**2)
    if isinstance(k, tuple):
        least = best_three_factor_error(X, *k)
    elif orthogonal == "both":
        least = best_double_factor_error(X, k)
    else:
        least = best_single_factor_error(X if orthogonal == "samples" else X.T, k)
    return least / total if total else 0.0


def certificate(rng: np.random.Generator, folder: Path) -> None:
    """Both certificates of any fit, and that of its labels."""
    problem = draw_problem(rng)
    result = problem.fit()
    for proof in (
        result.certificate,
        result.certify(problem.X, "tight", seconds=CERTIFICATE_SECONDS, **problem.given),
    ):
        if proof.ratio is not None:
            error, bound = result.relative_error, proof.lower_bound
            require(bound <= error * (1 + 1e-6) + 1e-6, f"a bound of {bound} is above {error}")
            require(error <= proof.ratio * bound * (1 + 1e-6) + 1e-6, f"{error} is {proof.ratio}")


def refit(rng: np.random.Generator, folder: Path) -> None:
    """Refits: shares are shares, and the same seed gives the same ones."""
    problem = draw_problem(rng)
    result = problem.fit()
    seed = int(rng.integers(2**31))
    first, second = (
        result.refit(problem.X, 4, random_state=seed, n_jobs=n_jobs, **problem.given)
        for n_jobs in (1, 2)
    )
    for name in ("certainty", "feature_certainty"):
        shares, others = getattr(first, name), getattr(second, name)
        if shares is not None:
            require(((shares >= 0) & (shares <= 1)).all(), "certainty is a share")
            require(shares.tobytes() == others.tobytes(), "refits side by side are the same")


def files(rng: np.random.Generator, folder: Path) -> None:
    """What is saved and loaded, stored elsewhere or broken off and gone on with, is the same."""
    problem = draw_problem(rng)
    result = problem.fit()
    orthonmf.save(result, folder / "model.npz")
    require(bits(orthonmf.load(folder / "model.npz")) == bits(result), "a file holds the bits")
    if isinstance(problem.X, np.ndarray):
        np.save(folder / "X.npy", np.ascontiguousarray(problem.X))
        mapped = problem.fit(np.load(folder / "X.npy", mmap_mode="r"), n_jobs=1)
        check(problem, mapped)


def graph(rng: np.random.Generator, folder: Path) -> None:
    """Clusters of a tiny graph: bound <= fewest disagreements <= what was told, counted again."""
    M = rng.random(rng.integers(1, 6, 2)) < rng.random()
    model = orthonmf.BipartiteCorrelationClustering(random_state=int(rng.integers(2**31))).fit(M)
    counted = disagreements(M, model.row_labels_, model.column_labels_)
    require(model.disagreements_ == counted, "disagreements are those of the labels")
    fewest = fewest_disagreements(M)
    require(counted >= fewest >= model.certificate_.lower_bound, "no bound is above the fewest")


def command(rng: np.random.Generator, folder: Path) -> None:
    """`orthonmf fit` in a process of its own writes the numbers that Python gives."""
    problem = draw_problem(rng, plain=True)
    np.save(folder / "X.npy", problem.dense)
    k = problem.options["n_components"]
    given = {"--components": k if isinstance(k, int) else f"{k[0]},{k[1]}"}
    given |= {"--seed": problem.options["random_state"], "--output": folder / "out"}
    for name in ("orthogonal", "beta_loss", "algorithm", "init", "kmeans", "n_init", "max_iter"):
        if problem.options.get(name) is not None:
            given[f"--{name.replace('_', '-')}"] = problem.options[name]
    words = [str(word) for pair in given.items() for word in pair]
    run = subprocess.run([sys.executable, "-m", "orthonmf", "fit", str(folder / "X.npy"), *words],
                         capture_output=True, text=True, check=False)  # fmt: skip
    require(run.returncode == 0, f"the command ends well, not with {run.stderr[-300:]}")
    told = orthonmf.load(folder / "out" / "model.npz")
    require(bits(told) == bits(problem.fit()), "the command gives the bits of Python")


def many(rng: np.random.Generator, folder: Path) -> None:
    """Three processes at once give the bits of this one."""
    seed = int(rng.integers(2**31))
    alone = bits_of_seed(seed)
    with ProcessPoolExecutor(3, get_context("spawn")) as pool:
        answers = list(pool.map(bits_of_seed, [seed] * 3))
    require(all(answer == alone for answer in answers), "processes give the same bits")


def bits_of_seed(seed: int) -> list[bytes]:
    """The answer to the problem of a seed."""
    warnings.simplefilter("ignore")
    return bits(draw_problem(np.random.default_rng(seed)).fit())


def dask(rng: np.random.Generator, folder: Path) -> None:
    """A worker that is killed in the middle of a fit changes no bit of its answer."""
    from tests.engine.crew import Killer, array_of, crew, n_reads, read

    path, seed, hold_at = folder / "X.npy", int(rng.integers(2**31)), int(rng.integers(1, 20))
    np.save(path, make_planted(800, 20, 4, 0.3, random_state=seed).X)
    options = {"orthogonal": str(rng.choice(["samples", "features"])), "random_state": seed}
    alone = orthonmf.factorize(array_of(path), 4, n_jobs=1, **options)
    path.with_suffix(".reads").unlink()
    with crew() as workers:
        workers.start(2)
        killer = Killer(workers, path, hold_at, n_killed=1)
        killer.start()
        try:
            with workers.client.as_current():
                broken = orthonmf.factorize(array_of(path, read, hold_at), 4, **options)
        finally:
            killer.over.set()
            killer.join()
    in_time = n_reads(path) > killer.killed_at >= hold_at
    require(in_time, "the worker was killed before the fit was over")
    require(bits(broken) == bits(alone), "a killed worker changes no bit")


Kind = Callable[[np.random.Generator, Path], None]
# A round is all of these in this order, so that every round asks for the same memory.
ROUND: tuple[Kind, ...] = (
    *[fit] * 12, *[brute_force] * 10, *[certificate] * 3, *[refit] * 2, *[files] * 6, *[graph] * 4,
    command, many, dask,
)  # fmt: skip
