"""Cases of which a few run every time, and the rest with the tests that take long."""

from collections.abc import Iterable
from typing import Any

import pytest


def mostly_slow(cases: Iterable[Any], quick: int) -> list[Any]:
    """The cases of a test, all but the first ``quick`` marked as slow.

    A tuple holds the values of several parameters.
    """
    rows = (one if isinstance(one, tuple) else (one,) for one in cases)
    return [
        pytest.param(*row, marks=() if number < quick else pytest.mark.slow)
        for number, row in enumerate(rows)
    ]
