"""The door for a k-means function of the user, and for the ratio that it claims."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from typing import Any

import numpy as np

from orthonmf.certificate import KINDS, Promise
from orthonmf.engine.points import Points
from orthonmf.errors import InvalidInputError
from orthonmf.kmeans.lloyd import Clustering, cluster_weights
from orthonmf.typing import Array
from orthonmf.vectors import divide


def call_subroutine(
    subroutine: Callable[..., Any], points: Points, k: int, rng: np.random.Generator
) -> Clustering:
    """Call a k-means of the user's with (normalized non-zero points, weights, k, rng).

    It returns labels, or something with ``labels`` (or scikit-learn's ``labels_``) that may also
    carry ``ratio``, or else the function itself does: that number is trusted as the subroutine's
    guarantee, of the ``kind`` "always" (if it names none) or "expected". A number that cannot be
    one is refused.
    """
    heavy = np.flatnonzero(points.weights > 0)
    answer = subroutine(points.coordinates()[heavy], points.weights[heavy], k, rng)
    given = getattr(answer, "labels", getattr(answer, "labels_", answer))
    returned = np.asarray(given)
    if returned.shape != heavy.shape or returned.dtype.kind not in "iu":
        raise InvalidInputError(
            f"kmeans must return one integer label for each of the {len(heavy)} points; got "
            f"shape {returned.shape} of dtype {returned.dtype}"
        )
    if len(returned) and (returned.min() < 0 or returned.max() >= k):
        place = int(np.flatnonzero((returned < 0) | (returned >= k))[0])
        raise InvalidInputError(
            f"kmeans must return labels from 0 to {k - 1}; label {place} is {returned[place]}"
        )
    labels = np.full(len(points.weights), -1, dtype=np.int32)
    labels[heavy] = returned
    claims = subroutine if getattr(answer, "ratio", None) is None else answer
    return cluster_by_labels(points, labels, k, read_promise(claims))


def read_promise(answer: Any) -> Promise:
    """What a subroutine of the user claims of its clustering, if that can be a claim at all."""
    ratio, kind = getattr(answer, "ratio", None), getattr(answer, "kind", "always")
    if ratio is None:
        return Promise(
            reason="the k-means subroutine claims no ratio; it may have an attribute of that name"
        )
    number = isinstance(ratio, numbers.Real) and not isinstance(ratio, bool | np.bool_)
    if not number or not 1.0 <= float(ratio) < math.inf:
        raise InvalidInputError(
            f"the ratio that kmeans claims is {ratio!r}; it must be a finite number of at least 1 "
            "(the cost divided by the smallest possible), or None to claim nothing"
        )
    if kind not in KINDS:
        raise InvalidInputError(
            f"the kind of the ratio that kmeans claims is {kind!r}; it must be 'always' or "
            "'expected'"
        )
    return Promise(float(ratio), kind)


def cluster_by_labels(points: Points, labels: Array, k: int, promise: Promise) -> Clustering:
    """The clustering of given labels (N,): means, weights and cost."""
    weights = cluster_weights(points, labels, k)
    centers = divide(points.sums(labels, k), weights[:, None])
    products, squares = points.cosines_with(centers)
    inside = np.flatnonzero(labels >= 0)
    distances = 1.0 - 2.0 * products[inside, labels[inside]] + squares[labels[inside]]
    cost = float(points.weights[inside] @ np.maximum(distances, 0.0))
    return Clustering(labels, centers, weights, cost, promise, n_sweeps=1, history=(cost,))
