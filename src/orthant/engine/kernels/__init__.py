"""How one block of rows is computed."""

from typing import cast

import numpy as np

from orthant.engine.kernels import dense, sparse
from orthant.engine.kernels.blocks import Kernel, Rows


def kernel_of(rows: Rows) -> Kernel:
    """The kernel that computes a block like this one."""
    return cast(Kernel, dense if isinstance(rows, np.ndarray) else sparse)
