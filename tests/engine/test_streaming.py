"""Rows of the host reach a device block by block, each as it is stored, in whatever order."""

import numpy as np
import pytest

from orthonmf.errors import InvalidInputError
from orthonmf.inputs import data

torch = pytest.importorskip("torch")

from orthonmf.engine.gpu.streaming import DeviceBlocks  # noqa: E402
from orthonmf.engine.gpu.tensor_source import ALIGNED_ROWS, TensorSource  # noqa: E402
from orthonmf.engine.sources import ArraySource, SlicedSource  # noqa: E402
from tests.engine.stores import Slices  # noqa: E402
from tests.engine.test_tensors import CPU, X, fit, with_small_blocks  # noqa: E402
from tests.same_bits import assert_same_bits  # noqa: E402

HOSTS = {
    "rows first": lambda: ArraySource(X),
    "columns first": lambda: ArraySource(np.asfortranarray(X)),
    "float64": lambda: ArraySource(X.astype(np.float64)),
    "counts": lambda: ArraySource(X.astype(np.int16)),
    "slices": lambda: SlicedSource(Slices(X)),
}


class Broken(ArraySource):
    """Rows of which some cannot be read."""

    def take(self, rows):
        if rows.start > 0:
            raise InvalidInputError("the disk is gone")
        return super().take(rows)


@pytest.mark.parametrize("host", HOSTS)
def test_blocks_are_the_rows_of_the_host_in_any_order_and_again(host):
    given = HOSTS[host]()
    source = with_small_blocks(DeviceBlocks(given, CPU))
    expected = given.rows(np.arange(len(X)))
    assert source.boundaries.tolist() == [0, ALIGNED_ROWS, 2 * ALIGNED_ROWS, len(X)]
    for index in (0, 1, 2, 0, 2, 1, 1):
        span = slice(*source.boundaries[index : index + 2])
        block = source.block(index)
        assert block.device == CPU
        assert str(block.dtype) == f"torch.{source.dtype}"
        np.testing.assert_array_equal(block.numpy(), expected[span])


def test_an_error_while_rows_are_copied_reaches_who_asks_for_the_block():
    source = with_small_blocks(DeviceBlocks(Broken(X), CPU))
    np.testing.assert_array_equal(source.block(0).numpy(), X[:ALIGNED_ROWS])
    with pytest.raises(InvalidInputError, match="the disk is gone"):
        source.block(1)


def test_streamed_rows_give_the_bits_of_a_tensor(monkeypatch):
    results = []
    for source in (
        TensorSource(torch.tensor(X)),
        DeviceBlocks(ArraySource(X), CPU),
        DeviceBlocks(ArraySource(np.asfortranarray(X)), CPU),
    ):
        monkeypatch.setattr(
            data, "source_of_tensor", lambda tensor, given=source: with_small_blocks(given)
        )
        results.append(fit(torch.tensor(X)))
    for other in results[1:]:
        assert_same_bits(other, results[0])
