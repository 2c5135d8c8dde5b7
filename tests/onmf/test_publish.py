"""The history never rises and ends with the error; the paper's own error is the last but one."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_array

import orthonmf
from orthonmf.datasets import make_planted

pytestmark = pytest.mark.filterwarnings("ignore::orthonmf.FewerComponentsWarning")
SETTINGS = ("samples", "features", "both")


def awkward(seed, dtype):
    rng = np.random.default_rng(seed)
    if seed % 3 == 0:
        return make_planted(60, 20, 4, 0.3, random_state=seed).X.astype(dtype)
    X = rng.exponential(size=(40, 15)) ** rng.choice([1, 3])
    return (X * 10.0 ** rng.choice([-9, 0, 9]) * (rng.random(X.shape) < 0.7)).astype(dtype)


@pytest.mark.slow
@pytest.mark.parametrize("orthogonal", SETTINGS)
@pytest.mark.parametrize("algorithm", ["best", "paper"])
def test_the_history_never_rises_and_ends_with_the_error(orthogonal, algorithm):
    for seed in range(12):
        X = awkward(seed, (np.float32, np.float64)[seed // 2 % 2])
        k = (2, 5, 15)[seed % 3]
        options = {"n_init": 1 + 2 * (seed % 2), "max_iter": (300, 1, 3)[seed % 3]}
        if algorithm == "paper" and orthogonal == "both" and k == 15:
            options = {}  # Theorem 9 has one answer
        if seed % 4 == 1:
            options["sample_weight"] = np.linspace(0, 2, len(X))
        if seed % 4 == 2:
            options["feature_weight"] = np.linspace(0, 2, X.shape[1])
        store = csr_array if seed % 2 else np.asarray
        result = orthonmf.factorize(
            store(X), k, orthogonal=orthogonal, algorithm=algorithm, certificate=None,
            random_state=seed, **options,
        )  # fmt: skip
        assert result.history[-1] == result.relative_squared_error
        assert all(after <= before for before, after in pairwise(result.history)), seed
        assert result.n_sweeps >= len(result.history)
