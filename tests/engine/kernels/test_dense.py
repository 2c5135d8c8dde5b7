"""Dense blocks: every way a size may choose gives what the plainest product gives."""

import threading

import numpy as np
import pytest

from orthonmf.engine.kernels import dense
from orthonmf.engine.kernels.dense import DENSE, row_dots, scratch
from orthonmf.engine.units import NO_ENTRIES, SWITCHED_OFF

RNG = np.random.default_rng(0)
X = RNG.exponential(size=(90, 13)) * (RNG.random((90, 13)) < 0.7)
X[4] = 0.0
WEIGHTS = RNG.exponential(size=90)
DTYPES = [np.float64, np.float32]


@pytest.fixture(params=["as it is", "by small steps"])
def _steps(request, monkeypatch):
    """Blocks of tests are small, so steps must be smaller to be more than one."""
    if request.param == "by small steps":
        monkeypatch.setattr(dense, "CHUNK_ENTRIES", 5 * 13)
        monkeypatch.setattr(dense, "FEWEST_ROWS", 7)
        monkeypatch.setattr(dense, "SCORES_IN_CACHE", 1)
        monkeypatch.setattr(dense, "SMALL_MEMBERS", 0)
        monkeypatch.setattr(dense, "GATHER_FROM", 2)
        monkeypatch.setattr(dense, "SEGMENTS_FROM", 2)
        monkeypatch.setattr(dense, "MOST_BYTES_KEPT", 100)


def close(found, expected, dtype=np.float64):
    np.testing.assert_allclose(found, expected, rtol=1e-12 if dtype == np.float64 else 2e-6)


def disjoint_directions(k, m=13):
    owners = np.arange(m) % k
    return np.where(owners == np.arange(k)[:, None], RNG.random((k, m)) + 0.1, 0.0)


@pytest.mark.usefixtures("_steps")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("k", [1, 4, 40, 130])
def test_winners_updates_and_sums(k, dtype):
    rows, directions = X.astype(dtype), RNG.random((k, 13))
    products = rows @ directions.astype(dtype).T
    labels, best = DENSE.find_winners(rows, directions)
    close(best, products.max(axis=1), dtype)
    close(products[np.arange(90), labels], best, dtype)
    assert labels.dtype == np.int32
    given = RNG.integers(-1, k, 90).astype(np.int32)
    updated = DENSE.update(rows, directions, given, WEIGHTS)
    own = np.where(given >= 0, products[np.arange(90), np.maximum(given, 0)], 0.0)
    close(updated.products, own, dtype)
    expected = np.zeros((k, 13))
    np.add.at(expected, np.maximum(given, 0), (own * WEIGHTS)[:, None] * rows)
    np.testing.assert_allclose(updated.sums, expected, rtol=1e-5, atol=1e-6)
    assert updated.sums.dtype == np.float64


@pytest.mark.usefixtures("_steps")
def test_of_equal_scores_the_lowest_direction_wins():
    for k in (4, 130):
        directions = np.ones((k, 13))
        directions[0] = 0.0
        labels, _ = DENSE.find_winners(X, directions)
        np.testing.assert_array_equal(labels, np.where(X.any(axis=1), 1, 0))


@pytest.mark.usefixtures("_steps")
@pytest.mark.parametrize("k", [3, 6])
def test_directions_that_share_no_column_give_the_same_in_segments(k):
    directions = disjoint_directions(k)
    directions[1] = 0.0  # one without columns
    products = X @ directions.T
    close(DENSE.multiply_directions(X, directions, disjoint=True), products)
    labels, best = DENSE.find_winners(X, directions, disjoint=True)
    close(best, products.max(axis=1))
    close(products[np.arange(90), labels], best)


@pytest.mark.usefixtures("_steps")
@pytest.mark.parametrize("dtype", DTYPES)
def test_looks_squares_and_residuals_are_in_float64(dtype):
    rows = (1e-3 * X).astype(dtype)
    wide = rows.astype(np.float64)
    looked = DENSE.look(rows, None)
    close(looked.row_squares, (wide**2).sum(axis=1))
    assert looked.largest == rows.max()
    close(DENSE.square_columns(rows, WEIGHTS), WEIGHTS @ wide**2)
    close(DENSE.square_columns(rows, None), (wide**2).sum(axis=0))
    loadings, components = RNG.random((90, 3)), RNG.random((3, 13))
    difference = wide - loadings @ components
    found = DENSE.square_residuals(rows, loadings, components, None)
    close(found, (difference**2).sum(axis=1))
    close(DENSE.multiply_directions(rows, components), wide @ components.T)
    rough = DENSE.multiply_directions(rows, components, exact=False)
    assert rough.dtype == dtype


@pytest.mark.usefixtures("_steps")
@pytest.mark.parametrize("value", [np.nan, -1.0, np.inf, -np.inf])
def test_the_first_bad_entry_is_named_whatever_follows(value):
    rows = X.copy()
    rows[50, 3] = value
    rows[70, 0] = np.nan
    row, column, found = DENSE.look(rows, None).offense
    assert (row, column) == (50, 3)
    np.testing.assert_equal(found, value)


def test_powers_of_rows_leave_out_columns_that_are_switched_off():
    rows = np.array([[1.0, 8.0, 0.0], [0.0, 5.0, 0.0], [0.75, 0.0, 3.0]])
    np.testing.assert_array_equal(DENSE.find_row_powers(rows, None), [4, 3, 2])
    columns = np.array([0, SWITCHED_OFF, 1], dtype=np.int32)
    np.testing.assert_array_equal(DENSE.find_row_powers(rows, columns), [1, NO_ENTRIES, 1])


def test_grams_of_whole_numbers_are_exact_though_summed_in_float32():
    rows = RNG.integers(0, 50, (200, 6)).astype(np.float64)
    gram = np.zeros((6, 6))
    DENSE.add_gram(rows, gram)
    np.testing.assert_array_equal(gram, rows.T @ rows)
    gram[:] = 0.0
    DENSE.add_gram(rows + 1e-9, gram)
    close(gram, (rows + 1e-9).T @ (rows + 1e-9))


def test_arguments_are_never_changed():
    rows, directions, labels = X.copy(), RNG.random((3, 13)), np.zeros(90, dtype=np.int32)
    before = rows.copy(), directions.copy(), labels.copy()
    DENSE.sweep(rows, directions, row_weights=WEIGHTS)
    DENSE.update(rows, directions, labels, WEIGHTS)
    DENSE.look(rows, None)
    DENSE.gram(rows, np.full(13, 2.0), WEIGHTS)
    for now, then in zip((rows, directions, labels), before, strict=True):
        np.testing.assert_array_equal(now, then)


def test_what_is_given_back_is_not_used_again():
    first = DENSE.sweep(X, RNG.random((5, 13)), row_weights=WEIGHTS)
    kept = first.labels.copy(), first.products.copy(), first.sums.copy()
    DENSE.sweep(2.0 * X[::-1], RNG.random((5, 13)))
    for now, then in zip((first.labels, first.products, first.sums), kept, strict=True):
        np.testing.assert_array_equal(now, then)


@pytest.mark.usefixtures("_steps")
def test_blocks_of_one_shape_are_summed_by_their_own_labels():
    for _ in range(3):
        labels, coefficients = RNG.integers(4, size=90), RNG.random(90)
        expected = np.zeros((4, 13))
        np.add.at(expected, labels, coefficients[:, None] * X)
        close(DENSE.sum_rows(X, labels, coefficients, 4), expected)


def test_scratch_belongs_to_one_thread_and_one_name():
    mine = scratch("a", (3, 4), np.float64)
    assert np.shares_memory(mine, scratch("a", (2, 2), np.float32))
    assert not np.shares_memory(mine, scratch("b", (3, 4), np.float64))
    theirs = []
    thread = threading.Thread(target=lambda: theirs.append(scratch("a", (3, 4), np.float64)))
    thread.start()
    thread.join()
    assert not np.shares_memory(mine, theirs[0])
    large = scratch("a", (dense.MOST_BYTES_KEPT, 1), np.float64)
    assert not np.shares_memory(large, scratch("a", (1,), np.float64)), "too large to be kept"


@pytest.mark.parametrize("dtype", DTYPES)
def test_dots_of_rows(dtype):
    one, other = X.astype(dtype), X[::-1].astype(dtype)
    room = np.empty(90, dtype=dtype)
    assert row_dots(one, other, out=room) is room
    np.testing.assert_allclose(room, (one * other).sum(axis=1), rtol=1e-5)
