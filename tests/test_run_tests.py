"""Both parts of `make test` count, whichever of them has tests."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

RUNNER = Path(__file__).parents[1] / "tools" / "run_tests.py"
GOOD = "def test_plain():\n    pass\n"
BAD = "def test_plain():\n    assert 0\n"
CLUSTER = "import pytest\n\n\n@pytest.mark.cluster\ndef test_cluster():\n    pass\n"
BAD_CLUSTER = CLUSTER.replace("pass", "assert 0")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tests", "status", "told"),
    [
        (CLUSTER, 0, "1 passed, 0 failed, 0 skipped"),
        (BAD + CLUSTER, 1, "1 passed, 1 failed, 0 skipped"),
        (GOOD + BAD_CLUSTER, 1, "1 passed, 1 failed, 0 skipped"),
    ],
    ids=["one part has none", "first fails", "last fails"],
)
def test_the_status_and_the_counts_are_those_of_both_parts(tests, status, told, tmp_path):
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = cluster\n")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "test_some.py").write_text(tests)
    command = [sys.executable, RUNNER, "0", "-q", "-p", "xdist", "."]
    # Only what is needed here is loaded, which halves the time of a start.
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == status
    assert f"both parts: {told}" in done.stdout
