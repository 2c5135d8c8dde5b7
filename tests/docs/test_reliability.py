"""docs/reliability.md has every row of its command, and tells what is seen."""

import re
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits of processes as on Linux")


def rows():
    tried, _, _ = PAGE.read_text(encoding="utf-8").partition("## A soak")
    lines = tried.splitlines()
    cells = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines if line.startswith("| ")]
    return [[cell.strip() for cell in row] for row in cells if row[0].strip() != "input"]


@pytest.mark.slow
def test_the_page_has_a_row_for_everything_that_is_tried():
    command = pytest.importorskip("benchmarks.reliability.page")
    assert [row[0] for row in rows()] == command.names()


def test_nothing_in_our_column_is_what_nobody_would_want():
    assert [row for row in rows() if "**" in row[1]] == []


@pytest.mark.slow
def test_one_row_is_made_again_as_it_stands():
    command = pytest.importorskip("benchmarks.reliability.page")
    (made,) = [line for line in command.page("a NaN weight").splitlines() if "a NaN weight" in line]
    (row,) = [row for row in rows() if row[0] == "a NaN weight"]
    assert made.split(" | ")[1] == row[1]  # what scikit-learn says is up to its version
