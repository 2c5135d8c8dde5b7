"""A promise is made with the draw that earns it, and outlives whatever is written about the fit."""

import numpy as np
import pytest

import orthant
from orthant.certificate import Promise
from orthant.datasets import make_planted
from orthant.engine.samples import Samples, columns_of
from orthant.kmeans.seeding import seeding_promise
from orthant.onmf.options import Options
from orthant.onmf.search import search_lines, strongest
from orthant.validation.data import as_matrix

pytestmark = pytest.mark.filterwarnings("ignore::orthant.FewerComponentsWarning")
X = np.random.default_rng(0).exponential(size=(60, 8))
LARGE = make_planted(6000, 10, 3, 0.5, random_state=0).X


def searched(X, seeding, k=3, orthogonal="samples", n_init=1):
    options = Options(
        k, k, orthogonal, seeding, "k-means++", n_init, 5, 1e-4, np.random.default_rng(0)
    )
    matrix = as_matrix(X)
    points = Samples(matrix) if orthogonal == "samples" else columns_of(matrix)
    return search_lines(points, options)


@pytest.mark.parametrize("orthogonal", ["samples", "features"])
@pytest.mark.parametrize(
    ("seeding", "factor"), [("lines", 1.0), ("k-means++", 2.0), ("k-means||", None)]
)
def test_every_start_brings_the_promise_of_its_own_draws(orthogonal, seeding, factor):
    promise = searched(X, seeding, orthogonal=orthogonal, n_init=3).promise
    expected = None if factor is None else factor * seeding_promise(3).ratio
    assert promise.ratio == expected
    assert promise.kind == (None if factor is None else "expected")
    assert bool(promise.reason) == (factor is None)


def test_draws_from_a_sample_promise_nothing():
    promise = searched(LARGE, "auto").promise
    assert promise.ratio is None
    assert "sample" in promise.reason


def test_the_best_of_several_answers_keeps_the_smallest_promise():
    none, some, less = Promise(reason="why"), Promise(3.0, "expected"), Promise(2.0, "always")
    assert strongest([none, some, less]) is less
    assert strongest([none, Promise(reason="other")]) is none
    assert strongest([]).ratio is None


@pytest.mark.parametrize(
    ("seeding", "orthogonal"),
    [("auto", "both"), *((s, "samples") for s in ("auto", "lines", "k-means++", "k-means||"))],
)
def test_a_fit_that_goes_on_from_a_checkpoint_promises_the_same(tmp_path, seeding, orthogonal):
    path = tmp_path / "fit.checkpoint"
    fits = [
        orthant.factorize(
            X, 3, orthogonal=orthogonal, seeding=seeding, checkpoint=path, random_state=0
        ).certificate
        for _ in range(2)
    ]
    assert fits[0].a_priori_ratio == fits[1].a_priori_ratio
    assert fits[0].a_priori_kind == fits[1].a_priori_kind
    assert fits[0].reason == fits[1].reason
