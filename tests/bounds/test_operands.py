"""What a search multiplies with: stored or not, it is the same matrix."""

import numpy as np
import pytest

from orthonmf.bounds.operands import ProductsOfRows, Stored

RNG = np.random.default_rng(0)
ROWS, VECTORS = RNG.random((12, 3)), RNG.standard_normal((12, 2))
OPERANDS = {"stored": lambda rows: Stored(rows @ rows.T), "rows": ProductsOfRows}


@pytest.fixture(params=OPERANDS)
def make(request):
    return OPERANDS[request.param]


def test_products_are_those_of_the_matrix(make):
    operand = make(ROWS.copy())
    assert len(operand) == 12
    np.testing.assert_allclose(operand.times(VECTORS), ROWS @ ROWS.T @ VECTORS)


def test_factors_multiply_the_matrix_one_after_the_other(make):
    operand = make(ROWS.copy())
    for factor in (0.25, 8.0):
        operand.scale(factor)
    np.testing.assert_allclose(operand.times(VECTORS), 2.0 * ROWS @ ROWS.T @ VECTORS)


def test_rows_and_products_together_add_the_matrix_once(make):
    """(P + B) V by blocks of rows, as a search forms it, for any P."""
    operand, part = make(ROWS.copy()), RNG.random((12, 12))
    operand.scale(2.0)
    product = np.empty_like(VECTORS)
    for start in range(0, 12, 5):
        rows = slice(start, min(12, start + 5))
        some = part[rows].copy()
        operand.add_rows(some, rows)
        product[rows] = some @ VECTORS
    operand.add_products(product, VECTORS)
    np.testing.assert_allclose(product, (part + 2.0 * ROWS @ ROWS.T) @ VECTORS)


def test_the_precision_is_that_of_what_is_given(make):
    operand = make(ROWS.astype(np.float32))
    operand.scale(0.5)
    assert operand.dtype == np.float32
    assert operand.times(VECTORS.astype(np.float32)).dtype == np.float32
