"""Digests of about a hundred fits: write them down, or compare the code of today with them.

    python tools/compare_bits.py record bits.json
    python tools/compare_bits.py compare bits.json

A refactoring keeps every digest. Where bits are meant to change, the relative errors that are
written next to them tell by how much. Digests are those of one machine and one NumPy, so the file
is not kept with the code.
"""

import hashlib
import json
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import orthonmf


def planted(n: int, m: int, k: int, noise: float, seed: int, orthogonal: str = "samples") -> Any:
    return orthonmf.datasets.make_planted(
        n, m, k, noise=noise, orthogonal=orthogonal, random_state=seed
    ).X


def sparse_counts(n: int, m: int, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    return sp.csr_array(rng.poisson(0.15, (n, m)).astype(float) * rng.exponential(1, (n, m)))


def matrices() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    holes = planted(150, 20, 4, 0.2, 3)
    holes[rng.random(holes.shape) < 0.1] = np.nan
    uneven = rng.exponential(size=(300, 12)) * np.exp(rng.normal(0, 2, (300, 1)))
    zeros = planted(200, 15, 3, 0.1, 5)
    zeros[::7], zeros[:, 3] = 0, 0
    return {
        "planted": planted(700, 30, 5, 0.3, 1),
        "long": planted(6000, 40, 8, 0.4, 2),
        "wide": planted(40, 900, 4, 0.3, 4),
        "blocks": planted(300, 120, 6, 0.3, 6, "both"),
        "counts": sparse_counts(400, 250, 7),
        "noise": rng.random((500, 25)),
        "float32": planted(600, 20, 5, 0.3, 8).astype(np.float32),
        "uneven": uneven,
        "zeros": zeros,
        "tiny": rng.random((6, 5)),
        "copies": np.repeat(rng.random((12, 8)), 20, axis=0),
        "holes": holes,
    }


def cases() -> Iterator[tuple[str, Callable[[], Any]]]:
    data = matrices()

    def fit(name: str, k: Any, **options: Any) -> Callable[[], Any]:
        return lambda: orthonmf.factorize(data[name], k, random_state=0, **options)

    settings = ("samples", "features", "both")
    for name in data:
        for orthogonal in settings:
            if name == "holes":
                if orthogonal != "both":
                    yield (
                        f"{name} {orthogonal}",
                        fit(name, 4, orthogonal=orthogonal, missing_values=np.nan),
                    )
                continue
            yield f"{name} {orthogonal}", fit(name, 4, orthogonal=orthogonal)
            yield (
                f"{name} {orthogonal} paper",
                fit(name, 4, orthogonal=orthogonal, algorithm="paper"),
            )
    for name in ("planted", "blocks", "counts", "tiny"):
        yield f"{name} core", fit(name, (3, 4), orthogonal="both")
        yield f"{name} n_init 3", fit(name, 3, n_init=3)
        yield f"{name} both n_init 3", fit(name, 3, n_init=3, orthogonal="both")
    for subroutine in ("k-means||", "ls++", "local-search"):
        yield f"paper {subroutine}", fit("planted", 5, algorithm="paper", kmeans=subroutine)
    for init in ("lines", "k-means||"):
        for orthogonal in ("samples", "features"):
            yield f"{init} {orthogonal}", fit("noise", 6, init=init, orthogonal=orthogonal)
    yield "full rank", fit("tiny", 5, orthogonal="both")
    yield "given start", fit("noise", 3, init=data["noise"][:3])
    yield "many components", fit("long", 60)
    yield "few sweeps", fit("long", 8, max_iter=2)
    rng = np.random.default_rng(1)
    for orthogonal in settings:
        rows, columns = rng.random(700), rng.random(30)
        rows[:5], columns[:2] = 0, 0
        yield (
            f"weights {orthogonal}",
            fit("planted", 4, orthogonal=orthogonal, sample_weight=rows, feature_weight=columns),
        )
        for exponent in (-900, 900):
            X = np.ldexp(data["planted"], exponent)
            yield (
                f"2^{exponent} {orthogonal}",
                lambda X=X, o=orthogonal: orthonmf.factorize(X, 4, orthogonal=o, random_state=0),
            )
        yield f"memory map {orthogonal}", lambda o=orthogonal: fit_memory_map(data["long"], o)
        yield f"checkpoint {orthogonal}", lambda o=orthogonal: fit_checkpoint(data["planted"], o)
    yield "dask samples", lambda: fit_dask(data["long"], "samples")
    yield "dask features", lambda: fit_dask(data["long"], "features")
    yield "labels", lambda: orthonmf.certify(data["planted"], np.arange(700) % 4)


def fit_memory_map(X: Any, orthogonal: str) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "X.npy"
        np.save(path, X)
        rows = np.load(path, mmap_mode="r")
        return orthonmf.factorize(rows, 6, orthogonal=orthogonal, random_state=0, certificate=None)


def fit_checkpoint(X: Any, orthogonal: str) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fit.ckpt"
        return orthonmf.factorize(X, 4, orthogonal=orthogonal, random_state=0, checkpoint=path)


def fit_dask(X: Any, orthogonal: str) -> Any:
    import dask.array

    rows = dask.array.from_array(X, chunks=(1500, -1))
    return orthonmf.factorize(rows, 6, orthogonal=orthogonal, random_state=0, certificate=None)


def digest(result: Any) -> str:
    loadings = result.loadings
    values = [
        result.components,
        loadings.toarray() if sp.issparse(loadings) else loadings,
        result.labels,
        result.scales,
        result.feature_labels,
        result.feature_scales,
        result.error,
        np.asarray(result.history, dtype=float),
    ]
    summed = hashlib.sha256()
    for value in values:
        summed.update(b"-" if value is None else np.ascontiguousarray(value).tobytes())
    return summed.hexdigest()[:16]


def measure() -> dict[str, dict[str, Any]]:
    written = {}
    for name, fit in cases():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = fit()
        written[name] = {"bits": digest(result), "error": result.relative_squared_error}
    return written


def compare(before: dict[str, Any], now: dict[str, Any]) -> int:
    changed = 0
    for name in sorted(before.keys() | now.keys()):
        if name not in before or name not in now:
            print(f"{name}: only {'before' if name in before else 'now'}")
        elif before[name]["bits"] != now[name]["bits"]:
            changed += 1
            old, new = before[name]["error"], now[name]["error"]
            print(f"{name}: other bits, error {old:.9g} -> {new:.9g} ({new - old:+.1e})")
    print(f"{len(now) - changed} of {len(now)} fits have the same bits")
    return 1 if changed else 0


if __name__ == "__main__":
    act, path = sys.argv[1], Path(sys.argv[2])
    if act == "record":
        path.write_text(json.dumps(measure(), indent=1))
    else:
        sys.exit(compare(json.loads(path.read_text()), measure()))
