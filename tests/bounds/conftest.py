"""What is proven is computed in one thread, as it is inside a fit."""

import pytest


@pytest.fixture(autouse=True, scope="module")
def _one_thread(one_blas_thread):
    pass
