"""The picture of a matrix shows what the matrix holds."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf import factorize
from orthonmf.report import find
from orthonmf.report.heatmap import MOST_CELLS, axis, heat_maps, order_by_component
from tests.report.stories import blocks


def expected(X, rows, columns, low, high):
    levels = np.zeros((len(rows.edges) - 1, len(columns.edges) - 1), int)
    for i in range(levels.shape[0]):
        for j in range(levels.shape[1]):
            down = rows.order[rows.edges[i] : rows.edges[i + 1]]
            across = columns.order[columns.edges[j] : columns.edges[j + 1]]
            mean = np.sqrt(np.mean(X[np.ix_(down, across)] ** 2))
            if mean > 0:
                share = np.log(mean / low) / np.log(high / low)
                levels[i, j] = 1 + round(254 * min(max(share, 0), 1))
    return levels


@pytest.mark.parametrize("setting", ["samples", "features", "both"])
def test_cells_are_root_mean_squares_on_a_log_scale(setting):
    X = blocks()
    maps = heat_maps(find(X, factorize(X, 3, orthogonal=setting, random_state=0)))
    for one in (maps.original, maps.ordered):
        wanted = expected(X, one.rows, one.columns, maps.low, maps.high)
        assert np.abs(one.levels.astype(int) - wanted).max() <= 1
    assert maps.high == X.max()
    assert np.array_equal(maps.original.rows.order, np.arange(30))


@pytest.mark.slow
def test_large_matrices_are_cut_into_few_cells():
    X = np.random.default_rng(0).random((1003, 450))
    maps = heat_maps(find(X, factorize(X, 2, certificate=None, random_state=0)))
    assert maps.original.levels.shape == (MOST_CELLS, MOST_CELLS)
    wanted = expected(X, maps.ordered.rows, maps.ordered.columns, maps.low, maps.high)
    assert np.abs(maps.ordered.levels.astype(int) - wanted).max() <= 1


def test_sparse_data_give_the_same_picture():
    rng = np.random.default_rng(1)
    X = rng.random((700, 500)) * (rng.random((700, 500)) < 0.02)
    result = factorize(X, 4, orthogonal="both", certificate=None, random_state=0)
    sparse, dense = (heat_maps(find(one, result)) for one in (csr_array(X), X))
    assert np.array_equal(sparse.ordered.levels, dense.ordered.levels)
    assert np.array_equal(sparse.original.levels, dense.original.levels)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_the_size_of_the_numbers_does_not_matter(scale):
    X = blocks()
    result = factorize(X * scale, 3, random_state=0)
    usual = heat_maps(find(X, factorize(X, 3, random_state=0)))
    odd = heat_maps(find(X * scale, result))
    difference = usual.ordered.levels.astype(int) - odd.ordered.levels.astype(int)
    assert np.abs(difference).max() <= 1
    assert odd.high == pytest.approx(usual.high * scale)


def test_components_stand_together_and_what_has_none_stands_last():
    order = order_by_component(np.array([1, -1, 0, 1, 0]), np.array([1.0, 0, 2, 3, 4]), 2)
    assert order.tolist() == [4, 2, 3, 0, 1]


def test_every_place_is_in_one_cell():
    for size in (1, 2, 399, 400, 401, 1234):
        cut = axis(np.random.default_rng(size).permutation(size))
        sizes = np.bincount(cut.cells(), minlength=len(cut.edges) - 1)
        assert np.array_equal(sizes, np.diff(cut.edges))
        assert sizes.max() - sizes.min() <= 1


def test_a_zero_matrix_has_an_empty_picture():
    X = np.zeros((3, 4))
    with pytest.warns(UserWarning, match="zero"):
        result = factorize(X, 2)
    assert not heat_maps(find(X, result)).original.levels.any()


@pytest.mark.parametrize("setting", ["samples", "features"])
def test_shares_with_missing_entries_are_those_of_the_error(setting):
    X = blocks()
    X[2, 3] = X[7, 1] = np.nan
    result = factorize(X, 3, orthogonal=setting, missing_values=np.nan, random_state=0)
    found = find(X, result, missing=True)
    assert 1 - found.captured == pytest.approx(result.relative_squared_error, abs=1e-9)
    assert found.row_misses.sum() == pytest.approx(result.relative_squared_error, abs=1e-9)


@pytest.mark.parametrize("setting", ["samples", "features", "both"])
def test_shares_add_up(setting):
    X = blocks()
    result = factorize(X, 3, orthogonal=setting, random_state=0)
    found = find(X, result)
    residual = ((X - result.loadings @ result.components) ** 2).sum(axis=1)
    kept = X.any(axis=1)
    assert np.allclose(found.row_shares[kept], 1 - residual[kept] / (X[kept] ** 2).sum(axis=1))
    assert np.isnan(found.row_shares[~kept]).all()
    assert found.row_misses.sum() == pytest.approx(result.relative_squared_error)
