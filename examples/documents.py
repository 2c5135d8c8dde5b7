"""
Documents: topics that do not overlap
=====================================

Reference pages are sorted into topics, and every topic is named by its words. The documents are
the docstrings of five SciPy packages: real prose, always there, and we know which package each
page came from, so the topics can be checked.

``python examples/documents.py topics.png`` writes the picture to a file.
"""

# %%
# The documents
# -------------
# One for every public function or class.

import inspect
import sys

import matplotlib.pyplot as plt
import numpy as np
from scipy import fft, ndimage, optimize, signal, sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_rand_score

from orthonmf import OrthogonalNMF

PACKAGES = {
    "fft": fft,
    "ndimage": ndimage,
    "optimize": optimize,
    "signal": signal,
    "sparse": sparse,
}
documents, origins = [], []
for name, package in PACKAGES.items():
    for entry in package.__all__:
        text = inspect.getdoc(getattr(package, entry)) or ""
        if len(text) > 400 and not inspect.ismodule(getattr(package, entry)):
            documents.append(text)
            origins.append(name)
print(f"{len(documents)} documents from {len(PACKAGES)} packages")

# %%
# Words as numbers
# ----------------
# Counts, weighted by how telling a word is: sparse and non-negative, which is all that is asked
# for.

vectorizer = TfidfVectorizer(stop_words="english", min_df=5, max_df=0.4, sublinear_tf=True)
X = vectorizer.fit_transform(documents)
words = vectorizer.get_feature_names_out()
print(X.shape, f"{X.nnz / np.prod(X.shape):.1%} of the entries are not zero")

# %%
# Topics
# ------
# Every document belongs to one topic. There is nothing to tune but the number of topics;
# ``n_init=4`` plays four tournaments of starts instead of one. The certificate says how much
# better any other sorting into five topics could be.

model = OrthogonalNMF(5, n_init=4, random_state=0).fit(X)
print(model.certificate_)
agreement = adjusted_rand_score(origins, model.labels_)
print(f"agreement with the packages (adjusted Rand index): {agreement:.2f}")

# %%
# The picture
# -----------
# The strongest words of every topic, and where its documents came from.

figure, axes = plt.subplots(2, 5, figsize=(15, 6), height_ratios=[2, 1], layout="constrained")
for topic, (upper, lower) in enumerate(axes.T):
    strongest = np.argsort(model.components_[topic])[-8:]
    upper.barh(words[strongest], model.components_[topic, strongest], color=f"C{topic}")
    members = model.labels_ == topic
    upper.set_title(f"topic {topic + 1}: {members.sum()} documents")
    counts = [np.sum(members & (np.array(origins) == name)) for name in PACKAGES]
    lower.bar(list(PACKAGES), counts, color=f"C{topic}")
    lower.tick_params(axis="x", rotation=45)
figure.suptitle(f"{len(documents)} documents in 5 topics that do not overlap")
if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=100)
    print(f"picture: {sys.argv[1]}")
plt.show()
