"""Documents: sort reference pages into topics that do not overlap, and name every topic.

The documents are the docstrings of five SciPy packages: real prose, always there, and we know
which package each page came from, so the topics can be checked.

    python examples/documents.py topics.png
"""

# %% The documents: one per public function or class.
import inspect
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from scipy import fft, ndimage, optimize, signal, sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_rand_score

from orthant import OrthogonalNMF

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

# %% Words as counts weighted by how telling they are: sparse, non-negative.
vectorizer = TfidfVectorizer(stop_words="english", min_df=5, max_df=0.4, sublinear_tf=True)
X = vectorizer.fit_transform(documents)
words = vectorizer.get_feature_names_out()

# %% Every document belongs to one topic. No knob but the number of topics.
model = OrthogonalNMF(5, n_init=4, random_state=0).fit(X)
print(model.certificate_)
agreement = adjusted_rand_score(origins, model.labels_)
print(f"agreement with the packages (adjusted Rand index): {agreement:.2f}")

# %% A picture: the strongest words of every topic, and where its documents came from.
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
path = sys.argv[1] if len(sys.argv) > 1 else "documents.png"
figure.savefig(path, dpi=100)
print(f"picture: {path}")
