"""
Two sides: counts and images with a core between their groups
=============================================================

Rows and columns are grouped at the same time, and a core says how the groups meet. Documents are
drawn from five topics over words of very different frequency, and have very different lengths:
there the weights of correspondence analysis (:func:`orthonmf.chi_square_weights`) help. The
handwritten digits are what they are: there they hurt.

``python examples/two_sides.py two_sides.png`` writes the picture to a file.
"""

# %%
# Two tables whose groups of rows are known
# -----------------------------------------

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

import orthonmf

rng = np.random.default_rng(0)
n_words, n_topics, n_documents = 1000, 5, 600
common = 1.0 / np.arange(1, n_words + 1)
words = common * (rng.gamma(0.3, size=(n_topics, n_words)) + 0.5)
words /= words.sum(axis=1, keepdims=True)
topics = rng.integers(n_topics, size=n_documents)
lengths = rng.lognormal(4.5, 1.0, size=n_documents).astype(int) + 20
pairs = zip(lengths, topics, strict=True)
counts = np.array([rng.multinomial(length, words[topic]) for length, topic in pairs], dtype=float)
digits = load_digits()
tables = {
    "documents": (counts, topics, (n_topics, 10)),
    "images": (digits.data, digits.target, (10, 20)),
}

# %%
# Groups of rows and of columns
# -----------------------------
# With a core between them, without weights and with them.

agreements = {}
for name, (X, known, sizes) in tables.items():
    sample_weight, feature_weight = orthonmf.chi_square_weights(X)
    plain = orthonmf.factorize(X, sizes, orthogonal="both", random_state=0)
    weighted = orthonmf.factorize(
        X,
        sizes,
        orthogonal="both",
        sample_weight=sample_weight,
        feature_weight=feature_weight,
        random_state=0,
    )
    for title, result in (("plain", plain), ("weighted", weighted)):
        agreements[name, title] = adjusted_rand_score(known, result.labels)
        print(f"{name}, {title}: adjusted Rand index {agreements[name, title]:.2f}")
    if name == "documents":
        shown = weighted

# %%
# The picture
# -----------
# The counts ordered by both groups, and what was gained and lost.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
rows = np.argsort(shown.labels, kind="stable")
columns = np.lexsort((-shown.feature_scales, shown.feature_labels))
left.imshow(np.log1p(counts[np.ix_(rows, columns)]), aspect="auto", cmap="Blues", vmax=2)
for edge in np.flatnonzero(np.diff(shown.labels[rows])):
    left.axhline(edge + 0.5, color="k", lw=0.6)
for edge in np.flatnonzero(np.diff(shown.feature_labels[columns])):
    left.axvline(edge + 0.5, color="k", lw=0.6)
left.set(title="documents and words, ordered by group", xlabel="words", ylabel="documents")
for shift, title in ((-0.2, "plain"), (0.2, "weighted")):
    heights = [agreements[name, title] for name in tables]
    right.bar(np.arange(2) + shift, heights, 0.38, label=title)
right.set_xticks(range(2), list(tables))
right.set(title="agreement with what is known", ylabel="adjusted Rand index", ylim=(0, 1))
right.legend()
if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=100)
    print(f"picture: {sys.argv[1]}")
plt.show()
