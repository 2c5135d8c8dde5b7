"""Every kernel does what the interface says: each operation against its definition in NumPy."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf.engine.kernels.dense import DENSE
from orthonmf.engine.kernels.interface import Penalty
from orthonmf.engine.kernels.sparse import SPARSE
from orthonmf.engine.units import NO_ENTRIES, Units

try:
    import torch

    from orthonmf.engine.gpu.kernel import TensorKernel
except ImportError:  # tensors are an extra
    torch = None

RNG = np.random.default_rng(0)
X = RNG.exponential(size=(40, 9)) * (RNG.random((40, 9)) < 0.5)
X[7] = 0.0
DIRECTIONS = RNG.random((4, 9))
LABELS = RNG.integers(4, size=40).astype(np.int32)
WEIGHTS, FACTORS = RNG.exponential(size=40), RNG.exponential(size=9)

KERNELS = {"dense": DENSE, "sparse": SPARSE}
if torch is not None:
    KERNELS["tensors"] = TensorKernel(torch.device("cpu"))


def held(kernel, array):
    """A copy of an array as the kernel takes it."""
    if kernel is SPARSE:
        return csr_array(array)
    return torch.tensor(array) if kernel.on_device else array.copy()


pytestmark = pytest.mark.parametrize(
    ("kernel", "rows"), [(one, held(one, X)) for one in KERNELS.values()], ids=list(KERNELS)
)


def plain(rows):
    return rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows)


def close(found, expected):
    np.testing.assert_allclose(plain(found), expected, rtol=1e-12, atol=1e-14)


def test_units_and_powers(kernel, rows):
    units = Units(3, np.arange(40, dtype=np.int32), np.arange(9, dtype=np.int32))
    close(kernel.scale(rows, units), np.ldexp(X, -3 - np.add.outer(np.arange(40), np.arange(9))))
    assert kernel.scale(rows, Units()) is rows
    powers = kernel.find_row_powers(rows, None)
    assert powers[7] == NO_ENTRIES
    assert (X.max(axis=1) < np.ldexp(1.0, np.where(powers > NO_ENTRIES, powers, 0))).all()


def test_a_look_finds_the_first_offense(kernel, rows):
    looked = kernel.look(rows, FACTORS)
    assert looked.offense is None
    assert looked.largest == X.max()
    close(looked.row_squares, X**2 @ FACTORS)
    close(kernel.square_columns(rows, WEIGHTS), WEIGHTS @ X**2)
    bad = X.copy()
    row, column = np.argwhere(X > 0)[20]
    bad[row, column] = -1.0
    found = kernel.look(held(kernel, bad), None).offense
    assert found == (row, column, -1.0)


def test_products_winners_and_steps(kernel, rows):
    products = X @ DIRECTIONS.T
    close(kernel.multiply_directions(rows, DIRECTIONS), products)
    offsets, lengths = RNG.random(4), np.linalg.norm(X, axis=1)
    scores = products - np.multiply.outer(lengths, offsets)
    labels, best = kernel.find_winners(rows, DIRECTIONS, Penalty(offsets, lengths))
    np.testing.assert_array_equal(labels, scores.argmax(axis=1))
    close(best, scores.max(axis=1))
    members = np.eye(4)[LABELS]
    close(kernel.sum_rows(rows, LABELS, WEIGHTS, 4), (members * WEIGHTS[:, None]).T @ X)
    own = products[np.arange(40), LABELS]
    updated = kernel.update(rows, DIRECTIONS, LABELS, WEIGHTS)
    close(updated.products, own)
    close(updated.sums, (members * (own * WEIGHTS)[:, None]).T @ X)
    swept = kernel.sweep(rows, DIRECTIONS, row_weights=WEIGHTS)
    winners = np.eye(4)[products.argmax(axis=1)] * (products.max(axis=1) * WEIGHTS)[:, None]
    close(swept.sums, winners.T @ X)


def test_columns_and_grams(kernel, rows):
    combined = X @ DIRECTIONS.T
    found = kernel.combine_columns(rows, DIRECTIONS, WEIGHTS, exact=True)
    close(found.products, (combined * WEIGHTS[:, None]).T @ X)
    close(found.squares, WEIGHTS @ combined**2)
    gram = np.ones((X.shape[1], X.shape[1]))
    kernel.add_gram(rows, gram)
    close(gram, 1.0 + X.T @ X)
    close(kernel.gram_rows(rows), X @ X.T)
    weighted = np.sqrt(WEIGHTS)[:, None] * X * FACTORS
    close(kernel.gram(rows, FACTORS, WEIGHTS), weighted.T @ weighted)


def test_residuals_and_cells(kernel, rows):
    loadings = RNG.random((40, 4))
    squares = kernel.square_residuals(rows, loadings, DIRECTIONS, FACTORS)
    close(squares, (((X - loadings @ DIRECTIONS) * FACTORS) ** 2).sum(axis=1))
    down, across = csr_array(np.eye(4)[LABELS]), csr_array(np.eye(3)[np.arange(9) % 3])
    (cells,) = kernel.sum_cells(rows, [down], [across])
    close(cells, np.eye(4)[LABELS].T @ X**2 @ np.eye(3)[np.arange(9) % 3])


def test_rows_as_they_are_stored(kernel, rows):
    close(kernel.multiply(rows, WEIGHTS, FACTORS), WEIGHTS[:, None] * X * FACTORS)
    close(kernel.normalize(rows, WEIGHTS, FACTORS), X * FACTORS / WEIGHTS[:, None])
    close(kernel.stack([rows, rows], True), np.concatenate([X, X]).T)
    close(kernel.take_dense(rows, np.array([3, 1])), X[[3, 1]])
    np.testing.assert_array_equal(kernel.find_filled(rows), X.any(axis=1))
    places, columns, values = kernel.list_entries(rows)
    close(csr_array((values, (places, columns)), shape=X.shape), X)
    stored = np.count_nonzero(X, axis=0) if kernel.sparse else np.full(9, 40)
    np.testing.assert_array_equal(kernel.count_entries(rows), stored)
    assert kernel.add_bits(rows) == kernel.add_bits(held(kernel, X)) != kernel.add_bits(rows * 2)


def test_missing_entries_are_left_out(kernel, rows):
    gaps = (np.arange(360).reshape(40, 9) % 7 == 0) & (X > 0)
    with_gaps = np.where(gaps, np.nan, X)
    block = held(kernel, with_gaps)
    assert kernel.any_missing(block)
    assert not kernel.any_missing(rows)
    filled, squares = np.where(gaps, 0.0, X), RNG.random((4, 9))
    close(kernel.fill(block), filled)
    observed = kernel.observe(block)
    close(observed.multiply_directions(DIRECTIONS), filled @ DIRECTIONS.T)
    loadings = RNG.random((40, 4))
    close(observed.multiply_columns(loadings), loadings.T @ filled)
    np.testing.assert_allclose(observed.sum_observed(squares), ~gaps @ squares.T, rtol=1e-10)
    np.testing.assert_allclose(observed.sum_observed_rows(loadings), loadings.T @ ~gaps, rtol=1e-10)
