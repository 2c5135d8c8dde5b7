"""A good file, for tests that damage it."""

import pytest

from orthonmf import save
from tests.files.saving.test_save_and_load import factorized


@pytest.fixture(scope="session")
def content(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "good.npz"
    save(factorized("both")[0], path)
    return path.read_bytes()


@pytest.fixture
def file(tmp_path, content):
    (tmp_path / "good.npz").write_bytes(content)
    return tmp_path / "good.npz"
