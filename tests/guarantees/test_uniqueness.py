"""What is said of all answers as good as one in hand, against all partitions of few rows."""

from itertools import permutations

import numpy as np
import pytest

import orthonmf
from orthonmf.bounds.allowance import Allowance
from orthonmf.bounds.table import Side
from orthonmf.bounds.uniqueness import unique_within
from orthonmf.engine.points import Samples
from orthonmf.inputs.data import as_matrix
from tests.oracles.partitions import partitions
from tests.quick_cases import mostly_slow

pytestmark = pytest.mark.usefixtures("one_blas_thread")


def scales_of(X, labels, k):
    """(n,) the leading left singular vector of every group, and what all capture together."""
    scales, captured = np.zeros(len(X)), 0.0
    for group in range(k):
        rows = np.flatnonzero(labels == group)
        left, values, _ = np.linalg.svd(X[rows], full_matrices=False)
        scales[rows] = np.abs(left[:, 0])
        captured += values[0] ** 2
    return scales, captured


def weight_elsewhere(labels, scales, others, k):
    """The share of the weight in other groups, under the best naming of these."""
    weights = np.square(scales)
    named = (np.array(names)[others] != labels for names in permutations(range(k)))
    return min(float(weights[moved].sum()) for moved in named) / k


@pytest.mark.parametrize("seed", mostly_slow(list(range(12)), quick=4))
def test_no_answer_as_good_puts_more_weight_elsewhere(seed):
    k, noise = 2 + seed % 2, (0.1, 0.5, 1.0, 2.0)[seed % 4]
    X = orthonmf.datasets.make_planted(8, 6, k, noise=noise, random_state=seed).X
    total = float(np.sum(X**2))
    full = [labels for labels in partitions(8, k) if labels.max() == k - 1]
    captured = [scales_of(X, labels, k)[1] for labels in full]
    for place in (0, 1, 3):  # the best answer, and some that others are better than
        own = np.argsort(captured)[::-1][place]
        scales, _ = scales_of(X, full[own], k)
        error = (total - captured[own]) * (1 + 1e-9)
        side = Side(Samples(as_matrix(X)), k, "rows")
        share = unique_within(side, full[own], scales, error, Allowance(60.0))
        if place == 0 and noise <= 0.5:
            assert share is not None
        for others, energy in zip(full, captured, strict=True):
            if share is not None and total - energy <= error:
                assert weight_elsewhere(full[own], scales, others, k) <= share


@pytest.mark.parametrize("orthogonal", ["samples", "features"])
def test_a_tight_certificate_tells_it_where_the_ratio_is_near_one(orthogonal):
    X = orthonmf.datasets.make_planted(60, 40, 3, noise=0.3, random_state=0).X
    given = X if orthogonal == "samples" else X.T
    result = orthonmf.factorize(given, 3, orthogonal=orthogonal, random_state=0)
    assert result.certificate.unique_within is None
    tight = result.certify(given, "tight")
    assert tight.ratio < 1.003
    assert tight.unique_within < 0.01
    noise = np.random.default_rng(0).random((60, 40))
    result = orthonmf.factorize(noise, 3, orthogonal=orthogonal, random_state=0)
    assert result.certify(noise, "tight").unique_within is None
