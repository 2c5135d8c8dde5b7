"""The one alias for arrays in signatures; shapes and dtypes are told in docstrings."""

from typing import Any

from numpy.typing import NDArray

Array = NDArray[Any]
