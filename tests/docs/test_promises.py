"""Every test that the page of promises names is there."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROWS = [
    line.strip("| ").split(" | ")
    for line in (ROOT / "docs" / "promises.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and not line.startswith("| promise")
]


@cache
def functions_of(file):
    """Names of the test functions of a file, whose name begins at the root of the checkout."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize(("promise", "tests"), ROWS)
def test_a_promise_has_a_test_that_would_notice_its_failure(promise, tests):
    named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", tests)
    assert len(named) == tests.count("::") > 0
    assert [test for file, test in named if test not in functions_of(file)] == []


def test_no_promise_stands_there_twice():
    promises = [promise for promise, _ in ROWS]
    assert len(promises) == len(set(promises)) > 60
