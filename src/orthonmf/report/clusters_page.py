"""The page of a clustering of a graph: clusters, the matrix ordered by them, disagreements.

Clusters with both sides are disjoint blocks of ones, so the pictures are those of a factorization
whose answer is 1 inside of them: what is left are the disagreements.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from orthonmf.engine.loadings import one_per_row
from orthonmf.estimators.bipartite_correlation_clustering import BipartiteCorrelationClustering
from orthonmf.factorization import Factorization
from orthonmf.report.findings import find
from orthonmf.report.page import render
from orthonmf.report.pictures import pictures
from orthonmf.report.story import Story
from orthonmf.vectors import divide

# Smaller clusters than the first so many are counted, and drawn as if they were none.
MOST_CLUSTERS = 60


def clusters_page(model: BipartiteCorrelationClustering, edges: Any, source: str) -> str:
    """Write what a model found in a graph as HTML; ``edges`` (n, m) is the 0/1 matrix."""
    result = as_factorization(model, edges)
    story = Story(result, find(edges, result), source, part="cluster")
    n_clusters, findings = len(model.rows_), story.findings
    members = [
        (findings.rows_of(cluster), findings.columns_of(cluster))
        for cluster in range(result.n_components_found)
    ]
    return render(
        "clusters.html",
        title=f"{source}: {n_clusters} clusters",
        story=story,
        model=model,
        n_edges=int(edges.sum()),
        alone=[
            np.count_nonzero(labels >= n_clusters)
            for labels in (model.row_labels_, model.column_labels_)
        ],
        inside=[int(edges[rows][:, columns].sum()) for rows, columns in members],
        n_more=n_clusters - result.n_components_found,
        **pictures(story),
    )


def as_factorization(model: BipartiteCorrelationClustering, edges: Any) -> Factorization:
    """The answer of a model as disjoint blocks: 1 inside of the clusters that are shown."""
    k = min(len(model.rows_), MOST_CLUSTERS)
    rows, columns = (
        np.where(labels < k, labels, -1).astype(np.int32)
        for labels in (model.row_labels_, model.column_labels_)
    )
    roots = np.append(np.sqrt(np.bincount(columns[columns >= 0], minlength=k)), 0.0)
    weights, scales = divide(np.ones(k + 1), roots)[columns], roots[rows]  # the last of none
    return Factorization(
        orthogonal="both",
        n_components=k,
        components=one_per_row(columns, weights, k).T.toarray(),
        loadings=one_per_row(rows, scales, k),
        labels=rows,
        scales=scales,
        feature_labels=columns,
        feature_scales=weights,
        error=float(np.sqrt(model.disagreements_)),
        relative_squared_error=model.disagreements_ / max(1, int(edges.sum())),
        sample_names=None if model.row_names_ is None else tuple(model.row_names_),
        feature_names=None if model.column_names_ is None else tuple(model.column_names_),
    )
