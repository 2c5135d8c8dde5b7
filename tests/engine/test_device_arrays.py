"""NumPy's functions give the same for arrays on a device; what is not known there still works."""

import numpy as np
import pytest

from orthonmf.engine.placement import find_largest, on_host, take
from orthonmf.engine.sampling import draw, draw_sample
from orthonmf.kmeans.seeding import lines, plain
from orthonmf.vectors import divide

torch = pytest.importorskip("torch")

from orthonmf.engine.gpu.arrays import SLAB, DeviceArray  # noqa: E402

RNG = np.random.default_rng(0)
V = RNG.exponential(size=3 * SLAB + 77)
V[[3, 900]] = 0.0
LABELS = RNG.integers(-1, 5, size=len(V)).astype(np.int32)
P = RNG.random((len(V), 3))


def there(array):
    return DeviceArray(torch.tensor(array))


@pytest.mark.parametrize(
    "compute",
    [
        lambda v, labels, p: np.sqrt(v) * 2.0 + 1,
        lambda v, labels, p: np.where(labels >= 0, v, 0.0),
        lambda v, labels, p: take(np.arange(7, dtype=np.int32), labels),
        lambda v, labels, p: np.bincount(np.maximum(labels, 0), v, minlength=5),
        lambda v, labels, p: np.flatnonzero((v > 0.5) & ~(labels < 0)),
        lambda v, labels, p: v @ (p * v[:, None]),
        lambda v, labels, p: divide(p, v[:, None]),
        lambda v, labels, p: plain(p, np.array([0.1, 0.2, 0.3])),
        lambda v, labels, p: lines(p, np.array([0.1, 0.0, 0.3])),
        lambda v, labels, p: np.ldexp(v, -3, dtype=np.float64),
        lambda v, labels, p: np.ldexp(v, labels - 900),
        lambda v, labels, p: np.cumsum(v),  # not known on a device
        lambda v, labels, p: p.max(axis=1) * p.max(initial=0.5) - v[:0].max(initial=0.25),
        lambda v, labels, p: p.sum(axis=0),
        lambda v, labels, p: p.mean(),
        lambda v, labels, p: p.argmax(axis=1),
        lambda v, labels, p: p[[4, 2], [0, 1]],
        lambda v, labels, p: np.min(v, initial=np.inf, where=v > 0),
        lambda v, labels, p: np.concatenate([v[:3], v[-2:]]),
    ],
)
def test_functions_give_what_they_give_for_arrays(compute):
    expected = compute(V.copy(), LABELS.copy(), P.copy())
    computed = compute(there(V), there(LABELS), there(P))
    np.testing.assert_allclose(on_host(computed), expected, rtol=1e-13)
    assert np.asarray(computed).dtype == np.asarray(expected).dtype


def test_entries_are_written_in_place():
    computed, expected = there(P), P.copy()
    for array in (computed, expected):
        array[5:9] = 2.0
        array[[1, 2], [0, 1]] = 0.0
        np.minimum(array, 0.75, out=array)
        array *= 2.0
    np.testing.assert_array_equal(on_host(computed), expected)


def test_sums_over_all_points_come_to_the_host_and_others_stay():
    assert isinstance(there(P).sum(axis=1), DeviceArray)
    assert isinstance(take(np.arange(7), there(LABELS)), DeviceArray)
    assert isinstance(there(P).sum(axis=0), np.ndarray)
    assert isinstance(there(V) @ there(P), np.ndarray)
    assert isinstance(there(V).sum(), np.floating)


def test_draws_are_those_from_an_array():
    for draws in (draw, draw_sample):
        mine = draws(there(V), 400, np.random.default_rng(1))
        np.testing.assert_array_equal(mine, draws(V, 400, np.random.default_rng(1)))
    last = np.zeros(2 * SLAB + 5)
    last[SLAB + 3] = 1.0
    assert set(draw(there(last), 50, np.random.default_rng(0))) == {SLAB + 3}


def test_the_largest_are_found_in_order_and_equality_is_told():
    assert np.array_equal(there(LABELS), LABELS)
    assert not np.array_equal(there(LABELS), LABELS[1:])
    for least in (0.5, V / 2, 1e9):
        mine = find_largest(there(V), there(least) if np.ndim(least) else least, 6)
        np.testing.assert_array_equal(mine, find_largest(V, least, 6))
