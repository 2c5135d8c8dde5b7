"""One trial: fits to all data, to permuted columns and to two halves, and how halves compare."""

from itertools import permutations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import orthonmf
from orthonmf.selection.trial import agreement, matched_cosine

pytestmark = pytest.mark.filterwarnings("ignore::orthonmf.FewerComponentsWarning")


def test_the_matching_is_the_best_of_all():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        first, second = (rng.exponential(size=(k, 5)) for k in (3, 4))
        first, second = (rows / np.linalg.norm(rows, axis=1)[:, None] for rows in (first, second))
        cosines = first @ second.T
        best = max(sum(cosines[i, j] for i, j in enumerate(p)) for p in permutations(range(4), 3))
        cosine = matched_cosine(first.astype(np.float32), second, 4)
        assert cosine == pytest.approx(best / 4, rel=1e-6)
    assert matched_cosine(np.zeros((0, 5)), second, 4) == 0.0


def test_of_a_pair_the_side_that_agrees_less_counts():
    rng = np.random.default_rng(0)
    core = np.array([[4.0, 1.0, 0.5], [0.2, 3.0, 1.0], [1.0, 0.3, 2.0]])
    rows, columns = np.arange(30) % 3, np.arange(12) % 3
    X = core[rows][:, columns] * rng.uniform(1, 1.2, size=(30, 12))
    other = X[:, rng.permutation(12)]  # the same groups of rows, others of columns
    fits = [
        orthonmf.factorize(rows, (3, 3), orthogonal="both", random_state=0, certificate=None)
        for rows in (X, other)
    ]
    of_columns = adjusted_rand_score(fits[0].feature_labels, fits[1].feature_labels)
    assert of_columns < 0.9
    assert agreement(fits[0], fits[0], X) == 1.0
    assert agreement(*fits, X) <= of_columns
