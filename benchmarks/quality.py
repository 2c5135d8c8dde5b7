"""How good the answers are. `python -m benchmarks.quality [sets default single double ...]`."""

import argparse
import os
import time
import warnings
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array, load_npz
from sklearn.cluster import SpectralCoclustering
from sklearn.metrics import adjusted_rand_score

import orthant
from orthant.datasets import make_planted

SETS = {
    "Amazon Commerce Reviews": "amazon_commerce_reviews.npz",
    "Arcene": "arcene_train.npz",
    "Mfeat Pix": "mfeat_pix.npz",
    "KOS": "bow_kos.npz",
    "NIPS": "bow_nips.npz",
}
SETTINGS = ("samples", "features", "both")


def load(file):
    path = Path(os.environ.get("ORTHANT_DATA_HOME", "../shared/data")) / file
    with np.load(path) as held:
        if "X" in held:
            return held["X"].astype(float)
    return csr_array(load_npz(path)).astype(float)


def real_sets(n_init, seeds):
    print(f"relative squared error, k=6, n_init={n_init}: median (largest) of {seeds} seeds")
    for name, file in SETS.items():
        X = load(file)
        for setting in SETTINGS:
            fits = [
                orthant.factorize(
                    X, 6, orthogonal=setting, n_init=n_init, random_state=seed, certificate=None
                )
                for seed in range(seeds)
            ]
            errors = [fit.relative_squared_error for fit in fits]
            seconds = np.median([fit.seconds for fit in fits])
            print(
                f"{name:25s} {setting:9s} {np.median(errors):.6f} ({max(errors):.6f}) "
                f"{fits[0].n_components_found} components, {seconds:.2f} s",
                flush=True,
            )


def certificates():
    print("certificates, k=6: relative squared error, lower bound, ratio, seconds")
    for name, file in SETS.items():
        X = load(file)
        for setting in SETTINGS:
            fit = orthant.factorize(X, 6, orthogonal=setting, random_state=0)
            proof = fit.certificate
            print(
                f"{name:25s} {setting:9s} {fit.relative_squared_error:.5f} "
                f"{proof.lower_bound:.5f} {proof.ratio:.4f} {proof.seconds:.2f} s beside "
                f"{fit.seconds:.2f} s, {proof.method}",
                flush=True,
            )


def planted_single(seeds=10):
    print("planted over samples, 5,000 x 100, k=10, noise 1.0: error / descent from planted labels")
    for seed in range(seeds):
        data = make_planted(5000, 100, 10, 1.0, random_state=seed)
        start = np.array([data.X[data.labels == s].sum(axis=0) for s in range(10)])
        planted = orthant.factorize(data.X, 10, seeding=start, random_state=0, certificate=None)
        ours = orthant.factorize(data.X, 10, n_init=10, random_state=seed, certificate=None)
        single = orthant.factorize(data.X, 10, random_state=seed, certificate=None)
        base = planted.relative_squared_error
        print(
            f"seed {seed}: n_init=10 {ours.relative_squared_error / base - 1:+.1e}, "
            f"default {single.relative_squared_error / base - 1:+.1e}; adjusted Rand index "
            f"{adjusted_rand_score(data.labels, ours.labels):.4f} against "
            f"{adjusted_rand_score(data.labels, planted.labels):.4f}, {ours.seconds:.1f} s",
            flush=True,
        )


def blockwise_error(X, rows, columns):
    """Squared error of the best rank-one fit of every block (rows == s, columns == s)."""
    captured = 0.0
    for block in np.intersect1d(rows, columns):
        part = X[np.ix_(rows == block, columns == block)]
        captured += np.linalg.norm(part, 2) ** 2
    return np.sum(X**2) - captured


def planted_double(seeds=3):
    print("planted blocks, 400 x 120, k=6: error / planted supports refitted, / spectral labels")
    for noise in (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0):
        for seed in range(seeds):
            data = make_planted(400, 120, 6, noise, orthogonal="both", random_state=seed)
            fit = orthant.factorize(
                data.X, 6, orthogonal="both", n_init=10, random_state=seed, certificate=None
            )
            planted = blockwise_error(data.X, data.labels, data.feature_labels)
            spectral = SpectralCoclustering(6, random_state=0).fit(data.X)
            theirs = blockwise_error(data.X, spectral.row_labels_, spectral.column_labels_)
            print(
                f"noise {noise} seed {seed}: {fit.error**2 / planted:.4f} "
                f"{fit.error**2 / theirs:.4f}, {fit.n_components_found} blocks, "
                f"{fit.seconds:.1f} s",
                flush=True,
            )


def dual(seeds=2):
    print("dual certificate, 200 x 100, k=10: ratio, seconds")
    for noise in (0.1, 0.2, 0.5, 1.0):
        for seed in range(seeds):
            X = make_planted(200, 100, 10, noise, random_state=seed).X
            fit = orthant.factorize(X, 10, n_init=10, random_state=0, certificate="dual")
            print(
                f"noise {noise} seed {seed}: {fit.certificate.ratio:.4f} "
                f"{fit.certificate.seconds:.1f} s",
                flush=True,
            )


PARTS = {
    "sets": lambda: real_sets(10, 1),
    "default": lambda: real_sets(1, 5),
    "certificates": certificates,
    "single": planted_single,
    "double": planted_double,
    "dual": dual,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=list(PARTS), help=", ".join(PARTS))
    warnings.simplefilter("ignore", orthant.FewerComponentsWarning)
    started = time.perf_counter()
    for part in parser.parse_args().parts:
        PARTS[part]()
        print(flush=True)
    print(f"{time.perf_counter() - started:.0f} s")
