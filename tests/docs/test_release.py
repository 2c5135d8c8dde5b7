"""What a release says of itself agrees: version, date, Python versions, commands."""

import re
import tomllib
from pathlib import Path

import pytest

import orthonmf

ROOT = Path(__file__).parents[2]


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_version_and_date_are_the_same_everywhere():
    citation = dict(re.findall(r"^(version|date-released): (\S+)$", read("CITATION.cff"), re.M))
    headings = re.findall(r"^## (.+)$", read("CHANGELOG.md"), re.M)
    released = [heading for heading in headings if heading != "Unreleased"]
    assert citation["version"] == orthonmf.__version__
    assert released[0] == f"{orthonmf.__version__} ({citation['date-released']})"
    assert "version" in tomllib.loads(read("pyproject.toml"))["project"]["dynamic"]


def test_the_workflow_runs_targets_that_exist_on_every_python_that_is_named():
    if not (ROOT / ".github").exists():
        pytest.skip("an sdist holds no workflow")
    workflow = read(".github/workflows/check.yml")
    targets = set(re.search(r"^\.PHONY: (.+)$", read("Makefile"), re.M)[1].split())
    for command in re.findall(r"run: make (.+)$", workflow, re.M):
        assert set(command.split()) <= targets
    tried = re.findall(r'"(3\.\d+)"', re.search(r"python: \[(.+)\]", workflow)[1])
    project = tomllib.loads(read("pyproject.toml"))["project"]
    promised = [text.split(" :: ")[-1] for text in project["classifiers"] if ":: 3." in text]
    assert tried == promised
