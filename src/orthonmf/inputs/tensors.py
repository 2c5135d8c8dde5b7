"""The door for tensors: of torch, or of anything that hands one over by DLPack.

Their rows are read by `engine/sources.py` on the host, by `engine/gpu/tensor_source.py` on a GPU.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from orthonmf.engine.sources import ArraySource, Source
from orthonmf.errors import InvalidInputError, InvalidTypeError
from orthonmf.extras import import_extra
from orthonmf.inputs.arrays import check_dimensions, refuse_dtype
from orthonmf.typing import Array

# The numbers that DLPack has for memory of CUDA, and for what CUDA and the host share.
CUDA = (2, 13)


def is_tensor(X: Any) -> bool:
    """Whether X is a tensor of torch, which is not imported to find out."""
    return type(X).__module__.split(".")[0] == "torch" and hasattr(X, "is_sparse")


def is_on_device(X: Any) -> bool:
    """Whether X hands over memory of a GPU by DLPack."""
    asked = None if isinstance(X, type) else getattr(X, "__dlpack_device__", None)
    return asked is not None and not isinstance(X, np.ndarray) and asked()[0] in CUDA


def source_of_tensor(X: Any) -> Source:
    """A source for a tensor: of the array it shares on the host, or of its rows on a GPU."""
    torch = import_extra("torch", "gpu")
    tensor = X if is_tensor(X) else torch.from_dlpack(X)
    if tensor.layout != torch.strided:
        raise InvalidTypeError(
            "X is a sparse tensor; pass a SciPy sparse matrix of its entries, or X.to_dense()"
        )
    if tensor.is_complex():
        refuse_dtype(np.dtype(complex))
    check_dimensions(tuple(tensor.shape))
    if tensor.device.type == "cpu":
        return ArraySource(_on_host(tensor))
    if tensor.device.type != "cuda":
        raise InvalidTypeError(
            f"X lies on a device of type {tensor.device.type}, which is not supported; pass X.cpu()"
        )
    from orthonmf.engine.gpu.tensor_source import TensorSource

    return TensorSource(tensor)


def as_host_array(values: Any) -> Array:
    """Numbers in an array of NumPy, wherever they lie; copied only where they must be."""
    if is_tensor(values):
        return _on_host(values)
    if is_on_device(values):
        return _on_host(import_extra("torch", "gpu").from_dlpack(values))
    return np.asarray(values)


def _on_host(tensor: Any) -> Array:
    plain = tensor.detach().cpu()
    if plain.dtype == import_extra("torch", "gpu").bfloat16:  # the one real type NumPy lacks
        plain = plain.double()
    return plain.numpy()


@dataclass(frozen=True, slots=True, eq=False)
class StreamedMatrix:
    """A matrix on the host that is to be computed with on a GPU; see :func:`stream_to_device`."""

    X: Any
    device: str

    @property
    def shape(self) -> tuple[int, ...]:
        """That of the matrix."""
        return tuple(self.X.shape)

    @property
    def dtype(self) -> Any:
        """That of the matrix."""
        return self.X.dtype


def stream_to_device(X: Any, device: str = "cuda") -> StreamedMatrix:
    """A matrix on the host whose rows are streamed through a GPU when it is fitted.

    For what is larger than the memory there: pass the result wherever X is taken. Rows are copied
    block by block, one while the one before is at work, and stay as far as there is room.
    Copies are fast from page-locked memory, ``torch.Tensor.pin_memory``; from other memory they go
    through some of it.

    Parameters
    ----------
    X
        (n, m) array, memory map, or tensor on the host.
    device
        The GPU, as torch names it.

    Examples
    --------
    >>> import numpy as np
    >>> import orthonmf
    >>> X = np.load("large.npy", mmap_mode="r")  # doctest: +SKIP
    >>> result = orthonmf.factorize(orthonmf.stream_to_device(X), 10)  # doctest: +SKIP
    """
    torch = import_extra("torch", "gpu")
    if torch.device(device).type != "cuda" or not torch.cuda.is_available():
        raise InvalidInputError(
            f"device={device!r} is not a GPU that torch can use here; pass X itself"
        )
    if not hasattr(X, "shape"):
        raise InvalidTypeError("X must be an array, a memory map or a tensor on the host")
    return StreamedMatrix(X, device)


def streamed_source(X: StreamedMatrix, host: Source) -> Source:
    """The source of a matrix that is streamed, from that of its rows on the host."""
    torch = import_extra("torch", "gpu")
    from orthonmf.engine.gpu.streaming import DeviceBlocks

    if host.kernel.sparse or host.kernel.on_device or host.elsewhere:
        raise InvalidTypeError("only dense rows on the host can be streamed; pass X itself")
    tensor: Any = X.X.detach() if is_tensor(X.X) else None
    as_it_is = tensor is not None and str(tensor.dtype) == f"torch.{host.dtype}"
    locked = as_it_is and tensor.is_pinned() and tensor.is_contiguous()
    return DeviceBlocks(host, torch.device(X.device), tensor if locked else None)
