"""What people try by habit: -h, completion, python -m, a pipe."""

import os
import subprocess
import sys

import pytest

import orthonmf
from orthonmf.cli.commands import COMMANDS
from tests.cli.running import run_fresh


def complete(words):
    asked = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    return run_fresh(cwd=".", _ORTHONMF_COMPLETE="complete_bash", **asked).out.split()


@pytest.mark.slow
def test_h_is_help_everywhere(run):
    assert run("--version").out == f"orthonmf {orthonmf.__version__}\n"
    assert run("-h").out == run("--help").out
    for name in COMMANDS:
        told = run(*name.split(), "-h", code=0).out
        assert told == run(*name.split(), "--help").out
        assert f"orthonmf {name}" in told
        assert max(map(len, told.splitlines())) <= 80


@pytest.mark.slow
def test_a_shell_completes_commands_and_options():
    assert complete("orthonmf sel") == ["select-k"]
    assert complete("orthonmf fit --orth") == ["--orthogonal"]


@pytest.mark.slow
def test_completion_installs_itself(tmp_path):
    script = f"{sys.executable} -m orthonmf --install-completion; exit $?"
    done = subprocess.run(
        ["bash", "-c", script], env={**os.environ, "HOME": str(tmp_path)}, capture_output=True,
        text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    installed = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    assert any("_ORTHONMF_COMPLETE" in text for text in installed)
