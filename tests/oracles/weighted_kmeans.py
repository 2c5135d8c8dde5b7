"""Exact weighted k-means, by trying every partition."""

from functools import cache

import numpy as np

from tests.oracles.partitions import Group, group_sets, groups_of


def kmeans_cost(points: np.ndarray, weights: np.ndarray, labels: np.ndarray) -> float:
    """The weighted squared distance of points to the weighted means of their groups."""
    return sum(_cost_of_group(points, weights, group) for group in groups_of(labels))


def exact_kmeans(points: np.ndarray, weights: np.ndarray, k: int, rng: object = None) -> np.ndarray:
    """Labels of an optimal clustering; ``points`` are dense, ``weights`` positive.

    The signature is that of the ``kmeans=`` plug-in of ``orthonmf.factorize``.
    """

    @cache  # the same group is part of many partitions
    def cost(group: Group) -> float:
        return _cost_of_group(points, weights, group)

    labels = np.empty(len(points), dtype=np.int64)
    best = min(group_sets(len(points), k), key=lambda groups: sum(map(cost, groups)))
    for label, group in enumerate(best):
        labels[list(group)] = label
    return labels


def _cost_of_group(points: np.ndarray, weights: np.ndarray, group: Group) -> float:
    inside = list(group)
    mean = np.average(points[inside], axis=0, weights=weights[inside])
    return float(weights[inside] @ np.sum((points[inside] - mean) ** 2, axis=1))
