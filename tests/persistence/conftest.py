"""A good file, for tests that damage it."""

import pytest

from orthant import save
from tests.persistence.test_persistence import factorized


@pytest.fixture
def file(tmp_path):
    save(factorized("both")[0], tmp_path / "good.npz")
    return tmp_path / "good.npz"
