"""Clusterings of small graphs: numbered, counted and certified as they are."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf.correlation_clustering.blocks import (
    Blocks,
    count_disagreements,
    restrict_to_blocks,
    transpose,
)
from orthonmf.correlation_clustering.local_search import improve_blocks
from orthonmf.correlation_clustering.rounding import (
    choose_best_patterns,
    choose_nearest_patterns,
    round_to_patterns,
)
from orthonmf.correlation_clustering.solve import (
    ALGORITHMS,
    CORRELATION_CLUSTERING_RATIO,
    cluster_as_published,
    cluster_best,
)
from tests.correlation_clustering.graphs import cluster, planted_graph, random_graph
from tests.oracles.correlation_clustering import disagreements, fewest_disagreements


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


@pytest.mark.slow
def test_the_same_seed_gives_the_same_answer_and_the_transpose_the_same_cost():
    M, _ = planted_graph(11, 30, 20, 3, 0.15)
    first, again, flipped = cluster(M), cluster(M), cluster(M.T)
    assert np.array_equal(first.row_labels, again.row_labels)
    assert first.certificate.lower_bound == again.certificate.lower_bound
    together = flipped.row_labels[:, None] == flipped.column_labels
    assert np.array_equal(together.T, first.row_labels[:, None] == first.column_labels)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("seed", range(4))
def test_what_is_counted_is_what_the_labels_say_and_the_bound_is_below_the_optimum(algorithm, seed):
    M = random_graph(seed, 6, 6)  # on some of these the paper is not at the optimum
    M[1], M[:, 3] = M[1] * (seed > 1), M[:, 3] * (seed > 1)
    found = cluster(M, algorithm)
    optimum = fewest_disagreements(M)
    assert found.disagreements == disagreements(M, found.row_labels, found.column_labels)
    assert found.certificate.lower_bound <= optimum <= found.disagreements
    assert found.disagreements <= CORRELATION_CLUSTERING_RATIO * optimum
    assert found.certificate.optimal == (found.certificate.lower_bound == found.disagreements)
    if not found.certificate.optimal:
        least = found.disagreements / found.certificate.lower_bound
        assert least <= found.certificate.ratio <= least * (1 + 1e-9)
    assert (found.certificate.quantity, found.certificate.a_priori_kind) == (
        "number of disagreements",
        "always",
    )
    both = {*found.row_labels} & {*found.column_labels}
    assert both == {*range(found.n_clusters)}


def test_the_default_costs_no_more_than_the_paper_and_uses_its_starts():
    for seed in (0, 4):
        matrix = csr_array(random_graph(seed, 12, 10))
        paper = cluster_as_published(matrix, 0, np.random.default_rng(0))
        best = cluster_best(matrix, 2, np.random.default_rng(0))
        # Without random starts local search improves on both roundings all the same.
        few = cluster_best(matrix, 0, np.random.default_rng(0))
        improved = improve_blocks(matrix, transpose(matrix), paper, np.random.default_rng(0))
        costs = [count_disagreements(matrix, one) for one in (best, few, improved, paper)]
        assert costs[0] <= costs[1] <= costs[2] < costs[3]


def test_small_graphs_are_clustered_at_the_optimum_by_the_default():
    for seed in range(2):
        M = random_graph(seed)
        assert cluster(M).disagreements == fewest_disagreements(M)


def test_a_tall_graph_is_the_wide_one_with_its_sides_exchanged():
    M = random_graph(5, 3, 7)
    wide, tall = cluster(M, "paper"), cluster(M.T, "paper")
    assert wide.disagreements == tall.disagreements
    assert len(tall.row_labels) == 7
    same = wide.row_labels[:, None] == wide.column_labels
    np.testing.assert_array_equal(tall.column_labels[:, None] == tall.row_labels, same)


def one_block(M):
    return Blocks(np.zeros(M.shape[0], dtype=int), np.zeros(M.shape[1], dtype=int))


@pytest.mark.parametrize("seed", range(10))
def test_the_pattern_row_is_the_one_lemma_1_names(seed):
    rng = np.random.default_rng(seed)
    M = (rng.random((6, 5)) < 0.6).astype(float)
    a, w = rng.uniform(0.1, 2, size=5), rng.uniform(0.1, 2, size=6)
    distances = np.linalg.norm(M / w[:, None] - a, axis=1)
    chosen = choose_nearest_patterns(csr_array(M), one_block(M), a, w)
    assert distances[chosen[0]] <= distances.min() * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_the_cheapest_pattern_is_found_and_rows_are_chosen_best(seed):
    rng = np.random.default_rng(seed)
    M = (rng.random((6, 5)) < 0.5).astype(int)
    costs = [sum(min(row.sum(), np.sum(row != pattern)) for row in M) for pattern in M]
    matrix, blocks = csr_array(M), one_block(M)
    rounded = round_to_patterns(matrix, blocks, choose_best_patterns(matrix, blocks))
    assert count_disagreements(matrix, rounded) == min(costs)


def test_all_blocks_are_rounded_as_each_would_be_alone():
    rng = np.random.default_rng(3)
    M = (rng.random((12, 10)) < 0.5).astype(int)
    blocks = Blocks(np.arange(12) % 3, np.arange(10) % 3)
    inside = restrict_to_blocks(csr_array(M), blocks)
    together = round_to_patterns(inside, blocks, choose_best_patterns(inside, blocks))
    for s in range(3):
        part = csr_array(M[np.ix_(blocks.rows == s, blocks.columns == s)])
        whole = one_block(part)
        alone = round_to_patterns(part, whole, choose_best_patterns(part, whole))
        assert np.array_equal(together.rows[blocks.rows == s] >= 0, alone.rows >= 0)
        assert np.array_equal(together.columns[blocks.columns == s] >= 0, alone.columns >= 0)
