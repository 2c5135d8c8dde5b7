"""How good the default is: against all partitions, against the paper, and its certificates."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import orthonmf
from orthonmf.datasets import make_planted
from tests.oracles.double_factor import best_double_factor_error
from tests.oracles.single_factor import best_single_factor_error
from tests.quick_cases import mostly_slow

pytestmark = pytest.mark.filterwarnings("ignore::orthonmf.FewerComponentsWarning")
ROUNDING = 1e-9


def tiny_matrix(seed, orthogonal):
    rng = np.random.default_rng(seed)
    shape = {"samples": (7, 4), "features": (4, 7), "both": (4, 5)}[orthogonal]
    X = rng.exponential(size=shape) ** rng.choice([0.5, 1.0, 2.0])
    X[rng.random(shape) < rng.choice([0.0, 0.3])] = 0.0
    X[0, 0] = 1.0
    return X


def optimum_of(X, k, orthogonal):
    if orthogonal == "both":
        return best_double_factor_error(X, k)
    return best_single_factor_error(X if orthogonal == "samples" else X.T, k)


def relative_errors(X, k, orthogonal, seed, n_init):
    """Those of the default and of the paper."""
    common = {"orthogonal": orthogonal, "n_init": n_init, "random_state": seed, "certificate": None}
    best = orthonmf.factorize(X, k, **common)
    if orthogonal == "both" and k >= min(X.shape):
        del common["n_init"]  # Theorem 9 has one answer
    paper = orthonmf.factorize(X, k, algorithm="paper", **common)
    return best.relative_squared_error, paper.relative_squared_error


def is_worse(best, paper):
    return best > paper * (1 + 1e-9) + 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("orthogonal", ["samples", "features", "both"])
def test_one_default_call_reaches_the_optimum_of_small_matrices(orthogonal):
    reached = []
    for seed in range(20):
        shape, k = ((5, 4), 2) if orthogonal == "both" else ((7, 5), 3)
        X = np.random.default_rng(seed).exponential(size=shape)
        fit = orthonmf.factorize(X, k, orthogonal=orthogonal, certificate=None, random_state=seed)
        reached.append(fit.error**2 <= optimum_of(X, k, orthogonal) * (1 + ROUNDING) + 1e-12)
    assert np.mean(reached) >= 0.95


@pytest.mark.slow
@pytest.mark.parametrize("orthogonal", ["samples", "features"])
def test_the_default_is_hardly_ever_worse_than_the_paper(orthogonal):
    worse = 0
    for seed in range(8):
        data = make_planted(
            200, 60, 5, (0.1, 0.5, 1.0, 2.0)[seed % 4], orthogonal, random_state=seed
        )
        worse += is_worse(*relative_errors(data.X, 5, orthogonal, seed, 3))
    print(f"{orthogonal}: worse than the paper on {worse} of 8")
    assert worse <= 1


@pytest.mark.slow
def test_blocks_are_never_worse_than_the_paper():
    for seed in range(10):
        best, paper = relative_errors(tiny_matrix(seed, "both"), 2 + seed % 3, "both", seed, 1)
        assert not is_worse(best, paper), seed
    for seed in range(3):
        data = make_planted(100, 60, 4, (0.05, 0.3, 1.0)[seed % 3], "both", random_state=seed)
        best, paper = relative_errors(data.X, 4, "both", seed, 1)
        assert best <= paper * (1 + 1e-9), seed


@pytest.mark.parametrize(
    "options", [{"init": "lines"}, {"algorithm": "paper", "kmeans": "k-means++"}]
)
@pytest.mark.parametrize("k", mostly_slow([2, 3], quick=1))
def test_what_the_draws_promise_holds_on_average(options, k):
    harmonic = 5 * (1 + sum(1 / j for j in range(1, k)))
    for seed in range(5):
        X = tiny_matrix(seed, "samples")
        fits = [
            orthonmf.factorize(X, k, **options, random_state=start, certificate=None)
            for start in range(10)
        ]
        claim = fits[0].certificate
        expected = harmonic * (1 if "init" in options else 2)
        assert claim.a_priori_ratio == pytest.approx(expected, rel=3e-3)
        assert claim.a_priori_kind == "expected"
        mean = np.mean([fit.error**2 for fit in fits])
        assert mean <= claim.a_priori_ratio * best_single_factor_error(X, k) + ROUNDING


def test_draws_in_rounds_promise_nothing_and_say_how_to_get_a_promise():
    X = make_planted(6000, 10, 3, 0.5, random_state=0).X
    rough = orthonmf.factorize(X, 3, init="k-means||", random_state=0, certificate=None)
    assert rough.certificate.a_priori_ratio is None
    assert "init='lines'" in rough.certificate.reason
    assert str(rough.certificate).startswith("nothing is proven")
    for init in ("auto", "lines"):
        drawn = orthonmf.factorize(X, 3, init=init, random_state=0, certificate=None)
        assert drawn.certificate.a_priori_kind == "expected"


@pytest.mark.slow
def test_a_large_smaller_side_gets_a_bound_from_groups_of_points():
    X = csr_array(np.random.default_rng(0).random((4100, 4100)) < 0.002).astype(float)
    found = orthonmf.factorize(X, 2, random_state=0)
    assert "groups of points" in found.certificate.method
    assert 1.0 <= found.certificate.ratio < 1.01


@pytest.mark.slow
def test_the_tight_bound_is_close():
    X = make_planted(150, 30, 3, 0.5, random_state=0).X
    found = orthonmf.factorize(X, 3, random_state=0, certificate="tight")
    assert found.certificate.method == "a dual solution for all pairs of points"
    assert 1.0 <= found.certificate.ratio < 1.02


def test_fewer_blocks_than_asked_come_with_a_reason():
    X = np.random.default_rng(0).random((40, 30)) + 1.0
    with pytest.warns(orthonmf.FewerComponentsWarning, match="1 of the 4"):
        found = orthonmf.factorize(X, 4, orthogonal="both", random_state=0)
    assert found.n_components_found == 1
    assert "no answer with more blocks was found" in found.shortage
    for advice in ("n_components=(4, 4)", "samples or features", "normalized"):
        assert advice in found.shortage
