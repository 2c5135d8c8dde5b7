"""Fixtures of the command line's tests."""

import numpy as np
import pytest

from tests.cli.running import Warm


@pytest.fixture(scope="session")
def warm():
    process = Warm()
    yield process
    process.close()


@pytest.fixture
def run(warm, tmp_path):
    """Run the command in a folder of its own; ``code`` is that which it must end with."""

    def run(*arguments, code=None, cwd=tmp_path, **options):
        done = warm.run(*arguments, cwd=cwd, **options)
        assert code in (None, done.code), (arguments, done)
        return done

    return run


@pytest.fixture
def blocks():
    """A matrix of three blocks, not in order, with a little noise."""
    rng = np.random.default_rng(7)
    rows, columns = rng.integers(3, size=30), rng.integers(3, size=12)
    X = (rows[:, None] == columns) * rng.uniform(1, 3, (30, 12)) + 0.05 * rng.random((30, 12))
    return np.round(X, 4)


@pytest.fixture
def table(blocks, tmp_path):
    """The same as a file with names."""
    lines = [",".join(["", *(f"f{j}" for j in range(12))])]
    lines += [",".join([f"r{i}", *map(str, row)]) for i, row in enumerate(blocks.tolist())]
    path = tmp_path / "table.csv"
    path.write_text("\n".join(lines) + "\n")
    return path
