"""How good the answers are. `python -m benchmarks.quality [sets default single double ...]`."""

import argparse
import time
import warnings

import numpy as np
from sklearn.metrics import adjusted_rand_score

import orthant
from orthant.bench.data import real
from orthant.bench.machine import machine
from orthant.bench.rivals import CONTESTANTS, block_error, error_of
from orthant.bench.table import machine_line
from orthant.datasets import make_planted
from orthant.onmf.choices import SETTINGS
from orthant.reproduction.paper import PUBLISHED

SETS = [name for name in PUBLISHED if name != "pems-train"]


def fit_real_sets(n_init, seeds):
    print(f"relative squared error, k=6, n_init={n_init}: median (largest) of {seeds} seeds")
    for name in SETS:
        X = real(name).make()
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


def prove_real_sets():
    print("certificates, k=6: relative squared error, lower bound, ratio, seconds")
    for name in SETS:
        X = real(name).make()
        for setting in SETTINGS:
            fit = orthant.factorize(X, 6, orthogonal=setting, random_state=0)
            proof = fit.certificate
            print(
                f"{name:25s} {setting:9s} {fit.relative_squared_error:.5f} "
                f"{proof.lower_bound:.5f} {proof.ratio:.4f} {proof.seconds:.2f} s next to "
                f"{fit.seconds:.2f} s, {proof.method}",
                flush=True,
            )


def fit_planted_rows(seeds=10):
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


def fit_planted_blocks(seeds=3):
    print("planted blocks, 400 x 120, k=6: error / planted supports refitted, / spectral labels")
    for noise in (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0):
        for seed in range(seeds):
            data = make_planted(400, 120, 6, noise, orthogonal="both", random_state=seed)
            fit = orthant.factorize(
                data.X, 6, orthogonal="both", n_init=10, random_state=seed, certificate=None
            )
            planted = block_error(data.X, data.labels, data.feature_labels)
            theirs = error_of(data.X, CONTESTANTS["co-clustering"](data.X, 6, 0))
            print(
                f"noise {noise} seed {seed}: {fit.relative_squared_error / planted:.4f} "
                f"{fit.relative_squared_error / theirs:.4f}, {fit.n_components_found} blocks, "
                f"{fit.seconds:.1f} s",
                flush=True,
            )


def prove_by_duals(seeds=2):
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


STUDIES = {
    "sets": lambda: fit_real_sets(10, 1),
    "default": lambda: fit_real_sets(1, 5),
    "certificates": prove_real_sets,
    "single": fit_planted_rows,
    "double": fit_planted_blocks,
    "dual": prove_by_duals,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("studies", nargs="*", default=list(STUDIES), help=", ".join(STUDIES))
    warnings.simplefilter("ignore", orthant.FewerComponentsWarning)
    started = time.perf_counter()
    print(machine_line({"machine": machine()}))
    for study in parser.parse_args().studies:
        STUDIES[study]()
        print(flush=True)
    print(f"{time.perf_counter() - started:.0f} s")
