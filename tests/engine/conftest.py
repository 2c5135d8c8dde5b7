"""What tests of passes share: matrices in several blocks, however small they are."""

import pytest

from orthonmf.engine import sources
from tests.engine.weighted import STORES


@pytest.fixture(params=STORES)
def store(request, monkeypatch):
    """A way to store a matrix, dense or sparse, which then has several blocks."""
    monkeypatch.setattr(sources, "FEWEST_ENTRIES", 30)
    monkeypatch.setattr(sources, "SPARSE_ENTRIES", 20)
    return STORES[request.param]
