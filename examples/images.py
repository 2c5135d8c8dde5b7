"""
Images: regions of pixels that do not overlap
=============================================

Over features every pixel belongs to one component, so components are regions and the loadings say
how much ink an image has in each: a compact description that a classifier can use.

``python examples/images.py regions.png`` writes the picture to a file.
"""

# %%
# Handwritten digits
# ------------------
# 1,797 images of 8 x 8 pixels, shipped with scikit-learn.

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from orthonmf import OrthogonalNMF

digits = load_digits()
X, y = digits.data, digits.target

# %%
# Sixteen regions
# ---------------
# ``score`` is the share of the squared ink that is explained.

model = OrthogonalNMF(16, orthogonal="features", n_init=10, random_state=0).fit(X)
print(f"explained: {model.score(X):.1%} of the squared ink")
print(model.certificate_)
rebuilt = model.inverse_transform(model.transform(X))

# %%
# A step of a pipeline
# --------------------
# The loadings as features of a classifier: the regions are learned from the training images
# alone.

train, test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
regions = OrthogonalNMF(16, orthogonal="features", n_init=4, random_state=0)
pipeline = make_pipeline(regions, StandardScaler(), LogisticRegression(max_iter=2000))
pipeline.fit(train, y_train)
print(f"accuracy from 16 numbers instead of 64 pixels: {pipeline.score(test, y_test):.1%}")

# %%
# The picture
# -----------
# The map of regions, and digits rebuilt from sixteen numbers each.

figure = plt.figure(figsize=(11, 3.6), layout="constrained")
left, right = figure.subfigures(1, 2, width_ratios=[1, 1.6])
axes = left.subplots()
labels = np.where(model.feature_labels_ >= 0, model.feature_labels_, np.nan).reshape(8, 8)
axes.imshow(labels, cmap="tab20")
axes.set(title="16 regions that do not overlap", xticks=[], yticks=[])
for (upper, lower), image, fitted in zip(right.subplots(2, 8).T, X, rebuilt, strict=False):
    upper.imshow(image.reshape(8, 8), cmap="gray_r")
    lower.imshow(fitted.reshape(8, 8), cmap="gray_r")
    for one in (upper, lower):
        one.set(xticks=[], yticks=[])
right.suptitle("digits (above) and what 16 numbers keep of them (below)")
if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=100)
    print(f"picture: {sys.argv[1]}")
plt.show()
