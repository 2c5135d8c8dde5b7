"""The answer and what it leaves, cell by cell, against the same from whole matrices."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf import factorize
from orthonmf.report import find, remainder
from orthonmf.report.heatmap import heat_maps
from orthonmf.report.remainder import Cells, approximate_cells, subtract_cells

CELLS = Cells(np.arange(60) // 7, np.arange(40) // 6, (9, 7))


def data(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((60, 40)) * (rng.random((60, 40)) < 0.5)
    X[3], X[:, 5] = 0, 0
    return X


def summed(entries):
    found = np.zeros(CELLS.shape)
    np.add.at(found, (CELLS.rows[:, None], CELLS.columns[None, :]), np.square(entries))
    return found


@pytest.mark.filterwarnings("ignore::orthonmf.errors.FewerComponentsWarning")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("make", [np.array, csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("setting", ["samples", "features", "both"])
def test_cells_are_those_of_the_whole_matrices(setting, make, weighted, monkeypatch):
    monkeypatch.setattr(remainder, "MOST_NUMBERS", 200)  # several batches
    X = data()
    weights = np.random.default_rng(1).random(40) + 0.1 if weighted else None
    given = {"orthogonal": setting, "feature_weight": weights, "certificate": None, "n_init": 1}
    result = factorize(make(X), 4, random_state=0, **given)
    matrix = find(make(X), result).matrix
    loadings = result.loadings
    loadings = loadings.toarray() if hasattr(loadings, "toarray") else loadings
    answer = loadings @ result.components
    approximated = approximate_cells(matrix, result, CELLS)
    np.testing.assert_allclose(approximated, summed(answer), rtol=1e-9, atol=1e-12)
    left = subtract_cells(matrix, result, CELLS, summed(X), approximated)
    np.testing.assert_allclose(left, summed(X - answer), rtol=1e-9, atol=1e-9)
    assert left.sum() == pytest.approx(np.square(X - answer).sum())


def test_missing_entries_leave_nothing_to_draw():
    X = data() + 0.1
    X[4, 7] = np.nan
    result = factorize(X, 3, missing_values=np.nan, certificate=None, random_state=0)
    drawn = heat_maps(find(X, result, missing=True), result).list_pictures()
    assert [name for name, _, _ in drawn] == ["original", "ordered", "approximated"]


def test_an_exact_answer_leaves_nothing():
    X = np.kron(np.eye(3), np.ones((4, 4)))
    result = factorize(X, 3, certificate=None, random_state=0)
    maps = heat_maps(find(X, result), result)
    assert not maps.left.levels.any()
    assert np.array_equal(maps.approximated.levels, maps.ordered.levels)
