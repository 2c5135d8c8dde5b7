"""How one block of rows is computed."""

from typing import cast

from orthant.engine.kernels import dense, sparse
from orthant.engine.kernels.blocks import Kernel
from orthant.engine.sources import Source


def kernel_for(source: Source) -> Kernel:
    """The kernel that computes blocks of this source."""
    return cast(Kernel, sparse if source.sparse else dense)
