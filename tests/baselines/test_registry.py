"""Methods of the user: a function or a Baseline is solved like one of ours."""

from dataclasses import replace

import numpy as np
import pytest

from orthonmf.baselines import BASELINES, Iterate, solve
from orthonmf.errors import InvalidInputError, InvalidTypeError


def fixed(M, k, *, rng, shift=0.0):
    """One random start and nothing else."""
    yield Iterate(rng.random((M.shape[0], k)) + shift, rng.random((k, M.shape[1])))
    return "finished"


def test_a_function_of_the_user_has_the_same_clock_limits_and_hardening():
    result = solve(fixed, np.eye(4) + 1, 2, random_state=0, shift=0.5)
    assert (result.name, result.stop_reason) == ("fixed", "finished")
    assert result.hardened is not None
    assert result.A.min() >= 0.5
    with pytest.raises(InvalidTypeError, match="no option"):
        solve(fixed, np.eye(4), 2, other=1)


def test_a_baseline_is_solved_as_its_name_would_be():
    mine = replace(BASELINES["nmf"], name="mine", max_iter=3)
    X = np.eye(4) + 1
    named = solve("nmf", X, 2, random_state=0, max_iter=3)
    result = solve(mine, X, 2, random_state=0)
    assert (result.name, result.iterations) == ("mine", 3)
    np.testing.assert_array_equal(result.W, named.W)


def test_what_is_no_method_is_refused():
    with pytest.raises(InvalidInputError, match="did you mean onmf-a"):
        solve("onmf-aa", np.eye(4), 2)
    with pytest.raises(InvalidTypeError, match="a name, a Baseline or a function"):
        solve(3, np.eye(4), 2)
