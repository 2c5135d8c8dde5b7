"""Which ratio a theorem gives for a clustering: what may be promised before the data are seen."""

from __future__ import annotations

from dataclasses import dataclass

from orthant.kmeans.clustering import Clustering


@dataclass(frozen=True, slots=True)
class APriori:
    """A ratio that an algorithm promises, of its kind; or why it promises none."""

    ratio: float | None = None
    kind: str | None = None  # "always" | "expected"
    reason: str = ""


def single_from_means(clusters: Clustering) -> APriori:
    """Theorem 3: k-means within r gives a squared error within 2r."""
    if clusters.ratio is None:
        return APriori(reason=clusters.reason)
    return APriori(2.0 * clusters.ratio.value, clusters.ratio.kind)
