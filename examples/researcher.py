"""
Checking the paper: promises, proofs and a method of your own
=============================================================

A ratio that is promised before any data are seen, the ratio that is proven afterwards, and the one
that planted data let us see: three numbers that should never contradict each other. Then an earlier
method and one of our own, judged by the same measure.

``python examples/researcher.py researcher.png`` writes the picture to a file.
"""

# %%
# Promised, proven, seen
# ----------------------
# The paper's algorithm with its k-means++ promises a ratio on average. The certificate proves one
# for this very answer, whatever the noise is.

import sys

import matplotlib.pyplot as plt
import numpy as np

import orthonmf
from orthonmf.baselines import Baseline, Iterate, solve

noises = [0.1, 0.4, 1.0]
proven, errors = [], {"paper": [], "best": [], "hals": [], "own-nmf": []}
for noise in noises:
    planted = orthonmf.datasets.make_planted(80, 24, 4, noise, random_state=0)
    paper = orthonmf.factorize(planted.X, 4, algorithm="paper", certificate="tight", random_state=0)
    best = orthonmf.factorize(planted.X, 4, certificate="tight", n_init=3, random_state=0)
    assert best.certificate.ratio <= paper.promise.ratio
    proven.append((paper.certificate.ratio, best.certificate.ratio))
    errors["paper"].append(paper.relative_squared_error)
    errors["best"].append(best.relative_squared_error)
print(f"promised {paper.promise.ratio:.2f} times, on average")
print(f"proven for the best answers: {', '.join(f'{one:.4f}' for _, one in proven)}")


# %%
# A method of your own
# --------------------
# It yields the factors after every iteration; who hardens, measures and stops is not its concern.


def updates(M, k, *, rng):
    A, W = rng.random((M.shape[0], k)), rng.random((k, M.shape[1]))
    while True:
        yield Iterate(A, W)
        A = A * (M @ W.T) / (A @ (W @ W.T) + 1e-12)
        W = W * (A.T @ M) / ((A.T @ A) @ W + 1e-12)


OWN = Baseline("own-nmf", "Own updates", ("this page",), updates, max_iter=200, tol=1e-4)
for noise in noises:
    X = orthonmf.datasets.make_planted(80, 24, 4, noise, random_state=0).X
    for name, method in (("hals", "hals"), ("own-nmf", OWN)):
        found = solve(method, X, 4, random_state=0, time_limit=1)
        errors[name].append(found.hardened.relative_squared_error)

# %%
# All of them, at exact orthogonality
# -----------------------------------
# A smaller error of a soft method is no contradiction; hardened, it is above what is possible.

figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
smallest = np.array(errors["best"]) / [one for _, one in proven]
for name, label in (
    ("paper", "ONMF-apx (the paper)"),
    ("best", "orthonmf, three starts"),
    ("hals", "HALS, hardened"),
    ("own-nmf", "own updates, hardened"),
):
    axes.plot(noises, np.array(errors[name]) / smallest, marker="o", label=label)
axes.axhline(1.0, color="black", linewidth=1, label="no error can be below")
axes.set(xlabel="noise", ylabel="squared error / proven bound")
axes.legend(frameon=False)

if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=120)
    print(f"picture in {sys.argv[1]}")
plt.show()
