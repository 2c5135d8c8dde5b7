"""A matrix without energy has a solution without components that says why."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf.certificate import Promise
from orthonmf.inputs.data import as_matrix
from orthonmf.onmf.solution import Solution, solve_zero


@pytest.mark.parametrize("store", [np.asarray, csr_array])
def test_a_zero_matrix_keeps_its_number_of_columns_and_the_promise(store):
    promise = Promise(2.0, "always")
    found = solve_zero(as_matrix(store(np.zeros((4, 3)))), promise)
    assert found.directions.shape == found.components.shape == (0, 3)
    assert found.promise is promise
    assert found.steps == ("zero matrix",)
    assert "zero wherever it has weight" in found.unused
    assert (found.captured, found.history, found.n_sweeps) == (0.0, (), 0)


def test_where_entries_are_missing_only_what_is_observed_is_said_to_be_zero():
    X = np.array([[0.0, np.nan], [np.nan, 0.0]])
    found = solve_zero(as_matrix(X, missing_values=np.nan), Promise())
    assert "observed" in found.unused


def test_solutions_share_no_array_that_stands_for_nothing():
    one, other = Solution(np.eye(2)), Solution(np.eye(2))
    assert one.components is not other.components
    assert one.components.size == 0
