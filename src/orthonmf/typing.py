"""The alias for arrays in signatures; docstrings tell shapes and dtypes. Which dtypes are real."""

from typing import Any

from numpy.typing import NDArray

Array = NDArray[Any]
REAL = "biuf"  # kinds of dtypes that hold real numbers
