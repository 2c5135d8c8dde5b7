"""The page of a clustering of a graph: clusters, the matrix ordered by them, disagreements.

Clusters with both sides are disjoint blocks of ones, so the pictures are those of a factorization
whose answer is 1 inside of them: what is left are the disagreements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from orthonmf.certificate import Certificate
from orthonmf.engine.loadings import one_per_row
from orthonmf.factorization import Factorization
from orthonmf.numerics.arrays import Array
from orthonmf.report.colors import own_color
from orthonmf.report.findings import find
from orthonmf.report.heatmap import heat_maps
from orthonmf.report.maps_section import TIP, maps_data, maps_section, search_section
from orthonmf.report.markup import Safe, remark, row, section, table, tag
from orthonmf.report.shell import write_page
from orthonmf.report.story import Story, count, percent, sentence

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
    found: Clusters,
    source: str,
    row_names: Sequence[str] | None = None,
    column_names: Sequence[str] | None = None,
    version: str = "",
) -> str:
    """Write a clustering as HTML."""
    result = as_factorization(found)
    story = Story(
        result, find(found.edges, result), source, row_names, column_names, part="cluster"
    )
    maps = heat_maps(story.findings, result)
    left = (
        "What is left are the disagreements: edges outside of clusters, and what is missing inside."
    )
    clusters = tag("div", _table(found, story), class_="wide", tabindex=0)
    proof = tag("p", sentence(str(found.certificate)), id="proof")
    sections = [
        _headline(found, story),
        section("The clusters", "overview", clusters),
        section("The matrix", "matrix", remark(left), maps_section(story, maps)),
        section("Find a name", "find", search_section(story)),
        section("What is proven", "proven", proof),
    ]
    made = tag("footer", tag("p", f"Made by orthonmf {version}.".replace(" .", ".")))
    title, data = f"{source}: {found.n_clusters} clusters", maps_data(story, maps)
    return write_page(title, LINKS, sections, after=[made, TIP], data=data, version=version)


def as_factorization(found: Clusters) -> Factorization:
    """The answer of a clustering as disjoint blocks: 1 inside of the clusters that are shown."""
    k = min(found.n_clusters, MOST_CLUSTERS)
    rows, columns = (
        np.where(labels < k, labels, -1).astype(np.int32)
        for labels in (found.row_labels, found.column_labels)
    )
    widths = np.bincount(columns[columns >= 0], minlength=k).astype(np.float64)
    components = np.zeros((k, len(columns)))
    inside = np.flatnonzero(columns >= 0)
    components[columns[inside], inside] = 1.0 / np.sqrt(widths[columns[inside]])
    scales = np.where(rows >= 0, np.sqrt(np.append(widths, 0.0)[rows]), 0.0)
    edges = max(1, int(found.edges.sum()))
    return Factorization(
        orthogonal="both",
        n_components=k,
        components=components,
        loadings=one_per_row(rows, scales, k),
        labels=rows,
        scales=scales,
        feature_labels=columns,
        feature_scales=components.max(axis=0, initial=0.0),
        error=float(np.sqrt(found.disagreements)),
        relative_squared_error=found.disagreements / edges,
        history=(),
        n_sweeps=0,
        steps_run=(),
    )


def _headline(found: Clusters, story: Story) -> Safe:
    n, m = story.shape
    edges = int(found.edges.sum())
    clusters = f"{found.n_clusters} cluster{'s' * (found.n_clusters != 1)}"
    wrong = count(found.disagreements, "disagreement")
    alone = [int((labels >= found.n_clusters).sum())
             for labels in (found.row_labels, found.column_labels)]  # fmt: skip
    text = (
        f"{n:,} rows \N{MULTIPLICATION SIGN} {m:,} columns, {edges:,} edges. A disagreement is an "
        f"edge between clusters or a missing edge inside one. In no cluster: {alone[0]:,} rows and "
        f"{alone[1]:,} columns."
    )
    return Safe(tag("h1", f"{clusters} with {wrong} in {story.source}")
                + tag("p", text, class_="lead"))  # fmt: skip


def _table(found: Clusters, story: Story) -> Safe:
    words = ("Cluster", "Rows", "Columns", "Edges inside", "Some rows", "Some columns")
    head = [tag("th", word, scope="col", class_="text") for word in words]
    k = story.result.n_components_found
    body = [_row(found, story, cluster) for cluster in range(k)]
    if found.n_clusters > k:
        rest = f"and {found.n_clusters - k:,} smaller clusters, drawn as none"
        body.append(tag("tr", tag("th", rest, colspan=len(words), scope="row")))
    return table(head, body, class_="clusters")


def _row(found: Clusters, story: Story, cluster: int) -> Safe:
    rows = story.findings.rows_of(cluster)
    columns = story.findings.columns_of(cluster)
    edges = int(found.edges[rows][:, columns].sum())
    cells = [f"{len(rows):,}", f"{len(columns):,}",
             f"{edges:,}, {percent(edges / (len(rows) * len(columns)))} full",
             _some(rows, story.row), _some(columns, story.column)]  # fmt: skip
    number = tag("span", f"{cluster}", class_="number")
    texts = [tag("td", one, class_="text") for one in cells]
    return row(number, texts, id=f"cluster-{cluster}", style=own_color(cluster))


def _some(members: Array, name: Any) -> str:
    shown = ", ".join(name(int(one)) for one in members[:MOST_NAMES])
    more = len(members) - MOST_NAMES
    return f"{shown} and {more:,} more" if more > 0 else shown
