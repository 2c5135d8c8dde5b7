"""The first look finds what is wrong, and units in which nothing that counts is lost."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf.engine import sources
from orthonmf.engine.executors import Serial, Threads
from orthonmf.engine.scan import scan
from orthonmf.engine.sources import ArraySource, in_memory
from tests.engine.weighted import CASES, STORES, make, some_numbers

LARGEST, SMALLEST = np.finfo(np.float64).max, 5e-324


@pytest.fixture(params=STORES)
def store(request, monkeypatch):
    """A way to store a matrix, which then has several blocks."""
    monkeypatch.setattr(sources, "FEWEST_ENTRIES", 30)
    monkeypatch.setattr(sources, "SPARSE_ENTRIES", 20)
    return STORES[request.param]


class Counted(ArraySource):
    """Rows of an array, and how often each block was read."""

    reads = 0

    def block(self, index):
        self.reads += 1
        return super().block(index)


def reads_of(X, *weights):
    source = Counted(X)
    scan(source, Serial(), *weights)
    return source.reads / (len(source.boundaries) - 1)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("columns", [True, False])
def test_squares_are_those_of_the_weighted_matrix_at_every_scale(name, columns, store):
    example = make(CASES[name], store, columns=columns)
    matrix, Y = example.matrix, example.Y_in_units
    squares = matrix.row_squares * np.square(example.row_roots)
    np.testing.assert_allclose(squares, np.square(Y).sum(axis=1), rtol=1e-13)
    np.testing.assert_allclose(matrix.column_squares, np.square(Y).sum(axis=0), rtol=1e-13)
    largest = np.frexp(Y.max())[1]
    assert -3 <= largest <= 5  # the largest entry that counts is near 1


@pytest.mark.parametrize("executor", [Serial(), Threads(3)])
@pytest.mark.parametrize("value", [-1.0, -SMALLEST, np.nan, np.inf, -np.inf])
def test_the_first_bad_entry_of_all_blocks_is_found(store, executor, value):
    X = some_numbers()
    X[9, 5], X[9, 6], X[17, 0] = value, -7.0, -8.0
    found = scan(in_memory(store(X)), executor).offense
    assert found[:2] == (9, 5)
    np.testing.assert_equal(found[2], value)
    assert scan(in_memory(store(np.abs(some_numbers()))), executor).offense is None


def test_a_bad_entry_is_found_where_weights_are_zero(store):
    X = some_numbers()
    X[5, 4] = -1.0
    rows, columns = np.ones(len(X)), np.ones(X.shape[1])
    rows[5] = columns[4] = 0.0
    assert scan(in_memory(store(X)), Serial(), rows, columns).offense == (5, 4, -1.0)


def test_columns_are_squared_only_where_they_are_asked_for(store):
    source = in_memory(store(some_numbers()))
    assert scan(source, Serial(), columns=False).column_squares is None
    found = scan(source, Serial()).column_squares
    np.testing.assert_allclose(found, np.square(some_numbers()).sum(axis=0))


def test_a_matrix_in_safe_range_is_read_once_and_used_as_it_is():
    X = some_numbers()
    rows, columns = np.linspace(0, 3, len(X)), np.linspace(0, 5, X.shape[1])
    found = scan(ArraySource(X), Serial(), rows, columns)
    assert found.units.at_rest
    assert found.units_of_rows.at_rest
    assert reads_of(X) == reads_of(X, rows, columns) == 1
    assert reads_of(X * 2.0**300) == 2
    assert reads_of(X * 2.0**300, rows) == 3


def test_one_power_of_four_is_divided_out_of_weights():
    X = some_numbers()
    rows, columns = np.full(len(X), 5.0 * 4.0**20), np.full(X.shape[1], 3.0 / 4**15)
    found = scan(ArraySource(X), Serial(), rows, columns)
    np.testing.assert_array_equal(found.row_weights, 1.25)
    np.testing.assert_allclose(found.column_factors, np.sqrt(3.0), rtol=1e-15)
    assert found.weight_power == 21 - 15


@pytest.mark.parametrize("power", [-900, -200, 200, 900])
def test_without_weights_one_power_brings_the_largest_entry_near_1(store, power):
    X = np.ldexp(some_numbers(), power)
    found = scan(in_memory(store(X)), Serial())
    assert 0.5 <= np.ldexp(X.max(), -found.units.exponent) < 1
    assert found.units.rows is None
    assert found.units.columns is None
    assert found.units_of_rows == found.units


@pytest.mark.parametrize(("dtype", "power"), [(np.float32, 60), (np.float64, 200)])
def test_what_is_safe_depends_on_the_dtype(dtype, power):
    X = np.ldexp(some_numbers(), power).astype(dtype)
    assert not scan(ArraySource(X), Serial()).units.at_rest
    X = np.ldexp(some_numbers(), power // 4).astype(dtype)
    assert scan(ArraySource(X), Serial()).units.at_rest


def test_entries_that_weights_switch_off_do_not_set_the_scale_of_others(store):
    X = np.ldexp(some_numbers(), -900)
    X[5], X[:, 4] = 2.0**900, 2.0**800
    rows, columns = np.ones(len(X)), np.ones(X.shape[1])
    rows[5] = columns[4] = 0.0
    found = scan(in_memory(store(X)), Serial(), rows, columns)
    expected = some_numbers()
    expected[5] = expected[:, 4] = 0.0
    unit = 4.0 ** (found.units.exponent + found.weight_power + 900)
    np.testing.assert_allclose(
        found.row_squares * found.row_weights * unit, np.square(expected).sum(axis=1), rtol=1e-13
    )
    np.testing.assert_allclose(
        found.column_squares * unit, np.square(expected).sum(axis=0), rtol=1e-13
    )
    assert np.isfinite(found.row_squares).all()


@pytest.mark.parametrize("value", [LARGEST, SMALLEST, 2.0**-1022])
def test_the_largest_and_the_smallest_numbers_have_squares(store, value):
    found = scan(in_memory(store(np.full((3, 2), value))), Serial())
    fraction = np.frexp(value)[0]
    np.testing.assert_allclose(found.row_squares, 2 * fraction**2, rtol=1e-15)


@pytest.mark.parametrize("weight", [LARGEST, SMALLEST])
def test_the_largest_and_the_smallest_weights_are_those_of_one(store, weight):
    X = some_numbers()
    rows, columns = np.full(len(X), weight), np.full(X.shape[1], weight)
    found = scan(in_memory(store(X)), Serial(), rows, columns)
    plain = np.square(X).sum(axis=1)
    ratios = (found.row_squares * found.row_weights)[plain > 0] / plain[plain > 0]
    np.testing.assert_allclose(ratios, ratios[0], rtol=1e-13)
    # The square of a length is that of X, times both weights.
    power = 2 * (found.units.exponent + found.weight_power)
    fraction, exponent = np.frexp(weight)
    expected = np.ldexp(fraction**2, 2 * int(exponent) - power)
    np.testing.assert_allclose(ratios[0], expected, rtol=1e-13)


def test_weights_too_far_apart_for_one_power_keep_their_digits():
    X = np.array([[1.0, 2.0], [3.0, 1.0], [1.0, 1.0]])
    weights = np.array([3.0 * 2.0**1000, 2.0**-1000, 0.0])
    found = scan(ArraySource(X), Serial(), weights)
    assert found.units.rows is not None
    assert found.row_weights[1] > 0
    weighted = found.row_squares * found.row_weights
    power = 2 * (found.units.exponent + found.weight_power)
    assert weighted[0] == pytest.approx(np.ldexp(15.0, 1000 - power))
    assert weighted[2] == 0.0
    assert np.isfinite(found.row_squares).all()


def test_factors_of_columns_keep_their_squares_however_far_apart_the_weights_are(store):
    weights = np.array([3.0 * 2.0**1000, 2.0**-1000, 0.0])
    found = scan(in_memory(store(np.eye(3))), Serial(), None, weights)
    assert (np.square(found.column_factors) > 0).tolist() == [True, True, False]
    fractions, powers = np.square(found.column_factors[:2]), found.units.columns[:2]
    expected = np.ldexp(weights[:2], 2 * (powers - found.weight_power))
    np.testing.assert_allclose(fractions, expected, rtol=1e-15)


@pytest.mark.parametrize("weights", [None, np.array([1.0, 0.0, 2.0**900])])
def test_a_matrix_of_zeros_is_used_as_it_is(store, weights):
    found = scan(in_memory(store(np.zeros((3, 4)))), Serial(), weights)
    assert found.units.at_rest
    assert found.offense is None
    assert not found.row_squares.any()


def test_weights_on_empty_rows_and_columns_alone_leave_nothing(store):
    X = np.array([[2.0**900, 0.0], [0.0, 0.0]])
    found = scan(in_memory(store(X)), Serial(), np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    assert not (found.row_squares * found.row_weights).any()
    assert not found.column_squares.any()
    assert np.isfinite(found.row_squares).all()


def test_a_sparse_matrix_without_entries_is_a_matrix_of_zeros():
    found = scan(in_memory(csr_array((5, 3))), Serial())
    assert not found.row_squares.any()
    assert len(found.row_squares) == 5
