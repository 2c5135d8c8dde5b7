"""Every theorem of the tight bound, thousands of times, whatever multiplier is stored.

Over one side optima are exact fractions and nothing is tolerated; over both all solutions are
enumerated at once. What a search does to be wrong is in `test_tight.py`.
"""

from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest

import orthonmf
from orthonmf.bounds import all_pairs, blocks
from orthonmf.bounds.all_pairs import all_pairs_bound, prove_raised
from orthonmf.bounds.allowance import Allowance
from orthonmf.bounds.blocks import Candidate, Limits, Task, most_captured
from orthonmf.bounds.groups import prove_grouped, reduce_rows
from orthonmf.bounds.relaxation import Multiplier, raise_matrix
from tests.oracles.exact import smallest_error
from tests.quick_cases import mostly_slow

pytestmark = pytest.mark.usefixtures("one_blas_thread")

N_MATRICES = 40
N_MULTIPLIERS = 18  # times three numbers of components: more than two thousand cases
COMPONENTS = (1, 2, 3)
SCALES = (1.0, 0.01, 1e-310, 1e200, 1e6, 1e-3, 3e-45)


@cache
def matrix_and_optima(number):
    """A matrix (5, 3) near 1, and its exact optima over samples by number of components."""
    rng = np.random.default_rng(number)
    X = rng.integers(0, 9, (5, 3)) / 8.0
    if number % 4 == 1:
        X = rng.random((5, 3)).astype(np.float32).astype(float)
    if number % 4 == 2:
        X = X * (rng.random((5, 3)) < 0.6)
    if number % 4 == 3:
        X = np.ldexp(X[[0, 1, 1, 0, 2]], rng.integers(-4, 5, 5)[:, None])
    X[0, 0] = 1.0
    return X, {k: smallest_error(X, k, "samples") for k in COMPONENTS}


def states(rng, side):
    """What a search may leave: huge, subnormal, sparse, not symmetric, broken."""
    for number in range(N_MULTIPLIERS):
        state = rng.standard_normal((side, side)) * SCALES[number % len(SCALES)]
        if number % 3 == 0:
            state = (state + state.T) / 2.0
            state *= 1.0 + 1e-7 * rng.random(state.shape)  # asymmetric after rounding
        if number % 4 == 1:
            state = -np.abs(state) * (rng.random(state.shape) < 0.5)
        if number % 9 == 7 and side > 1:
            state[0, 1], state[1, 0] = np.nan, -np.inf
        yield state


def stored(state, signed, penalty=1.0):
    return Multiplier(state, penalty, signed, 0.0, np.zeros(1), state)


@pytest.mark.parametrize("number", mostly_slow(range(N_MATRICES), quick=4))
def test_all_pairs_prove_no_more_than_is_so(number):
    X, optima = matrix_and_optima(number)
    rng, gram = np.random.default_rng(number), X @ X.T
    for state in states(rng, len(X)):
        raised = gram.copy()
        raise_matrix(raised, stored(state, len(X), 10.0 ** rng.integers(-3, 3)))
        assert (raised == raised.T).all()
        assert (raised >= gram).all()
        for k, optimum in optima.items():
            assert prove_raised(raised, float(np.trace(gram)), k, X.shape[1]) <= optimum


def test_of_the_multipliers_tried_many_prove_something():
    """A bound of 0 is always true: the cases above would show nothing by it."""
    values = []
    for number in range(0, N_MATRICES, 4):
        X, optima = matrix_and_optima(number)
        rng, gram = np.random.default_rng(number), X @ X.T
        for state in states(rng, len(X)):
            raised = gram.copy()
            raise_matrix(raised, stored(state, len(X)))
            trace = float(np.trace(gram))
            values += [prove_raised(raised, trace, k, X.shape[1]) for k in optima]
    assert np.mean(np.array(values) > 0) > 0.25


@pytest.mark.parametrize("number", mostly_slow(range(N_MATRICES), quick=4))
def test_groups_prove_no_more_than_is_so(number):
    X, optima = matrix_and_optima(number)
    rng, inner = np.random.default_rng(number), X.T @ X
    for state in states(rng, 4):
        groups = np.zeros((5, 4))
        groups[np.arange(5), rng.integers(4, size=5)] = rng.random(5) * (rng.random(5) < 0.9)
        lengths = np.linalg.norm(groups, axis=0)
        groups = groups[:, lengths > 0] / lengths[lengths > 0]
        reduced = reduce_rows(X, inner, groups)
        assert reduced is not None
        kept = stored(state, groups.shape[1])
        for k, optimum in optima.items():
            assert prove_grouped(reduced, kept, k, 5, float(np.trace(inner))) <= optimum


def values_of_solutions(X, k):
    """Singular values (s, k), falling, of the blocks of every solution, all at once."""
    n, m = X.shape
    rows, columns = (np.array(list(product(range(k), repeat=size))) for size in (n, m))
    in_rows = rows[:, None, :] == np.arange(k)[:, None]  # (r, k, n)
    in_columns = columns[:, None, :] == np.arange(k)[:, None]
    masked = X * in_rows[:, None, :, :, None] * in_columns[None, :, :, None, :]
    tops = np.linalg.svd(masked, compute_uv=False)[..., 0].reshape(-1, k)
    return np.sort(tops, axis=1)[:, ::-1]


@pytest.mark.parametrize("number", mostly_slow(range(60), quick=6))
def test_sums_cuts_and_small_proofs_hold_for_every_solution(number):
    rng = np.random.default_rng(number)
    X = [
        rng.random((3, 3)),
        rng.random((3, 3)) * (rng.random((3, 3)) < 0.6) + np.eye(3) / 4,
        np.outer(rng.random(3), rng.random(3)) + 0.1 * rng.random((3, 3)),
    ][number % 3]
    dilation = blocks.dilate(X, X @ X.T, 400 if number % 2 else 2)  # all columns, or groups of them
    dominant = blocks.find_dominant(dilation)
    every = values_of_solutions(X, 3)
    assert (every[:, 0] <= dominant.first).all()
    sums, rest = every.cumsum(axis=1).max(axis=0), every[:, 1:].cumsum(axis=1)
    for _ in range(2):
        for state in states(rng, len(dilation.small)):
            kept = stored(state, dilation.n_signed)
            for alpha in (0.0, float(5.0 * rng.random())):
                task, count = Task(alpha, 2), 3 if alpha == 0.0 else 2
                steps = blocks.prove_steps(
                    dilation, Candidate(task, kept, np.zeros(count)), dominant
                )
                assert steps is not None
                taken = sums if alpha == 0.0 else (alpha * every[:, :1] + rest).max(axis=0)
                assert (taken <= alpha * dominant.first + steps.cumsum() + 1e-12).all()


@pytest.mark.parametrize("number", mostly_slow(range(20), quick=2))
def test_no_values_on_the_border_of_what_is_known_have_larger_squares(number, monkeypatch):
    monkeypatch.setattr(blocks, "FINEST", 1e-10 if number == 0 else 1e-4)  # the rest is quick
    rng = np.random.default_rng(number)
    for _ in range(100):
        k = int(rng.integers(2, 6))
        first = float(rng.random()) + 0.3
        lists = [np.sort(rng.random(k))[::-1] for _ in range(rng.integers(1, 3))]
        values = np.sort(rng.random((200, k)) ** rng.integers(1, 5), axis=1)[:, ::-1]
        limits, reach = Limits(first, ()), [first / values[:, 0]]
        # The multiple of every direction that just meets the first of the limits.
        for steps in lists:
            limits = limits.narrowed(0.0, first, steps)
            reach.append((steps.cumsum() / values.cumsum(axis=1)).min(axis=1))
        for alpha in 5.0 * rng.random(rng.integers(0, 3)):
            steps = np.sort(rng.random(k - 1) * rng.random())[::-1]
            limits = limits.narrowed(alpha, first, steps)
            taken = alpha * values[:, :1] + values[:, 1:].cumsum(axis=1)
            reach.append(((alpha * first + steps.cumsum()) / taken).min(axis=1))
        squares = np.square(values * np.min(reach, axis=0)[:, None]).sum(axis=1)
        assert most_captured(limits) >= squares.max() * (1.0 - 1e-12)


@pytest.mark.parametrize("iterations", mostly_slow(range(1, 26), quick=2))
def test_a_search_that_is_stopped_proves_no_more_than_is_so(iterations, monkeypatch):
    monkeypatch.setattr(all_pairs, "MAX_ITER", iterations)
    for number in range(iterations % 5, N_MATRICES, 10):
        X, optima = matrix_and_optima(number)
        for k in (2, 3):
            proven = all_pairs_bound(X @ X.T, k, 3, Allowance(), max_iter=iterations)
            assert proven.value <= optima[k]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::orthonmf.FewerComponentsWarning")
@pytest.mark.parametrize("orthogonal", ["samples", "features", "both"])
def test_a_certificate_is_true_of_float32_never_below_the_tail_and_that_of_its_labels(orthogonal):
    for seed in range(2):
        X = np.random.default_rng(seed).exponential(size=(4, 4)).astype(np.float32)
        result = orthonmf.factorize(
            X, 2, orthogonal=orthogonal, random_state=0, certificate="tight"
        )
        proven, tail = result.certificate, result.certify(X, "svd")
        total = sum(Fraction(float(x)) ** 2 for x in X.ravel())
        assert Fraction(proven.lower_bound) * total <= smallest_error(X, 2, orthogonal)
        assert proven.lower_bound >= tail.lower_bound
        labels = {"labels": result.labels, "feature_labels": result.feature_labels}
        judged = orthonmf.certify(X, **labels, n_components=2, method="tight").certificate
        assert judged.lower_bound == pytest.approx(proven.lower_bound, rel=1e-3)
