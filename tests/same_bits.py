"""Two results that must be one and the same."""

import numpy as np

from tests.arrays import to_array

PARTS = ("components", "labels", "scales", "feature_labels", "feature_scales")
NUMBERS = ("relative_error", "history", "n_sweeps", "steps_run")


def assert_same_bits(result, other):
    """Factors, labels, errors and what was done are the same, to the last bit."""
    for name in PARTS:
        np.testing.assert_array_equal(getattr(result, name), getattr(other, name), name)
    np.testing.assert_array_equal(to_array(result.loadings), to_array(other.loadings))
    assert result.components.dtype == other.components.dtype
    for name in NUMBERS:
        assert getattr(result, name) == getattr(other, name), name
