"""The pictures show what the matrix, its answer and the rest hold; against whole matrices."""

from itertools import product

import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf import factorize
from orthonmf.report import find
from orthonmf.report.heatmap import MOST_CELLS, heat_maps
from tests.arrays import to_array
from tests.report.stories import blocks

PICTURES = ["original", "ordered", "approximated", "left"]


def expected(X, maps, axes, unit):
    """Levels of the cells of a picture, one by one; 0 where nothing is."""
    levels = np.zeros(maps.levels["ordered"].shape, int)
    for cell in product(*map(range, levels.shape)):
        down, across = (
            axis.order[axis.edges[at] : axis.edges[at + 1]]
            for axis, at in zip(axes, cell, strict=True)
        )
        mean = np.sqrt(np.mean((X[np.ix_(down, across)] / unit) ** 2))
        if mean > 1e-9:
            share = np.log(mean * unit / maps.low) / np.log(maps.high / maps.low)
            levels[cell] = 1 + round(254 * min(max(share, 0), 1))
    return levels


def check(maps, X, result, unit=1.0):
    answer = to_array(result.loadings) @ result.components
    shown = {"original": X, "ordered": X, "approximated": answer, "left": X - answer}
    for name, levels in maps.levels.items():
        axes = maps.came if name == "original" else maps.ordered
        wanted = expected(shown[name], maps, axes, unit)
        assert np.abs(levels.astype(int) - wanted).max() <= 1, name


@pytest.mark.filterwarnings("ignore::orthonmf.errors.FewerComponentsWarning")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("make", [np.array, csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("setting", ["samples", "features", "both", "core"])
def test_cells_are_root_mean_squares_on_a_log_scale(setting, make, weighted):
    X = blocks()
    weights = np.random.default_rng(1).random(12) + 0.1 if weighted else None
    given = {"orthogonal": "both" if setting == "core" else setting, "feature_weight": weights}
    k = (3, 2) if setting == "core" else 3
    result = factorize(make(X), k, certificate=None, random_state=0, **given)
    maps = heat_maps(find(make(X), result), result)
    assert list(maps.levels) == PICTURES
    assert maps.high == pytest.approx(X.max())
    assert np.array_equal(maps.came[0].order, np.arange(30))
    check(maps, X, result)


@pytest.mark.slow
@pytest.mark.parametrize("make", [np.array, csr_array], ids=["dense", "sparse"])
def test_large_matrices_are_read_in_blocks_and_cut_into_few_cells(make):
    rng = np.random.default_rng(0)
    X = rng.random((20_000, 450)) * (rng.random((20_000, 450)) < 0.1)  # several blocks
    result = factorize(make(X), 2, certificate=None, random_state=0)
    maps = heat_maps(find(make(X), result), result)
    assert maps.levels["original"].shape == (MOST_CELLS, MOST_CELLS)
    rows, columns = maps.ordered
    sizes = np.diff(rows.edges)
    assert sizes.max() - sizes.min() <= 1
    energies = (rows.members().T @ np.square(X)) @ columns.members()
    means = np.sqrt(energies / np.outer(sizes, np.diff(columns.edges)))
    share = np.log(np.maximum(means, maps.low) / maps.low) / np.log(maps.high / maps.low)
    wanted = np.where(means > 0, 1 + np.rint(254 * share), 0)
    assert np.abs(maps.levels["ordered"] - wanted).max() <= 1


def test_components_stand_together_the_strongest_first_and_what_has_none_last():
    X = blocks()
    result = factorize(X, 3, orthogonal="both", certificate=None, random_state=0)
    order = heat_maps(find(X, result), result).ordered[0].order
    labels, scales = result.labels[order], result.scales[order]
    assert labels.tolist() == [*sorted(labels[labels >= 0]), *labels[labels < 0]]
    for component in range(3):
        assert (np.diff(scales[labels == component]) <= 0).all()


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_the_size_of_the_numbers_does_not_matter(scale):
    X = scale * blocks()
    result = factorize(X, 3, certificate=None, random_state=0)
    check(heat_maps(find(X, result), result), X, result, scale)


def test_of_missing_entries_nothing_is_left_to_draw():
    X = blocks()
    X[4, 7] = np.nan
    result = factorize(X, 3, missing_values=np.nan, certificate=None, random_state=0)
    maps = heat_maps(find(X, result, missing_values=np.nan), result)
    assert list(maps.levels) == PICTURES[:3]
    assert maps.levels["original"][4, 7] == 0


def test_an_exact_answer_leaves_nothing_and_a_zero_matrix_has_empty_pictures():
    X = np.kron(np.eye(3), np.ones((4, 4)))
    result = factorize(X, 3, certificate=None, random_state=0)
    maps = heat_maps(find(X, result), result)
    assert not maps.levels["left"].any()
    assert np.array_equal(maps.levels["approximated"], maps.levels["ordered"])
    with pytest.warns(UserWarning, match="zero"):
        nothing = factorize(np.zeros((3, 4)), 2)
    assert not heat_maps(find(np.zeros((3, 4)), nothing), nothing).levels["original"].any()


@pytest.mark.parametrize("setting", ["samples", "features"])
def test_shares_with_missing_entries_are_those_of_the_error(setting):
    X = blocks()
    X[2, 3] = X[7, 1] = np.nan
    result = factorize(X, 3, orthogonal=setting, missing_values=np.nan, random_state=0)
    findings = find(X, result, missing_values=np.nan)
    assert 1 - findings.captured == pytest.approx(result.relative_squared_error, abs=1e-9)
    assert findings.row_misses.sum() == pytest.approx(result.relative_squared_error, abs=1e-9)


@pytest.mark.parametrize("setting", ["samples", "features", "both"])
def test_shares_add_up(setting):
    X = blocks()
    result = factorize(X, 3, orthogonal=setting, random_state=0)
    findings = find(X, result)
    residual = ((X - result.loadings @ result.components) ** 2).sum(axis=1)
    kept = X.any(axis=1)
    assert np.allclose(findings.row_shares[kept], 1 - residual[kept] / (X[kept] ** 2).sum(axis=1))
    assert np.isnan(findings.row_shares[~kept]).all()
    assert findings.row_misses.sum() == pytest.approx(result.relative_squared_error)
