import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf.steps.coordinate_split import split_coordinates


def cost(centers, weights, groups, directions):
    used = groups >= 0
    return np.sum(weights[used, None] * (centers[used] - directions[groups[used]]) ** 2)


def draw(seed):
    rng = np.random.default_rng(seed)
    k, m = int(rng.integers(1, 9)), int(rng.integers(1, 7))
    centers = rng.exponential(size=(k, m)) * (rng.random((k, m)) < 0.7)
    groups = np.unique(rng.integers(0, 3, size=k), return_inverse=True)[1].reshape(-1)
    return centers, rng.exponential(size=k), groups


@pytest.mark.parametrize("seed", range(20))
def test_the_split_costs_no_more_than_any_other_owner_of_the_coordinates(seed):
    centers, weights, groups = draw(seed)
    best = cost(centers, weights, groups, split_coordinates(centers, weights, groups).toarray())
    n_groups = groups.max() + 1
    means = np.array(
        [
            np.average(centers[groups == s], axis=0, weights=weights[groups == s])
            for s in range(n_groups)
        ]
    )
    rng = np.random.default_rng(seed)
    for _ in range(30):
        owners = rng.integers(n_groups, size=centers.shape[1])
        other = means * (owners == np.arange(n_groups)[:, None])
        assert best <= cost(centers, weights, groups, other) * (1 + 1e-12) + 1e-12


@pytest.mark.parametrize("seed", range(20))
def test_sparse_and_dense_centers_are_split_alike(seed):
    centers, weights, groups = draw(seed)
    norms = np.random.default_rng(seed).uniform(0.5, 2, size=len(weights))
    expected = split_coordinates(centers / norms[:, None], weights, groups).toarray()
    for store in (np.asarray, csr_array):
        split = split_coordinates(store(centers), weights, groups, norms)
        np.testing.assert_allclose(split.toarray(), expected, rtol=1e-14)


def test_the_lowest_group_wins_a_tie_and_zero_coordinates_belong_to_none():
    centers = np.array([[1.0, 0.0, 2.0], [1.0, 0.0, 1.0]])
    expected = [[1.0, 0.0, 2.0], [0.0, 0.0, 0.0]]
    arguments = np.ones(2), np.array([0, 1])
    split = split_coordinates(centers, *arguments)
    assert split.toarray().tolist() == expected
    assert split.nnz == 2
