"""Kernels on tensors: float32 like arrays, ties, flags of the process, and what is refused."""

import numpy as np
import pytest

from orthonmf.engine.kernels.dense import DENSE
from orthonmf.engine.kernels.interface import Penalty
from orthonmf.engine.loadings import ByLabel
from orthonmf.engine.units import Units
from orthonmf.errors import InvalidInputError

torch = pytest.importorskip("torch")

from orthonmf.engine.gpu import kernel as tensors  # noqa: E402
from orthonmf.engine.gpu.arrays import DeviceArray  # noqa: E402

KERNEL = tensors.TensorKernel(torch.device("cpu"))
RNG = np.random.default_rng(3)
X = RNG.exponential(size=(300, 17)).astype(np.float32)
X[5] = 0.0
DIRECTIONS = RNG.random((6, 17))


def test_float32_rows_are_assigned_and_summed_like_those_of_arrays():
    lengths, offsets = np.linalg.norm(X, axis=1).astype(np.float64), RNG.random(6)
    weights = RNG.random(300)
    for penalty in (None, Penalty(offsets, lengths)):
        mine = KERNEL.sweep(torch.tensor(X), DIRECTIONS, penalty, weights)
        theirs = DENSE.sweep(X, DIRECTIONS, penalty, weights)
        np.testing.assert_array_equal(mine.labels, theirs.labels)
        np.testing.assert_allclose(mine.products, theirs.products, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(mine.sums, theirs.sums, rtol=1e-5)
    sums = KERNEL.sweep(torch.tensor(X), DIRECTIONS, by_row=False)
    assert sums.labels is None
    assert isinstance(sums.sums, DeviceArray)


def test_of_equal_directions_the_first_wins():
    rows, directions = RNG.integers(1, 9, size=(300, 17)), RNG.integers(0, 9, size=(6, 17))
    directions[4] = directions[2]  # products of small integers are exact, and so are ties
    labels, _ = KERNEL.find_winners(torch.tensor(rows, dtype=torch.float32), directions)
    np.testing.assert_array_equal(labels, (rows @ directions.T).argmax(axis=1))


def test_residuals_of_labels_are_those_of_loadings():
    labels = RNG.integers(-1, 6, size=300).astype(np.int32)
    scales = np.where(labels >= 0, RNG.random(300), 0.0)
    loadings = ByLabel(DeviceArray(torch.tensor(labels)), DeviceArray(torch.tensor(scales)), 6)
    found = KERNEL.square_residuals(torch.tensor(X), loadings, DIRECTIONS, None)
    dense = ByLabel(labels, scales, 6).csr().toarray()
    expected = DENSE.square_residuals(X, dense, DIRECTIONS, None)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_units_of_rows_and_columns_are_applied_exactly():
    wide = X.astype(np.float64)
    for units in (
        Units(3),
        Units(-900, np.arange(300, dtype=np.int32)),
        Units(0, None, np.arange(17, dtype=np.int32)),
        Units(5, np.arange(300, dtype=np.int32), np.arange(17, dtype=np.int32)),
    ):
        found = KERNEL.scale(torch.tensor(X), units)
        np.testing.assert_array_equal(found, DENSE.scale(wide, units))


def test_what_the_user_set_for_products_stays():
    settings = torch.backends.cuda.matmul
    before = settings.fp32_precision
    settings.fp32_precision = "tf32"
    try:
        with tensors.float32_as_it_is():
            assert settings.fp32_precision == "ieee"
        assert settings.fp32_precision == "tf32"
    finally:
        settings.fp32_precision = before


def test_nothing_is_proven_by_emulated_products(monkeypatch):
    monkeypatch.setenv(tensors.EMULATION, "1")
    with pytest.raises(InvalidInputError, match="emulated"):
        KERNEL.gram(torch.tensor(X), np.ones(17), None)


def test_the_first_bad_entry_is_named():
    for value in (np.nan, -1.0, np.inf):
        bad = X.copy()
        bad[7, 3] = bad[9, 1] = value
        row, column, found = KERNEL.look(torch.tensor(bad), None).offense
        assert (row, column) == (7, 3)
        np.testing.assert_equal(found, value)
