"""The door for tensors: of torch, or of anything that hands one over by DLPack."""

from __future__ import annotations

from typing import Any

import numpy as np

from orthant.engine.sources import ArraySource, Source
from orthant.errors import InvalidInputError, InvalidTypeError
from orthant.extras import import_extra
from orthant.validation.shapes import check_dimensions

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
    _refuse_kind(tensor)
    check_dimensions(tuple(tensor.shape))
    if tensor.device.type == "cpu":
        plain = tensor.detach()
        # The one real type that NumPy does not have.
        plain = plain.double() if plain.dtype == torch.bfloat16 else plain
        return ArraySource(plain.numpy())
    from orthant.engine.tensors import TensorSource

    return TensorSource(tensor)


def _refuse_kind(tensor: Any) -> None:
    if tensor.layout != import_extra("torch", "gpu").strided:
        raise InvalidTypeError(
            "X is a sparse tensor; pass a SciPy sparse matrix of its entries, or X.to_dense()"
        )
    if tensor.is_complex():
        raise InvalidInputError(
            "Complex data not supported: X is complex; take the real part or the modulus"
        )
    if tensor.device.type not in ("cpu", "cuda"):
        raise InvalidTypeError(
            f"X lies on a device of type {tensor.device.type}, which is not supported; pass X.cpu()"
        )
