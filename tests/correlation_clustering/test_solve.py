"""Clusterings of small graphs: numbered, counted and certified as they are."""

import numpy as np
import pytest

from orthonmf.correlation_clustering.solve import ALGORITHMS, CORRELATION_CLUSTERING_RATIO
from tests.correlation_clustering.graphs import cluster, planted_graph, random_graph
from tests.oracles.correlation_clustering import disagreements, fewest_disagreements
from tests.quick_cases import mostly_slow


@pytest.mark.parametrize("algorithm", ["paper", "best"])
@pytest.mark.parametrize("seed", range(5))
def test_noiseless_clusters_are_recovered_with_empty_rows_and_columns(algorithm, seed):
    rng = np.random.default_rng(seed)
    rows = np.r_[rng.integers(0, 4, size=26), 0, 1, 2, 3, [-1] * 3]
    columns = np.r_[rng.integers(0, 4, size=11), 0, 1, 2, 3, [-2] * 2]
    rows, columns = rng.permutation(rows), rng.permutation(columns)
    result = cluster(rows[:, None] == columns, algorithm)
    assert result.disagreements == 0
    assert result.n_clusters == 4
    assert result.certificate.optimal
    same = result.row_labels[:, None] == result.column_labels
    assert np.array_equal(same, rows[:, None] == columns)


def test_labels_run_from_the_largest_cluster_to_lone_rows_and_lone_columns():
    M = np.zeros((7, 8), dtype=np.uint8)
    M[0, 0] = 1
    M[1:3, 1:3] = 1
    M[3:6, 3:7] = 1
    result = cluster(M)
    assert result.row_labels.tolist() == [2, 1, 1, 0, 0, 0, 3]
    assert result.column_labels.tolist() == [2, 1, 1, 0, 0, 0, 0, 4]


@pytest.mark.parametrize(
    "M", [np.zeros((3, 2)), np.ones((3, 2)), np.ones((1, 1)), np.zeros((1, 4))]
)
def test_trivial_graphs_have_no_disagreements(M):
    for algorithm in ("paper", "best"):
        result = cluster(M.astype(np.uint8), algorithm)
        assert result.disagreements == 0
        assert result.certificate.ratio == 1.0
        assert result.certificate.lower_bound == 0


def test_a_graph_of_one_bad_square_per_disagreement_is_proven_optimal():
    # Three complete parts, each with one edge missing.
    M = np.kron(np.eye(3, dtype=np.uint8), np.ones((3, 3), dtype=np.uint8))
    M[0, 0] = M[4, 4] = M[8, 8] = 0
    certificate = cluster(M).certificate
    assert (certificate.lower_bound, certificate.optimal) == (3, True)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_answer_and_the_transpose_the_same_cost():
    M, _ = planted_graph(11, 30, 20, 3, 0.15)
    first, again, flipped = cluster(M), cluster(M), cluster(M.T)
    assert np.array_equal(first.row_labels, again.row_labels)
    assert first.certificate.lower_bound == again.certificate.lower_bound
    together = flipped.row_labels[:, None] == flipped.column_labels
    assert np.array_equal(together.T, first.row_labels[:, None] == first.column_labels)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("seed", mostly_slow(range(12), quick=4))
def test_what_is_counted_is_what_the_labels_say_and_the_bound_is_below_the_optimum(algorithm, seed):
    M = random_graph(seed, 6, 6)  # on some of these the paper is not at the optimum
    M[1], M[:, 3] = M[1] * (seed > 1), M[:, 3] * (seed > 1)
    result = cluster(M, algorithm)
    optimum = fewest_disagreements(M)
    assert result.disagreements == disagreements(M, result.row_labels, result.column_labels)
    assert result.certificate.lower_bound <= optimum <= result.disagreements
    assert result.disagreements <= CORRELATION_CLUSTERING_RATIO * optimum
    assert result.certificate.optimal == (result.certificate.lower_bound == result.disagreements)
    if not result.certificate.optimal:
        least = result.disagreements / result.certificate.lower_bound
        assert least <= result.certificate.ratio <= least * (1 + 1e-9)
    assert result.certificate.quantity == "number of disagreements"
    assert result.certificate.a_priori_kind == ("always" if algorithm == "paper" else "expected")
    both = {*result.row_labels} & {*result.column_labels}
    assert both == {*range(result.n_clusters)}
