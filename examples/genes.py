"""
Cells and genes: programs that share no gene
============================================

Which cells are of one type, and which genes make it? The counts are made on the spot the way
single-cell counts arise: four cell types, marker genes for each, sequencing depth that differs
from cell to cell, over-dispersed counts. As we made them, we can check the answer.

``python examples/genes.py programs.png`` writes the picture to a file.
"""

# %%
# Counts of 300 cells and 240 genes
# ---------------------------------
# Forty genes are at home in every cell.

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

from orthonmf import OrthogonalNMF, select_n_components

rng = np.random.default_rng(0)
types = rng.choice(4, size=300, p=[0.4, 0.3, 0.2, 0.1])
markers = np.repeat([0, 1, 2, 3, -1], [50, 50, 50, 50, 40])
level = np.where(markers == -1, 1.0, np.where(types[:, None] == markers, 4.0, 0.15))
depth = rng.lognormal(0.0, 0.4, size=(300, 1))
rate = depth * level * rng.lognormal(0.0, 0.5, size=240)
counts = rng.poisson(rng.gamma(2.0, rate / 2.0)).astype(float)

# %%
# The usual preparation: every cell to the same depth, then logarithms.

X = np.log1p(counts / counts.sum(axis=1, keepdims=True) * np.median(counts.sum(axis=1)))

# %%
# How many programs?
# ------------------
# For every number: the error and what no error can be below, the error on permuted data, and how
# well two halves of the cells agree.

selection = select_n_components(X, range(2, 8), random_state=0, n_repetitions=2)
print(selection)

# %%
# Blocks
# ------
# Over both sides every cell is in one type and every gene in one program; all else is zero.

model = OrthogonalNMF(selection.suggestion, orthogonal="both", random_state=0).fit(X)
print(model.certificate_)
marked = markers >= 0
print(f"cells, adjusted Rand index: {adjusted_rand_score(types, model.labels_):.2f}")
found = adjusted_rand_score(markers[marked], model.feature_labels_[marked])
print(f"marker genes, adjusted Rand index: {found:.2f}")

# %%
# Measurements that were lost
# ---------------------------
# A fifth of them here. They are left out of the error instead of being guessed first.

holes = rng.random(X.shape) < 0.2
with_holes = np.where(holes, np.nan, X)
gappy = OrthogonalNMF(4, missing_values=np.nan, n_init=5, random_state=0).fit(with_holes)
guessed = gappy.inverse_transform(gappy.transform(with_holes))[holes]
print(f"lost values against their guesses, correlation: {np.corrcoef(guessed, X[holes])[0, 1]:.2f}")

# %%
# The picture
# -----------
# The matrix as it came, and with its rows and columns ordered by block.

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
if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=100)
    print(f"picture: {sys.argv[1]}")
plt.show()
