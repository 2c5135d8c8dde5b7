"""What is prepared for the fused kernels on the host: halves of numbers, chunks of labels."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

from orthonmf.engine.gpu import triton_launch  # noqa: E402
from orthonmf.engine.gpu.triton_table import CHUNK  # noqa: E402

RNG = np.random.default_rng(0)


def directions(k=5, m=7):
    return torch.tensor(RNG.exponential(size=(k, m)), dtype=torch.float32)


def test_exact_directions_are_padded_and_nothing_else():
    given = directions()
    high, low = triton_launch._split(given, (16, 32), halves=False, exact=True)
    assert high is low
    assert high.shape == (16, 32)
    assert torch.equal(high[:5, :7], given)
    assert not high[5:].any()
    assert not high[:, 7:].any()


def test_rounded_directions_have_eleven_digits_and_are_the_nearest_such():
    given = directions(40, 30)
    high, _ = triton_launch._split(given, (64, 32), halves=False, exact=False)
    found = high[:40, :30]
    assert not (found.view(torch.int32) & 8191).any(), "what matrix units cut off is zero"
    error = (found.double() - given.double()).abs() / given.double()
    assert error.max() <= 2.0**-11
    # Rounding, unlike cutting, is right on average.
    assert abs(float((found.double() - given.double()).mean() / given.double().mean())) < 2.0**-15


def test_two_halves_hold_sixteen_digits():
    given = directions(40, 30)
    upper, lower = triton_launch._split(given, (64, 32), halves=True, exact=False)
    kept = torch.float32 if triton_launch.kernels.INTERPRETED else torch.bfloat16
    assert upper.dtype == lower.dtype == kept
    both = upper.double() + lower.double()
    error = (both[:40, :30] - given.double()).abs() / given.double()
    assert error.max() <= 2.0**-16
    assert not both[40:].any()


@pytest.mark.parametrize(
    "counts", [[3000, 0, 1, 1024, 1025], [0, 0, 7], [2 * CHUNK], [0, 5, 0, CHUNK + 1, 0]]
)
def test_chunks_hold_every_sorted_row_once_and_by_its_label(counts):
    labels = np.repeat(np.arange(len(counts)), counts)
    in_order = torch.tensor(labels, dtype=torch.int32)
    owners, starts, stops = (part.numpy() for part in triton_launch._chunks(in_order, len(counts)))
    assert len(owners) == len(labels) // CHUNK + len(counts), "known before labels are"
    assert ((stops - starts >= 0) & (stops - starts <= CHUNK)).all()
    covered = [
        (row, owner)
        for owner, start, stop in zip(owners, starts, stops, strict=True)
        for row in range(start, stop)
    ]
    assert sorted(covered) == list(enumerate(labels))


@pytest.mark.parametrize(("n", "size", "expected"), [(1, 16, 1), (16, 16, 1), (17, 16, 2)])
def test_programs_are_as_many_as_hold_all_rows(n, size, expected):
    assert triton_launch._grid(n, size) == expected
