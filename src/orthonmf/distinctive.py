"""What makes a component different: heavy features that weigh more in it than in any other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from orthonmf.typing import Array

MATTERS = 0.9  # the heaviest features that hold so much of a component's energy matter in it
AHEAD = 1.05  # below so many times the weight in any other component a difference is noise
N_NAMES = 3


def distinctive_features(components: Array, count: int) -> list[Array]:
    """Features that make every component different, the most distinctive first, at most ``count``.

    A feature of the (k, m) components, which have one length, is listed where it matters (it is
    among the heaviest, which together hold nine tenths of the squared weights) and is ahead (it
    weighs more than in any other component). So no feature is listed twice. What counts is its
    weight times the logarithm of how far it is ahead. A component without such a feature lists
    its heaviest that matter. With one component, and where components share no feature, these
    are the same.
    """
    chosen = []
    for weights, elsewhere in _compare(components):
        heaviest = np.argsort(-weights, kind="stable")[: np.count_nonzero(weights)]
        energies = np.cumsum(np.square(weights[heaviest]))
        n_matter = 1 + np.searchsorted(energies, MATTERS * energies[-1]) if len(energies) else 0
        matter = heaviest[:n_matter]
        own, other = weights[matter], elsewhere[matter]
        ahead = own > AHEAD * other
        scores = own[ahead] * np.log(2 * own[ahead] / (own[ahead] + other[ahead]))
        best = matter[ahead][np.argsort(-scores, kind="stable")]
        chosen.append(best[:count] if len(best) else matter[:count])
    return chosen


def times_ahead(components: Array, component: int, features: Array) -> Array:
    """How many times as much features weigh in a component as in any other one; inf if only here.

    ``features`` (c,) are columns of the (k, m) components in which this one is not zero.
    """
    weights = np.asarray(components[:, features], dtype=np.float64)
    elsewhere = np.delete(weights, component, axis=0).max(axis=0, initial=0.0)
    with np.errstate(divide="ignore", over="ignore"):
        return weights[component] / np.where(elsewhere > 1e-12 * weights[component], elsewhere, 0.0)


def name_components(components: Array, feature_names: Sequence[str]) -> list[str]:
    """What the components could be called: their most distinctive features; no name comes twice.

    Components that nothing tells apart, as two of one profile, have their number in the name.
    """
    features = distinctive_features(components, N_NAMES)
    lists = [[feature_names[column] for column in columns] for columns in features]
    sets = [frozenset(names) for names in lists]
    return [
        ", ".join(names) if sets.count(members) == 1 else f"{', '.join(names)} ({component})"
        for component, (names, members) in enumerate(zip(lists, sets, strict=True))
    ]


def _compare(components: Array) -> list[tuple[Array, Array]]:
    """The weights (m,) of every component and the largest that its features have elsewhere (m,)."""
    weights = np.asarray(components, dtype=np.float64)
    if len(weights) < 2:
        return [(own, np.zeros_like(own)) for own in weights]
    second, largest = np.partition(weights, len(weights) - 2, axis=0)[-2:]
    return [(own, np.where(own == largest, second, largest)) for own in weights]
