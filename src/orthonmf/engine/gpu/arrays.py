"""Arrays on a device that NumPy's functions work on: one entry, or one row, per point.

Algorithms are written in NumPy. Through the protocols that NumPy has for such arrays
(``__array_ufunc__`` and ``__array_function__``) the same lines compute on the device when a vector
lies there. What has an entry per point stays; sums over all points come to the host, as NumPy.
A function that is not known here gets copies on the host: right, only slower.

No operation whose result may differ from run to run is used: no atomic additions, and no
cumulated sums of floating point numbers (`find_places` cumulates totals of slabs on the host).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.lib.mixins import NDArrayOperatorsMixin

from orthonmf.engine.segments import slices
from orthonmf.errors import TooLargeError
from orthonmf.typing import Array

# Entries whose totals are cumulated on the host.
SLAB = 512
# Entries that are spread over labels at once.
SPREAD_ENTRIES = 2**25
# Smaller copies are not worth page-locked memory.
WORTH_LOCKING = 2**16

DTYPES: dict[np.dtype, Any] = {
    np.dtype(np.float32): torch.float32,
    np.dtype(np.float64): torch.float64,
    np.dtype(np.int32): torch.int32,
    np.dtype(np.int64): torch.int64,
    np.dtype(np.uint8): torch.uint8,
    np.dtype(np.bool_): torch.bool,
}
OF_TORCH: dict[Any, np.dtype] = {theirs: ours for ours, theirs in DTYPES.items()}


@contextmanager
def told_when_full() -> Iterator[None]:
    """Say in words of our own that a device has no room left."""
    try:
        yield
    except torch.OutOfMemoryError as error:
        raise TooLargeError(
            f"the device has no room for this fit: {str(error).splitlines()[0]} Free memory there, "
            "or stream X from the host with orthonmf.stream_to_device(X.cpu())"
        ) from error


def fetch(tensor: Any) -> Array:
    """A copy of a tensor on the host, through page-locked memory where it is large."""
    if tensor.device.type != "cuda":
        return np.array(tensor.numpy())
    if tensor.numel() < WORTH_LOCKING:
        return np.asarray(tensor.cpu().numpy())
    room = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
    room.copy_(tensor, non_blocking=True)
    torch.cuda.current_stream(tensor.device).synchronize()
    return np.asarray(room.numpy())


def ldexp(values: Any, powers: Any) -> Any:
    """``values * 2**powers`` in two steps, so that no power leaves the range of float64."""
    half = torch.div(powers, 2, rounding_mode="floor")
    wide = values.double()
    for part in (half, powers - half):
        wide = wide * torch.exp2(part.double())
    return wide.to(values.dtype)


# Functions that have the same name, and do the same, in NumPy and in torch.
ALIKE = (
    "add subtract multiply divide negative absolute square sqrt matmul minimum maximum isfinite "
    "isnan greater greater_equal less less_equal not_equal bitwise_and bitwise_or logical_not"
)
UFUNCS: dict[np.ufunc, Callable[..., Any]] = {
    **{getattr(np, name): getattr(torch, name) for name in ALIKE.split()},
    np.equal: torch.eq,
    np.invert: torch.bitwise_not,
    np.ldexp: ldexp,
}


def as_tensor(values: Any, device: Any, dtype: Any = None) -> Any:
    """A tensor of these values (array, number or array on a device) on a device."""
    if isinstance(values, DeviceArray):
        return values.tensor.to(dtype=dtype)
    array = np.asarray(values)
    if array.ndim == 0:  # filled there: a copy would have to be waited for
        return torch.full((), array.item(), dtype=dtype or DTYPES[array.dtype], device=device)
    if not array.flags.writeable or not array.flags.c_contiguous:
        array = np.array(array, order="C")  # a tensor cannot say that it is read only
    return torch.from_numpy(array).to(device=device, dtype=dtype)


class DeviceArray(NDArrayOperatorsMixin):
    """A tensor that NumPy's functions work on where it lies; see the module.

    What NumPy has no function for are methods: those that `placement.py` and `sampling.py`
    call.
    """

    __slots__ = ("tensor",)

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.tensor.shape)

    @property
    def ndim(self) -> int:
        return int(self.tensor.ndim)

    @property
    def dtype(self) -> np.dtype:
        """The dtype of NumPy."""
        return OF_TORCH[self.tensor.dtype]

    def __len__(self) -> int:
        return int(self.tensor.shape[0])

    def fetch(self) -> Array:
        return fetch(self.tensor)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if copy is False:
            raise ValueError("an array on a device cannot be had without a copy")
        return self.fetch() if dtype is None else self.fetch().astype(dtype, copy=False)

    def __getitem__(self, key: Any) -> Any:
        entries = self.tensor[self._key(key)]
        return DeviceArray(entries) if entries.ndim else fetch(entries)[()]

    def __setitem__(self, key: Any, values: Any) -> None:
        self.tensor[self._key(key)] = as_tensor(values, self.tensor.device, self.tensor.dtype)

    def _key(self, key: Any) -> Any:
        if isinstance(key, tuple):
            return tuple(map(self._key, key))
        if isinstance(key, DeviceArray):
            return key.tensor if key.tensor.dtype == torch.bool else key.tensor.long()
        if isinstance(key, np.ndarray | list):
            array = np.asarray(key)
            dtype = torch.bool if array.dtype == bool else torch.int64
            return as_tensor(array, self.tensor.device, dtype)
        return key

    def astype(self, dtype: Any, copy: bool = True) -> DeviceArray:
        """In another dtype; the same array where it has that and no copy is asked for."""
        wanted = DTYPES[np.dtype(dtype)]
        return DeviceArray(self.tensor.to(wanted, copy=copy))

    def copy(self) -> DeviceArray:
        return DeviceArray(self.tensor.clone())

    def sum(self, axis: int | None = None, dtype: Any = None) -> Any:
        """Sums; those over all points come to the host."""
        wanted = None if dtype is None else DTYPES[np.dtype(dtype)]
        return _reduced(self.tensor.sum(dim=axis, dtype=wanted), axis)

    def mean(self) -> Any:
        return self.sum() / self.tensor.numel()

    def max(self, axis: int | None = None, initial: float | None = None) -> Any:
        """The largest along an axis, or of all: of nothing, and at least, the initial value."""
        if axis is not None:
            assert initial is None
            return _reduced(self.tensor.amax(dim=axis), axis)
        if initial is None:
            return fetch(self.tensor.amax())[()]
        if self.tensor.numel() == 0:
            return self.dtype.type(initial)
        return fetch(self.tensor.amax().clamp(min=initial))[()]

    def argmax(self, axis: int) -> DeviceArray:
        """Where the largest of every row stands, the first of equals."""
        assert axis == self.ndim - 1
        return DeviceArray(self.tensor.argmax(dim=axis))

    def any(self) -> bool:
        return bool(self.tensor.any())

    def all(self) -> bool:
        return bool(self.tensor.all())

    def find_places(self, steps: Array, parts: int) -> Array:
        """Totals of slabs are cumulated on the host, in order, then the slabs that hold a place."""
        missing = -len(self) % SLAB
        slabs = torch.nn.functional.pad(self.tensor, (0, missing)).view(-1, SLAB)
        totals = fetch(slabs.sum(dim=1, dtype=torch.float64))
        cumulated = np.cumsum(totals)
        places = steps * (cumulated[-1] / parts)
        numbers = np.searchsorted(cumulated, places, side="right")
        numbers = np.minimum(numbers, np.flatnonzero(totals)[-1])
        hit, order = np.unique(numbers, return_inverse=True)
        entries = fetch(slabs[as_tensor(hit, slabs.device)]).astype(np.float64)
        inner = np.cumsum(entries, axis=1)
        left = (places - (cumulated - totals)[numbers])[:, None]
        inside = (inner[order] <= left).sum(axis=1)
        last = SLAB - 1 - (entries[:, ::-1] > 0).argmax(axis=1)
        return numbers * SLAB + np.minimum(inside, last[order])

    def find_largest(self, least: Any, count: int) -> Array:
        above = as_tensor(least, self.tensor.device)
        values = torch.where(self.tensor > above, self.tensor, -torch.inf)
        values, order = torch.sort(values, descending=True, stable=True)
        values, order = fetch(values[:count]), fetch(order[:count])
        return order[np.isfinite(values)]

    def take_from(self, table: Array) -> DeviceArray:
        numbers, entries = self.tensor.long(), as_tensor(table, self.tensor.device)
        return DeviceArray(entries[torch.where(numbers < 0, numbers + len(entries), numbers)])

    @told_when_full()
    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, out: tuple[Any, ...] = (), **options: Any
    ) -> Any:
        if method != "__call__":
            return NotImplemented
        known, device = UFUNCS.get(ufunc), self.tensor.device
        where, dtype = options.get("where", True), options.get("dtype")
        on_host = {name: _host(value) for name, value in options.items()}
        if any(isinstance(values, np.ndarray) for values in out):
            return ufunc(*map(_host, inputs), out=out, **on_host)
        if known is None:
            return _write(out, as_tensor(ufunc(*map(_host, inputs), **on_host), device), True)
        if ufunc is np.ldexp and not out and np.isscalar(inputs[1]) and inputs[1] == 0:
            return self if dtype is None else self.astype(dtype)  # as most units are
        many = 1 if ufunc is np.ldexp else len(inputs)  # powers of two keep their own dtype
        alike, rest = _alike(inputs[:many], device, dtype), inputs[many:]
        result = known(*alike, *(as_tensor(values, device) for values in rest))
        if ufunc is np.matmul and not out:
            # Over the points of the right side, or of a single vector, it is a sum over all.
            kept = isinstance(inputs[0], DeviceArray) and inputs[0].ndim > 1
            inner = isinstance(inputs[1], DeviceArray)
            return DeviceArray(result) if kept and not inner else fetch(result)[()]
        return _write(out, result, where)

    @told_when_full()
    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        known = FUNCTIONS.get(func)
        result = NotImplemented if known is None else known(*args, **kwargs)
        if result is NotImplemented:
            kept = {name: _host(value) for name, value in kwargs.items()}
            return func(*map(_host, args), **kept)
        return result


def _reduced(tensor: Any, axis: int | None) -> Any:
    """What a reduction left: with an entry per point it stays, else it comes to the host."""
    return DeviceArray(tensor) if axis else fetch(tensor)[()]


def _host(values: Any) -> Any:
    if isinstance(values, list | tuple):
        return type(values)(map(_host, values))
    return values.fetch() if isinstance(values, DeviceArray) else values


def _device_of(*values: Any) -> Any:
    return next(array.tensor.device for array in values if isinstance(array, DeviceArray))


def _alike(inputs: tuple[Any, ...], device: Any, dtype: Any = None) -> list[Any]:
    """Tensors of the one dtype in which NumPy would compute."""
    kinds = [getattr(values, "dtype", values) for values in inputs]
    common = DTYPES[np.dtype(dtype) if dtype is not None else np.result_type(*kinds)]
    return [as_tensor(values, device, common) for values in inputs]


def _write(out: tuple[Any, ...], result: Any, where: Any) -> Any:
    """A result, written where that is asked for, and only where the condition holds."""
    if not out:
        assert where is True
        return DeviceArray(result)
    (target,) = out
    kept = target.tensor
    if where is not True:
        result = torch.where(as_tensor(where, kept.device), result.to(kept.dtype), kept)
    kept.copy_(result)
    return target


def _where(condition: Any, *choices: Any) -> Any:
    if len(choices) != 2:
        return NotImplemented
    device = _device_of(condition, *choices)
    chosen = as_tensor(condition, device, torch.bool)
    return DeviceArray(torch.where(chosen, *_alike(choices, device)))


def _bincount(labels: Any, weights: Any = None, minlength: int = 0) -> Any:
    """Sums of weights over the entries of each label, in a fixed order."""
    if weights is None or not minlength:
        return NotImplemented
    device = _device_of(labels, weights)
    numbers, values = as_tensor(labels, device), as_tensor(weights, device)
    sums = torch.zeros(minlength, dtype=torch.float64, device=device)
    everyone = torch.arange(minlength, dtype=numbers.dtype, device=device)
    for some in slices(len(numbers), SPREAD_ENTRIES // minlength):
        sums += values[some].double() @ (numbers[some, None] == everyone).double()
    return fetch(sums)


def _array_equal(values: Any, other: Any) -> bool:
    if values.shape != other.shape:
        return False
    return bool(torch.equal(*_alike((values, other), _device_of(values, other))))


def _smallest(values: Any, initial: Any = None, where: Any = None) -> Any:
    """``np.min``, of those entries that count."""
    if not isinstance(where, DeviceArray) or initial is None or values.tensor.numel() == 0:
        return NotImplemented
    smallest = torch.where(where.tensor, values.tensor, initial).amin()
    return fetch(smallest.clamp(max=initial))[()]


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.where: _where,
    np.bincount: _bincount,
    np.array_equal: _array_equal,
    np.flatnonzero: lambda values: fetch(torch.nonzero(values.tensor.reshape(-1))[:, 0]),
    np.clip: lambda values, *limits: DeviceArray(torch.clamp(values.tensor, *limits)),
    np.zeros_like: lambda values, dtype=None: np.where(False, values, 0).astype(
        dtype or values.dtype
    ),
    np.min: _smallest,
}
