import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf.correlation_clustering.blocks import Blocks, count_disagreements
from orthonmf.correlation_clustering.local_search import (
    assign_rows,
    improve_blocks,
    merge_blocks,
    open_blocks,
)
from orthonmf.correlation_clustering.packing import (
    bound_disagreements,
    exchange_squares,
    find_disagreements,
    pack_around,
)
from orthonmf.correlation_clustering.pivot import cluster_by_pivots
from orthonmf.correlation_clustering.rounding import (
    choose_best_patterns,
    choose_nearest_patterns,
    round_to_patterns,
)
from tests.correlation_clustering.graphs import cluster, planted_graph, random_graph
from tests.oracles.correlation_clustering import expected_pivot_disagreements, fewest_disagreements
from tests.quick_cases import mostly_slow


@pytest.mark.parametrize("rule", ["nearest", "cheapest"])
def test_rounding_a_block_costs_at_most_eight_times_its_error(rule):  # Lemma 1
    for seed in range(200):
        rng = np.random.default_rng(seed)
        n, m = rng.integers(1, 9, size=2)
        M = (rng.random((n, m)) < rng.uniform(0.1, 0.95)).astype(float)
        a, w = rng.uniform(0.05, 1.5, size=m), rng.uniform(0.05, 1.5, size=n)
        if seed % 2:
            vt = np.linalg.svd(M)[2]
            a = np.abs(vt[0]) + 1e-9
            w = np.maximum(M @ a / (a @ a), 1e-9)
        matrix = csr_array(M)
        block = Blocks(np.zeros(n, dtype=int), np.zeros(m, dtype=int))
        if rule == "nearest":
            pattern = choose_nearest_patterns(matrix, block, a, w)
        else:
            pattern = choose_best_patterns(matrix, block)
        cost = count_disagreements(matrix, round_to_patterns(matrix, block, pattern))
        assert cost <= 8 * np.sum((M - np.outer(w, a)) ** 2) + 1e-9, seed


@pytest.mark.slow
def test_best_is_the_optimum_on_nearly_all_small_graphs_and_proves_planted_ones():
    optimal = 0
    for seed in range(100, 115):
        M = random_graph(seed)
        optimal += cluster(M).disagreements == fewest_disagreements(M)
    assert optimal >= 14
    proven = 0
    for seed in range(5):
        M, planted_cost = planted_graph(seed)
        result = cluster(M, seed=seed)
        assert result.disagreements <= planted_cost
        proven += result.certificate.optimal
    assert proven >= 4


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_every_packing_is_disjoint_and_bad_and_below_the_optimum(seed):
    M = random_graph(seed)
    matrix, rng = csr_array(M), np.random.default_rng(seed)
    # Any clustering may guide the packing; a poor one must not make it invalid.
    blocks = Blocks(rng.integers(-1, 3, size=5), rng.integers(-1, 3, size=6))
    keys = find_disagreements(matrix, blocks)
    around = pack_around(matrix, keys, rng)
    for squares in (around, exchange_squares(matrix, around[::2], keys, rng)):
        assert len(np.unique(squares)) == squares.size
        assert np.all(M.ravel()[squares].sum(axis=1) == 3)
        rows, columns = np.divmod(squares, 6)
        assert all(len(set(r)) == len(set(c)) == 2 for r, c in zip(rows, columns, strict=True))
    bound = bound_disagreements(matrix, blocks, rng)
    assert bound <= fewest_disagreements(M)


def test_no_move_of_the_local_search_raises_the_cost():
    for seed in range(20):
        M, _ = planted_graph(seed, 20, 15, 3, 0.2)
        matrix, transposed, rng = csr_array(M), csr_array(M.T), np.random.default_rng(seed)
        blocks = Blocks(rng.integers(-1, 4, size=20), rng.integers(-1, 4, size=15))
        for moved in (
            Blocks(assign_rows(matrix, blocks.columns), blocks.columns),
            merge_blocks(matrix, blocks),
            open_blocks(matrix, blocks, rng),
            improve_blocks(matrix, transposed, blocks, rng),
        ):
            assert count_disagreements(matrix, moved) <= count_disagreements(matrix, blocks)


@pytest.mark.parametrize("seed", mostly_slow(range(2), quick=1))
def test_pivots_follow_the_published_law(seed):
    M = random_graph(seed, 4, 4)
    rng = np.random.default_rng(seed)
    costs = [
        count_disagreements(csr_array(M), cluster_by_pivots(csr_array(M), rng)) for _ in range(2000)
    ]
    spread = np.std(costs) / np.sqrt(len(costs))
    assert abs(np.mean(costs) - expected_pivot_disagreements(M)) <= 5 * spread + 1e-12


@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (4, 2)])
def test_the_published_law_costs_at_most_four_times_the_optimum_on_average(shape):
    worst = 0.0
    for number in range(2 ** (shape[0] * shape[1])):
        M = (number >> np.arange(shape[0] * shape[1]) & 1).reshape(shape)
        fewest, expected = fewest_disagreements(M), expected_pivot_disagreements(M)
        assert expected <= 4 * fewest + 1e-9
        worst = max(worst, expected / fewest if fewest else 0.0)
    print(f"{shape}: at most {worst:.2f} times")
