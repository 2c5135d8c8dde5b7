"""Division by what may be zero."""

import numpy as np
import pytest

from orthant.engine.vectors import divide


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_a_quotient_is_in_float64_and_zero_where_the_divisor_is(dtype):
    values, by = np.array([[6, 8], [1, 0]], dtype=dtype), np.array([[2, 0], [4, 0]], dtype=dtype)
    found = divide(values, by)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, [[3.0, 0.0], [0.25, 0.0]])


def test_divisors_go_with_rows_and_with_columns():
    values = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(divide(values, np.array([[2.0], [0.0]]))[1], np.zeros(3))
    np.testing.assert_array_equal(divide(values, np.array([1.0, 0.0, 2.0]))[:, 2], [1.0, 2.5])


def test_nothing_is_warned_of_and_arguments_stay():
    values, by = np.array([np.nan, 1.0, 2.0]), np.array([0.0, 0.0, 4.0])
    np.testing.assert_array_equal(divide(values, by), [0.0, 0.0, 0.5])
    np.testing.assert_array_equal(by, [0.0, 0.0, 4.0])
