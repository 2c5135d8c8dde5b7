"""What the README says first is followed literally, in a fresh clone of this checkout."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SMOKE = """
import numpy as np
import orthonmf

result = orthonmf.factorize(np.kron(np.eye(3), np.ones((4, 5))), 3, random_state=0)
assert result.relative_squared_error < 1e-12
assert "site-packages" in orthonmf.__file__, orthonmf.__file__
"""


def first_block():
    """The lines of the first block of the README, without their comments."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    block = re.search(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)[1]
    return [line.split("#")[0].strip() for line in block.splitlines() if line.strip()]


@pytest.mark.slow
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="a clone is made of a repository")
@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_the_first_block_of_the_readme_works_in_a_fresh_clone(tmp_path):
    clone, make_demo, make_test, *installs = first_block()
    assert clone == "git clone ADDRESS orthonmf && cd orthonmf"
    # All tests inside a test would never end: continuous integration begins `make test` in a clone.
    assert (make_demo, make_test) == ("make demo", "make test")
    assert installs[0] == "pip install ."
    assert all(re.fullmatch(r"pip install '\.\[\w+\]'", line) for line in installs[1:])
    home = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TERM": "dumb"}
    home |= {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    home |= {"PIP_CACHE_DIR": str(Path.home() / ".cache" / "pip"), "PIP_NO_COMPILE": "1"}
    checkout = tmp_path / "orthonmf"

    def run(command, folder=checkout, **more):
        done = subprocess.run(
            command, cwd=folder, env=home | more, shell=True, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{command}:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
        return done.stdout

    run(clone.replace("ADDRESS", ROOT.as_uri()), tmp_path)
    run(f"{make_demo} PYTHON={sys.executable}")
    assert len(list((checkout / "orthonmf-demo").rglob("*.html"))) >= 3  # a page for every setting
    # The environment of the demo has what the library needs, and nothing else.
    environment = checkout / ".venv" / "bin"
    run(installs[0], PATH=f"{environment}{os.pathsep}{home['PATH']}")
    (tmp_path / "smoke.py").write_text(SMOKE)
    run(f"{environment / 'python'} smoke.py", tmp_path)
    run(f"{environment / 'orthonmf'} --version", tmp_path)
