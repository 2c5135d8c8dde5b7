"""The page of a clustering counts what the clustering has, and draws its disagreements."""

import re

import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf import BipartiteCorrelationClustering
from orthonmf.report.clusters_page import Clusters, as_factorization, clusters_page
from orthonmf.report.findings import find
from orthonmf.report.heatmap import heat_maps
from tests.report.stories import EVIL
from tests.report.test_page import Parsed


def clustered(seed=0, n=14, m=10):
    rng = np.random.default_rng(seed)
    blocks = np.kron(np.eye(3), np.ones((4, 3)))
    X = np.zeros((n, m))
    X[:12, :9] = blocks
    X = np.where(rng.random((n, m)) < 0.08, 1 - X, X)
    model = BipartiteCorrelationClustering(random_state=0).fit(X)
    found = Clusters(
        csr_array(X), model.row_labels_, model.column_labels_, len(model.rows_),
        model.disagreements_, model.certificate_,
    )  # fmt: skip
    return X, found


@pytest.mark.slow
def test_what_is_left_are_the_disagreements():
    for seed in range(5):
        X, found = clustered(seed)
        result = as_factorization(found)
        answer = result.loadings.toarray() @ result.components
        inside = (found.row_labels[:, None] == found.column_labels) & (
            found.row_labels[:, None] < found.n_clusters
        )
        np.testing.assert_allclose(answer, inside, atol=1e-12)
        assert round(np.abs(X - answer).sum()) == found.disagreements
        maps = heat_maps(find(found.edges, result), result)
        assert int((maps["left"].levels > 0).sum()) == found.disagreements


def test_the_page_counts_members_and_edges():
    X, found = clustered()
    names = [f"r{i}" for i in range(14)]
    text = clusters_page(found, "graph.csv", names, [f"c{j}" for j in range(10)], "1.0")
    parsed = Parsed(text).text
    assert f"{found.n_clusters} clusters with {found.disagreements} disagreement" in parsed
    for cluster in range(found.n_clusters):
        rows, columns = found.row_labels == cluster, found.column_labels == cluster
        cells = re.search(rf'id="cluster-{cluster}".*?</tr>', text, re.DOTALL)[0]
        wanted = [rows.sum(), columns.sum(), int(X[rows][:, columns].sum())]
        assert [int(one) for one in re.findall(r">(\d+)[<,]", cells)[1:4]] == wanted
    assert "smallest possible" in parsed
    assert "Ordered by cluster" in text


def test_names_of_vertices_stay_text():
    _, found = clustered()
    names = [EVIL[i % 4] + str(i) for i in range(14)]
    text = clusters_page(found, EVIL[0], names, names[:10])
    assert Parsed(text).tags.count("script") == 2


def test_a_graph_without_clusters_has_a_page():
    found = clustered()[1]
    alone = Clusters(csr_array((3, 2)), np.arange(3), np.arange(2) + 3, 0, 0, found.certificate)
    assert "0 clusters with 0 disagreements" in clusters_page(alone, "empty")
