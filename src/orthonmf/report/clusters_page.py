"""The page of a clustering of a graph: clusters, the matrix ordered by them, disagreements.

Clusters with both sides are disjoint blocks of ones, so the pictures are those of a factorization
whose answer is 1 inside of them: what is left are the disagreements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from orthonmf.certificate import Certificate
from orthonmf.engine.loadings import one_per_row
from orthonmf.factorization import Factorization
from orthonmf.report.findings import find
from orthonmf.report.page import render
from orthonmf.report.pictures import pictures
from orthonmf.report.story import Story, count
from orthonmf.typing import Array

# Smaller clusters than the first so many are counted, and drawn as if they were none.
MOST_CLUSTERS = 60
MOST_NAMES = 8
LINKS = (("Clusters", "#overview"), ("Matrix", "#matrix"), ("Find", "#find"), ("Proof", "#proven"))


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """A clustering to write about.

    ``edges`` (n, m) is the 0/1 matrix; labels (n,) and (m,) number the ``n_clusters`` clusters
    with both sides from 0, the largest first. Larger labels are those of single vertices.
    """

    edges: Any
    row_labels: Array
    column_labels: Array
    n_clusters: int
    disagreements: int
    certificate: Certificate


def clusters_page(
    clustering: Clusters,
    source: str,
    row_names: Sequence[str] | None = None,
    column_names: Sequence[str] | None = None,
    version: str = "",
) -> str:
    """Write a clustering as HTML."""
    result = as_factorization(clustering)
    findings = find(clustering.edges, result)
    story = Story(
        result, findings, source, row_names, column_names, version=version, part="cluster"
    )
    (n, m), n_clusters = story.shape, clustering.n_clusters
    alone_rows, alone_columns = (
        int((labels >= n_clusters).sum())
        for labels in (clustering.row_labels, clustering.column_labels)
    )
    return render(
        "clusters.html",
        title=f"{source}: {n_clusters} clusters",
        links=LINKS,
        story=story,
        headline=f"{count(n_clusters, 'cluster')} with "
        f"{count(clustering.disagreements, 'disagreement')} in {source}",
        lead=f"{n:,} rows \N{MULTIPLICATION SIGN} {m:,} columns, {int(clustering.edges.sum()):,} "
        "edges. A disagreement is an edge between clusters or a missing edge inside one. In no "
        f"cluster: {alone_rows:,} rows and {alone_columns:,} columns.",
        clusters=[_about(clustering, story, at) for at in range(result.n_components_found)],
        n_more=n_clusters - result.n_components_found,
        certificate=clustering.certificate,
        **pictures(story, story.part),
    )


def as_factorization(clustering: Clusters) -> Factorization:
    """The answer of a clustering as disjoint blocks: 1 inside of the clusters that are shown."""
    k = min(clustering.n_clusters, MOST_CLUSTERS)
    rows, columns = (
        np.where(labels < k, labels, -1).astype(np.int32)
        for labels in (clustering.row_labels, clustering.column_labels)
    )
    widths = np.bincount(columns[columns >= 0], minlength=k).astype(np.float64)
    components = np.zeros((k, len(columns)))
    inside = np.flatnonzero(columns >= 0)
    components[columns[inside], inside] = 1.0 / np.sqrt(widths[columns[inside]])
    scales = np.where(rows >= 0, np.sqrt(np.append(widths, 0.0)[rows]), 0.0)
    return Factorization(
        orthogonal="both",
        n_components=k,
        components=components,
        loadings=one_per_row(rows, scales, k),
        labels=rows,
        scales=scales,
        feature_labels=columns,
        feature_scales=components.max(axis=0, initial=0.0),
        error=float(np.sqrt(clustering.disagreements)),
        relative_squared_error=clustering.disagreements / max(1, int(clustering.edges.sum())),
    )


def _about(clustering: Clusters, story: Story, cluster: int) -> dict[str, Any]:
    rows, columns = story.findings.rows_of(cluster), story.findings.columns_of(cluster)
    edges = int(clustering.edges[rows][:, columns].sum())
    return {
        "rows": len(rows),
        "columns": len(columns),
        "edges": edges,
        "full": edges / (len(rows) * len(columns)),
        "some_rows": _some(rows, story.row),
        "some_columns": _some(columns, story.column),
    }


def _some(members: Array, name: Callable[[int], str]) -> str:
    shown = ", ".join(name(int(member)) for member in members[:MOST_NAMES])
    more = len(members) - MOST_NAMES
    return f"{shown} and {more:,} more" if more > 0 else shown
