"""Functions of tensors give what NumPy gives, at every scale and cut into any pieces."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from orthonmf.engine.gpu import functions as tensor_functions  # noqa: E402
from orthonmf.engine.gpu.functions import (  # noqa: E402
    first_of,
    ldexp,
    sum_by_label,
    told_when_full,
)
from orthonmf.errors import TooLargeError  # noqa: E402


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("power", [-2040, -1070, -901, -3, 0, 7, 1001, 2040])
def test_powers_of_two_are_exact_as_far_as_numbers_reach(dtype, power):
    values = np.array([0.0, 1.5, 3e-30, 7e20, np.finfo(dtype).max, np.finfo(dtype).tiny], dtype)
    with np.errstate(over="ignore", under="ignore"):
        expected = np.ldexp(values, power)
    found = ldexp(torch.tensor(values), torch.tensor(power))
    assert found.dtype == torch.tensor(values).dtype
    np.testing.assert_array_equal(found.numpy(), expected)


@pytest.mark.parametrize("entries", [1, 10, 2**25])
def test_sums_by_label_leave_out_labels_below_zero(entries, monkeypatch):
    monkeypatch.setattr(tensor_functions, "SPREAD_ENTRIES", entries)
    rng = np.random.default_rng(0)
    labels, values = rng.integers(-1, 4, size=50).astype(np.int32), rng.random(50)
    expected = np.bincount(labels + 1, values, minlength=6)[1:]
    found = sum_by_label(torch.tensor(labels), torch.tensor(values), 5)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-14)
    assert found.dtype == torch.float64
    assert sum_by_label(torch.tensor(labels), torch.tensor(values), 0).shape == (0,)


def test_the_first_place_of_a_value_is_found_in_every_row():
    values = torch.tensor([[1.0, 3.0, 3.0], [2.0, 0.0, 2.0], [0.0, 0.0, 5.0]])
    found = first_of(values, values.amax(dim=1, keepdim=True))
    assert found.dtype == torch.int32
    assert found.tolist() == [1, 0, 2]


def test_a_device_without_room_is_told_with_a_remedy_and_other_errors_stay():
    with (
        pytest.raises(TooLargeError, match=r"full.*stream_to_device\(X.cpu\(\)\)"),
        told_when_full(),
    ):
        raise torch.OutOfMemoryError("full\nand a long story")
    with pytest.raises(RuntimeError, match=r"^other$"), told_when_full():
        raise RuntimeError("other")
