"""The page of a clustering counts what the clustering has, and draws its disagreements."""

import re

import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf import Biadjacency, BipartiteCorrelationClustering
from orthonmf.report.clusters_page import as_factorization, clusters_page
from orthonmf.report.findings import find
from orthonmf.report.heatmap import heat_maps
from tests.report.stories import EVIL
from tests.report.test_page import Parsed

NAMES = [f"name {i}" for i in range(14)]


def clustered(seed=0, names=NAMES):
    """A graph of three blocks with some wrong edges, and the model of it."""
    X = np.zeros((14, 10), dtype=np.uint8)
    X[:12, :9] = np.kron(np.eye(3), np.ones((4, 3)))
    X = np.where(np.random.default_rng(seed).random(X.shape) < 0.08, 1 - X, X)
    graph = Biadjacency(csr_array(X), np.array(names), np.array(names[:10]))
    return graph.edges, BipartiteCorrelationClustering(random_state=0).fit(graph)


@pytest.mark.slow
def test_what_is_left_are_the_disagreements():
    for seed in range(2):
        edges, model = clustered(seed)
        result = as_factorization(model, edges)
        answer = result.loadings.toarray() @ result.components
        np.testing.assert_allclose(answer, model.rows_.T @ model.columns_, atol=1e-12)
        assert round(np.abs(edges.toarray() - answer).sum()) == model.disagreements_
        maps = heat_maps(find(edges, result), result)
        assert int((maps.levels["left"] > 0).sum()) == model.disagreements_


def test_the_page_counts_members_and_edges():
    edges, model = clustered()
    text = clusters_page(model, edges, "graph.csv")
    parsed = Parsed(text).text
    assert f"{len(model.rows_)} clusters with {model.disagreements_} disagreement" in parsed
    for cluster, (rows, columns) in enumerate(zip(model.rows_, model.columns_, strict=True)):
        cells = re.search(rf'id="cluster-{cluster}".*?</tr>', text, re.DOTALL)[0]
        wanted = [rows.sum(), columns.sum(), edges[rows][:, columns].sum()]
        assert [int(number) for number in re.findall(r">(\d+)[<,]", cells)[1:4]] == wanted
    assert "smallest possible" in parsed
    assert "Ordered by cluster" in text


def test_names_of_vertices_stay_text():
    edges, model = clustered(names=[EVIL[i % 4] + str(i) for i in range(14)])
    assert Parsed(clusters_page(model, edges, EVIL[0])).tags.count("script") == 2


def test_a_graph_without_clusters_has_a_page():
    edges = csr_array((3, 2), dtype=np.uint8)
    model = BipartiteCorrelationClustering(random_state=0).fit(edges)
    assert "0 clusters with 0 disagreements" in clusters_page(model, edges, "empty")
