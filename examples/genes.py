"""Cells and genes: find programs of genes that share no gene, with missing measurements.

The counts are made on the spot the way single-cell counts arise: four cell types, marker genes for
each, sequencing depth that differs from cell to cell, over-dispersed counts.

    python examples/genes.py programs.png
"""

# %% Counts of 300 cells and 240 genes.
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

from orthant import OrthogonalNMF, select_n_components

rng = np.random.default_rng(0)
types = rng.choice(4, size=300, p=[0.4, 0.3, 0.2, 0.1])
markers = np.repeat([0, 1, 2, 3, -1], [50, 50, 50, 50, 40])  # -1: at home in every cell
level = np.where(markers == -1, 1.0, np.where(types[:, None] == markers, 4.0, 0.15))
depth = rng.lognormal(0.0, 0.4, size=(300, 1))
rate = depth * level * rng.lognormal(0.0, 0.5, size=240)
counts = rng.poisson(rng.gamma(2.0, rate / 2.0)).astype(float)

# %% The usual preparation: every cell to the same depth, then logarithms.
X = np.log1p(counts / counts.sum(axis=1, keepdims=True) * np.median(counts.sum(axis=1)))

# %% How many programs? Error, its lower bound, a permuted null and agreement of two halves.
selection = select_n_components(X, range(2, 8), random_state=0, n_repetitions=2)
print(selection)

# %% Blocks: every cell in one type and every gene in one program.
model = OrthogonalNMF(selection.suggestion, orthogonal="both", random_state=0).fit(X)
print(model.certificate_)
marked = markers >= 0
print(f"cells, adjusted Rand index: {adjusted_rand_score(types, model.labels_):.2f}")
found = adjusted_rand_score(markers[marked], model.feature_labels_[marked])
print(f"marker genes, adjusted Rand index: {found:.2f}")

# %% A fifth of the measurements lost: leave them out instead of guessing them.
holes = rng.random(X.shape) < 0.2
with_holes = np.where(holes, np.nan, X)
gappy = OrthogonalNMF(4, missing_values=np.nan, n_init=5, random_state=0).fit(with_holes)
guessed = gappy.inverse_transform(gappy.transform(with_holes))[holes]
print(f"lost values against their guesses, correlation: {np.corrcoef(guessed, X[holes])[0, 1]:.2f}")

# %% A picture: the matrix as it came, and in blocks.
figure, (raw, blocks) = plt.subplots(1, 2, figsize=(11, 6), layout="constrained")
raw.imshow(X, aspect="auto", cmap="magma", interpolation="nearest")
raw.set(title="as measured", xlabel="genes", ylabel="cells")
cells = np.argsort(model.labels_, kind="stable")
genes = np.argsort(model.feature_labels_, kind="stable")
blocks.imshow(X[np.ix_(cells, genes)], aspect="auto", cmap="magma", interpolation="nearest")
blocks.set(title=f"{model.n_components_} blocks", xlabel="genes by program", ylabel="cells by type")
for edge in np.cumsum(np.bincount(model.labels_[cells] + 1))[:-1]:
    blocks.axhline(edge, color="w", lw=0.5)
for edge in np.cumsum(np.bincount(model.feature_labels_[genes] + 1))[:-1]:
    blocks.axvline(edge, color="w", lw=0.5)
path = sys.argv[1] if len(sys.argv) > 1 else "genes.png"
figure.savefig(path, dpi=100)
print(f"picture: {path}")
