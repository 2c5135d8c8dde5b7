"""A group that the start left out is found, whatever its size, and no round loses."""

import numpy as np
import pytest

import orthonmf
from orthonmf.engine.points import Samples
from orthonmf.inputs.data import as_matrix
from orthonmf.onmf.search.repair import merge_losses, repair


def uneven_groups(n, m, k, *, noise, strength=0.0, seed=0):
    """Rows (n, m) of k groups whose strengths differ much, and their labels."""
    rng = np.random.default_rng(seed)
    profiles = rng.exponential(size=(k, m))
    profiles /= np.linalg.norm(profiles, axis=1, keepdims=True)
    labels = rng.choice(k, n, p=np.full(k, 1 / k))
    labels[:k] = np.arange(k)
    scales = np.exp(0.5 * rng.standard_normal(n))
    scales *= np.exp(strength * rng.standard_normal(k))[labels]
    noisy = (1 + noise * rng.standard_normal((n, m))).clip(0)
    return profiles[labels] * scales[:, None] * noisy, labels


def error_of_groups(X, labels):
    """Relative squared error of the best directions for these groups."""
    captured = sum(np.linalg.norm(X[labels == j], 2) ** 2 for j in np.unique(labels))
    return 1 - captured / np.square(X).sum()


def start_without_a_group(X, labels, k):
    """Directions of all groups but one, which has two of another instead."""
    means = np.array([X[labels == j].mean(axis=0) for j in range(k)])
    means[0] = X[labels == 1][0]
    return means


@pytest.mark.parametrize("seed", range(4))
def test_a_group_that_a_start_leaves_out_is_found(seed):
    X, labels = uneven_groups(400, 20, 8, noise=0.05, strength=1.0, seed=seed)
    points = Samples(as_matrix(X))
    start = start_without_a_group(X, labels, 8)
    before = points.sweep_directions(start).captured.sum()
    repaired = repair(points, start)
    assert repaired.captured[0] == pytest.approx(before)
    assert np.all(np.diff(repaired.captured) >= 0)
    missed = 1 - repaired.captured[-1] / np.square(X).sum()
    assert missed < 1.01 * error_of_groups(X, labels)


@pytest.mark.parametrize("seed", range(8))
def test_joining_two_components_loses_no_more_than_it_is_said_to(seed):
    rng = np.random.default_rng(seed)
    first, second = rng.random((6, 5)) * rng.exponential(), rng.random((9, 5))
    tops = [np.linalg.svd(rows)[2][0] for rows in (first, second)]
    energies = np.array([np.linalg.norm(rows, 2) ** 2 for rows in (first, second)])
    said = merge_losses(np.abs(np.array(tops) @ np.array(tops).T), energies)[0, 1]
    joined = np.linalg.norm(np.vstack([first, second]), 2) ** 2
    assert energies.sum() - joined <= said * (1 + 1e-12) + 1e-12


def test_a_start_that_was_given_is_not_taken_apart():
    X, _ = uneven_groups(300, 20, 6, noise=0.05)
    result = orthonmf.factorize(X, 6, init=X[:6], random_state=0)
    assert "repair" not in result.steps_run
