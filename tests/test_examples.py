"""Every example runs, offline and without a warning, and ends in a picture."""

import runpy
import sys
from pathlib import Path

import pytest

from orthonmf.baselines import BASELINES

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))


@pytest.fixture
def own_methods():
    """An example may add a method; no other test should find it."""
    before = dict(BASELINES)
    yield
    BASELINES.clear()
    BASELINES.update(before)


@pytest.mark.slow
@pytest.mark.usefixtures("own_methods")
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_ends_in_a_picture(path, tmp_path, monkeypatch, capsys):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    if path.stem == "bipartite_graph":
        pytest.importorskip("networkx")
    picture = tmp_path / "picture.png"
    monkeypatch.setattr(sys, "argv", [str(path), str(picture)])
    runpy.run_path(str(path), run_name="__main__")
    pyplot.close("all")
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size > 10_000
    assert "picture" in capsys.readouterr().out
