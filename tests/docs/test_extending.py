"""The pages of docs/extend are followed literally, in a copy of the sources."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(path for path in (ROOT / "docs" / "extend").glob("*.md") if path.stem != "index")
BLOCK = re.compile(r"^```(python|diff)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def copy_sources(folder):
    for name in ("src", "tests"):
        skipped = shutil.ignore_patterns("__pycache__", "*.egg-info")
        shutil.copytree(ROOT / name, folder / name, ignore=skipped)


def apply_difference(block, folder):
    """Change one place of a file: lines with a blank or a minus are there, with a plus are new."""
    head, *lines = block.splitlines()
    path = folder / head.removeprefix("--- ")
    text = path.read_text(encoding="utf-8")
    before = "\n".join(line[1:] for line in lines if not line.startswith("+"))
    after = "\n".join(line[1:] for line in lines if not line.startswith("-"))
    assert text.count(before) == 1, f"{path.name} holds this {text.count(before)} times:\n{before}"
    path.write_text(text.replace(before, after), encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_can_be_followed(page, tmp_path):
    copy_sources(tmp_path)
    tried = 0
    for kind, block in BLOCK.findall(page.read_text(encoding="utf-8")):
        first, _, rest = block.partition("\n")
        if kind == "diff":
            apply_difference(block, tmp_path)
        elif first.startswith("# FILE "):
            place = tmp_path / first.removeprefix("# FILE ")
            assert not place.exists()
            place.write_text(rest, encoding="utf-8")
        else:
            assert first == "# TRY"
            paths = os.pathsep.join((str(tmp_path / "src"), str(tmp_path)))
            done = subprocess.run(
                [sys.executable, "-c", rest],
                cwd=tmp_path,
                env={"PYTHONPATH": paths, "PATH": "", "TERM": "dumb"},
                capture_output=True,
                text=True,
            )
            assert done.returncode == 0, done.stderr
            tried += 1
    assert tried == 1
