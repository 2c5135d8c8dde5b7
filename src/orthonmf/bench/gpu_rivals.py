"""K-means of others on a GPU, where it is installed: how long one iteration takes.

An iteration reads X once to assign and once to sum, or both at once, as a sweep does; what each
program does before its first is taken out by the difference of a long run and a short one.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

SHORT, LONG = 1, 6
Run = Callable[[Any, int, int], Any]


def _flash_kmeans(X: Any, k: int, n_iterations: int) -> Any:
    from flash_kmeans import batch_kmeans_Euclid

    return batch_kmeans_Euclid(X[None], k, max_iters=n_iterations, tol=0.0)


def _cuml(X: Any, k: int, n_iterations: int) -> Any:
    from cuml.cluster import KMeans

    # A tolerance that no iteration meets, so that all are made.
    model = KMeans(n_clusters=k, init="random", n_init=1, max_iter=n_iterations, tol=1e-30)
    return model.fit(X)


RIVALS: dict[str, tuple[str, Run]] = {
    "flash-kmeans": ("flash_kmeans", _flash_kmeans),
    "cuML": ("cuml", _cuml),
}


def installed_rivals() -> dict[str, Run]:
    """The programs that can be imported here, by their names."""
    return {name: run for name, (module, run) in RIVALS.items() if find_spec(module) is not None}


def time_rivals(X: Any, k: int, seconds: Callable[..., float]) -> dict[str, float]:
    """Seconds of one iteration of each program that is installed, by ``seconds`` of some work."""
    return {
        name: max(0.0, (_time(run, X, k, LONG, seconds) - _time(run, X, k, SHORT, seconds)))
        / (LONG - SHORT)
        for name, run in installed_rivals().items()
    }


def _time(run: Run, X: Any, k: int, n_iterations: int, seconds: Callable[..., float]) -> float:
    return seconds(lambda: run(X, k, n_iterations), 3)
