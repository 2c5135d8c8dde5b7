"""Two answers with a core, recombined: what both keep together is all that is kept."""

import numpy as np

from orthonmf.inputs.data import as_matrix
from orthonmf.onmf.core.descent import descend_core
from orthonmf.onmf.core.escapes import recombine
from orthonmf.onmf.solution import CoreSolution
from tests.onmf.small_points import random_factors, some_options

CORE = np.array([[4.0, 1.0, 0.5], [0.2, 3.0, 1.0], [1.0, 0.3, 2.0]])
ROWS, COLUMNS = np.arange(12) % 3, np.arange(9) % 3


def planted():
    rng = np.random.default_rng(0)
    scales = np.outer(rng.uniform(1, 2, 12), rng.uniform(1, 2, 9))
    return CORE[ROWS][:, COLUMNS] * scales


def options_for(k, n_groups):
    return some_options(k, asked=(k, n_groups), orthogonal="both", n_groups=n_groups, tol=1e-4)


def settled(X, columns, k=3):
    """An answer whose groups of columns are given, and rows as these see them."""
    groups = (columns == np.arange(3)[:, None]) * np.sqrt(np.sum(X**2, axis=0))
    groups /= np.linalg.norm(groups, axis=1)[:, None]
    return CoreSolution(groups, X[:k] @ groups.T)


def error_of(X, factors):
    """The relative squared error with these groups of columns, without any descent."""
    groups, core = factors.groups, factors.core
    units = core / np.linalg.norm(core, axis=1)[:, None]
    return 1 - np.square(X @ groups.T @ units.T).max(axis=1).sum() / np.sum(X**2)


def test_two_answers_that_are_wrong_in_different_places_make_the_right_one():
    X = planted()
    matrix = as_matrix(X)
    one, other = COLUMNS.copy(), COLUMNS.copy()
    one[0], other[4] = 1, 2  # each puts one column where it does not belong
    first, second = settled(X, one), settled(X, other)
    assert min(error_of(X, first), error_of(X, second)) > 1e-3
    found = recombine(matrix, first, second, options_for(3, 3))
    assert np.all(np.count_nonzero(found.groups, axis=0) == 1)
    assert error_of(X, found) < 1e-10


def test_an_answer_on_cells_is_no_worse_than_the_first_whose_scales_it_has():
    rng = np.random.default_rng(4)
    X, weights = rng.exponential(size=(12, 9)) ** 2, rng.choice([0.0, 1.0, 100.0], 12)
    weights[0], matrix = 100.0, as_matrix(X, sample_weight=weights)
    one, other = (
        descend_core(matrix, random_factors(rng, 3, 3, 9), max_iter=20, tol=1e-9).directions
        for _ in range(2)
    )
    found = recombine(matrix, one, other, options_for(3, 3))
    Y = X * np.sqrt(weights)[:, None]
    assert error_of(Y, found) <= error_of(Y, one) * (1 + 1e-3)
