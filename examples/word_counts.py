"""
Word counts: what is a topic made of?
=====================================

The documents of the other example again, as plain counts of their words: once under the squared
error, where a few heavy words decide, and once under the Kullback-Leibler divergence, where shares
of a document count.

``python examples/word_counts.py words.png`` writes the picture to a file.
"""

# %%
# Counts of words
# ---------------
# No weights, no logarithms: how often every word stands in every docstring.

import inspect
import sys

import matplotlib.pyplot as plt
import numpy as np
from scipy import fft, ndimage, optimize, signal, sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import adjusted_rand_score

import orthonmf

packages = {"fft": fft, "ndimage": ndimage, "optimize": optimize, "signal": signal}
packages["sparse"] = sparse
documents, origins = [], []
for name, package in packages.items():
    for entry in package.__all__:
        text = inspect.getdoc(getattr(package, entry)) or ""
        if len(text) > 400 and not inspect.ismodule(getattr(package, entry)):
            documents.append(text)
            origins.append(name)
vectorizer = CountVectorizer(stop_words="english", min_df=5)
X = vectorizer.fit_transform(documents)
words = vectorizer.get_feature_names_out()
print(f"{len(documents)} documents, {len(words)} words, {X.sum():,} counts")

# %%
# Two losses
# ----------
# Five groups each, compared with the packages that the documents came from.

for loss in ("frobenius", "kullback-leibler"):
    result = orthonmf.factorize(X, 5, beta_loss=loss, feature_names=words, random_state=0)
    agreement = adjusted_rand_score(origins, result.labels)
    print(f"{loss}: agreement with the packages (adjusted Rand index) {agreement:.2f}")
    print("\n".join(f"  caution: {caution}" for caution in result.cautions))

# %%
# What is kept
# ------------
# Every group keeps a share of the information that documents hold about words, and its words are
# those that add most to it.

print(f"{1 - result.relative_error:.1%} of the information is kept")
for group, (share, names) in enumerate(
    zip(result.information_shares, result.top_features(7), strict=True)
):
    members = np.flatnonzero(result.labels == group)
    print(f"group {group}: {len(members)} documents, {share:.1%}: {', '.join(names)}")

# %%
# The picture
# -----------
# A word tells as much about a group as it is more frequent there than in all documents.

overall = result.scales @ result.loadings.astype(bool) @ result.components / X.sum()
figure, panels = plt.subplots(1, 5, figsize=(15, 4), layout="constrained")
for group, axes in enumerate(panels):
    profile = result.components[group]
    held = profile > 0
    told = np.zeros(len(words))
    told[held] = profile[held] * np.log(profile[held] / overall[held])
    strongest = np.argsort(told)[-8:]
    axes.barh(words[strongest], told[strongest], color=f"C{group}")
    axes.set_title(f"group {group}: {result.information_shares[group]:.1%} of the information")
figure.suptitle("what the words of every group tell (nats for each of its words)")
if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=100)
    print(f"picture: {sys.argv[1]}")
plt.show()
