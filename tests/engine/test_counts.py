"""Pooled sums, which decide what a partition costs in divergence, against plain sums."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf.engine.counts import read_counts
from orthonmf.engine.profiles import sweep_profiles
from orthonmf.inputs.data import as_matrix


@pytest.mark.parametrize("store", [np.asarray, csr_array])
def test_pooled_sums_are_those_of_the_rows_of_every_label(store):
    rng = np.random.default_rng(0)
    X = rng.poisson(2.0, (30, 7)).astype(float)
    w, v = rng.random(30) + 0.1, rng.random(7) + 0.1
    matrix = as_matrix(store(X), sample_weight=w, feature_weight=v)
    given = rng.integers(-1, 3, 30)
    profiles = rng.random((3, 7))
    profiles[:, [0, 6]] = np.array([[0.2], [0.3], [0.1]])  # in the order of no column
    swept = sweep_profiles(matrix, profiles)
    for labels, pooled in (
        (given, read_counts(matrix).pooled(given, 3)),
        (swept.labels, swept.pooled),
    ):
        wanted = (labels == np.arange(3)[:, None]) @ (w[:, None] * X * v)
        np.testing.assert_allclose(pooled / pooled.sum(), wanted / wanted.sum())
