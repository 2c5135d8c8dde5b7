"""The alias for arrays in signatures; docstrings tell shapes and dtypes."""

from typing import Any

from numpy.typing import NDArray

Array = NDArray[Any]
