"""What holds a matrix, as a plain array."""

import numpy as np


def to_array(values):
    return values.toarray() if hasattr(values, "toarray") else np.asarray(values)
