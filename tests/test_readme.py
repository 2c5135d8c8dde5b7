"""What the README shows is so: its code runs, its commands have their options."""

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

from orthonmf.cli.commands import load_command

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_its_code_runs_and_prints_what_it_says():
    names, printed = {}, io.StringIO()
    blocks = [code for language, code in BLOCKS if language == "python"]
    assert len(blocks) >= 2
    with contextlib.redirect_stdout(printed):
        for code in blocks:
            exec(compile(code, "README.md", "exec"), names)
    said = " ".join(printed.getvalue().split())
    assert said.startswith("0.136")
    assert "(1797, 10)" in said
    certificate = " ".join(re.findall(r"^# (.+)$", blocks[0], re.MULTILINE))
    assert "times the smallest possible" in certificate
    assert certificate in said


def test_its_commands_have_the_options_it_names():
    lines = [line for language, code in BLOCKS if not language for line in code.splitlines()]
    calls = [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("orthonmf ")]
    assert len(calls) >= 4
    for command, *arguments in calls:
        if command.startswith("-"):
            continue
        params = load_command(command).params
        options = {name for option in params for name in (*option.opts, *option.secondary_opts)}
        assert {text for text in arguments if text.startswith("-")} <= options, (command, arguments)
