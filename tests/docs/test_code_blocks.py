"""Every block of Python in the documents runs, page by page, from top to bottom."""

import os
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import orthonmf
from tests.gpu import has_gpu

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# What the site makes of the examples, and pages that have a test of their own.
ELSEWHERE = {"tutorials", "extend"}
# Pages that start clusters of Dask, and what needs the real data sets.
CLUSTERS = {"clusters.md"}
REAL_DATA = {"datasets.md"}
SLOW = {"certificates.md", "choosing_k.md", "estimators.md", "stability.md"}
GPU = {"gpu.md"}


def pages():
    paths = [p for p in DOCS.rglob("*.md") if not ELSEWHERE & set(p.relative_to(DOCS).parts)]
    marks = dict.fromkeys(CLUSTERS, pytest.mark.cluster)
    marks |= dict.fromkeys(REAL_DATA, pytest.mark.real_data)
    marks |= dict.fromkeys(SLOW, pytest.mark.slow)
    return [
        pytest.param(path, id=str(path.relative_to(DOCS)), marks=marks.get(path.name, ()))
        for path in sorted(paths)
        if BLOCK.search(path.read_text(encoding="utf-8"))
    ]


def given():
    """What a page may use without making it: data of the reader."""
    X = orthonmf.datasets.make_planted(24, 10, 4, noise=0.2, random_state=0).X
    return {"X": X, "X_new": X[:5] + 0.1, "batches": np.array_split(X, 3), "orthonmf": orthonmf}


@pytest.mark.parametrize("path", pages())
def test_the_code_of_a_page_runs(path, tmp_path, monkeypatch):
    if path.name in REAL_DATA and "ORTHONMF_DATA_HOME" not in os.environ:
        pytest.skip("needs the real data sets in ORTHONMF_DATA_HOME")
    if path.name in GPU and not has_gpu():
        pytest.skip("needs a CUDA device and torch")
    monkeypatch.chdir(tmp_path)
    space = given()
    for number, block in enumerate(BLOCK.findall(path.read_text(encoding="utf-8")), 1):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", orthonmf.FewerComponentsWarning)
            exec(compile(block, f"{path.name}, block {number}", "exec"), space)


def test_outputs_shown_in_the_first_page_are_what_is_printed(tmp_path, monkeypatch, capsys):
    """Blocks of text in the start page are what the block of Python before them prints."""
    monkeypatch.chdir(tmp_path)
    text = (DOCS / "start.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(python|text)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    space, printed, compared = given(), "", 0
    for kind, block in blocks:
        if kind == "python":
            capsys.readouterr()
            exec(compile(block, "start.md", "exec"), space)
            printed = capsys.readouterr().out
        else:
            assert printed == block
            compared += 1
    assert compared >= 2
