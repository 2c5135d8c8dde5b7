"""Exact weighted k-means, by trying every partition."""

import numpy as np

from tests.oracles.partitions import partitions


def kmeans_cost(points: np.ndarray, weights: np.ndarray, labels: np.ndarray) -> float:
    """The weighted squared distance of points to the weighted means of their groups."""
    cost = 0.0
    for group in np.unique(labels):
        inside = labels == group
        mean = np.average(points[inside], axis=0, weights=weights[inside])
        cost += float(weights[inside] @ np.sum((points[inside] - mean) ** 2, axis=1))
    return cost


def exact_kmeans(points: np.ndarray, weights: np.ndarray, k: int, rng: object = None) -> np.ndarray:
    """Labels of an optimal clustering; ``points`` are dense, ``weights`` positive.

    The signature is that of the ``kmeans=`` plug-in of ``orthant.factorize``.
    """
    return min(partitions(len(points), k), key=lambda labels: kmeans_cost(points, weights, labels))
