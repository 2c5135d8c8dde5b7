"""What is slow to import is imported where it is used, and not by those who do without it."""

import subprocess
import sys

import pytest

import orthonmf

SLOW = ("sklearn", "pandas", "polars", "matplotlib", "dask", "distributed", "h5py", "zarr")
SLOW += ("pyarrow", "anndata", "networkx", "pooch", "scipy.optimize", "scipy.stats")
SLOW += ("torch", "triton")
COMMAND = "import sys; from orthonmf.cli.main import main; sys.argv = ['orthonmf', {}]; main()"
# No certificate is looked at.
FACTORIZE = "import numpy, orthonmf; orthonmf.factorize(numpy.eye(5, 4) + 1, 2)"
FIT = "import numpy; numpy.save('X.npy', numpy.eye(5, 4) + 1); "


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "unwanted"),
    [
        (COMMAND.format("'--version'"), ("numpy", "scipy", *SLOW)),
        (FIT + COMMAND.format("'fit', 'X.npy', '-k', '2'"), SLOW),
        (COMMAND.format("'-h'"), ("numpy", "scipy", *SLOW)),
        ("import orthonmf; dir(orthonmf)", ("numpy", "scipy", "rich", "typer", *SLOW)),
        (FACTORIZE, ("typer", "rich", "orthonmf.bounds", *SLOW)),
    ],
    ids=["version", "fit", "all commands", "import", "factorize"],
)
def test_only_what_is_needed_is_imported(script, unwanted, tmp_path):
    ending = "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr)); "
    done = subprocess.run(
        [sys.executable, "-c", ending + script], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    loaded = set(done.stderr.splitlines()[-1].split())
    assert "orthonmf" in loaded
    assert loaded & set(unwanted) == set()


def test_dir_lists_the_public_names():
    assert set(dir(orthonmf)) == set(orthonmf.__all__)
    assert all(hasattr(orthonmf, name) for name in dir(orthonmf))
