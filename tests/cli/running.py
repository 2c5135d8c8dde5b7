"""Ways to run the command: as a process of its own, or forked from one that has imported it."""

import csv
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

MAIN = "from orthonmf.cli.main import main; main()"
COMMAND = [sys.executable, "-c", MAIN]
ENVIRONMENT = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "COLUMNS": "80", "TERM": "dumb"}


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str
    peak: int = 0  # kB


def run_fresh(*arguments, cwd, stdin=b"", before="", **environment):
    """Run the command in a fresh process, after some lines of Python."""
    done = subprocess.run(
        [sys.executable, "-c", f"{before}\n{MAIN}", *map(str, arguments)],
        cwd=cwd, input=stdin, capture_output=True, env=ENVIRONMENT | environment,
    )  # fmt: skip
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


def check_refused(done, *parts, code=2):
    """A command has ended with this code and said nothing but one line, which holds these parts."""
    assert (done.code, done.out) == (code, ""), done
    assert done.err.count("\n") == 1, done.err
    assert done.err.startswith("orthonmf: error: "), done.err
    for part in parts:
        assert part in done.err, (part, done.err)


def rows_of(path):
    """The lines of a table that a command wrote, by its headings."""
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


class Warm:
    """A process that has imported everything and forks for every command: quick and separate."""

    def __init__(self):
        script = Path(__file__).with_name("warm_process.py")
        self._process = subprocess.Popen(
            [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env=ENVIRONMENT, text=True,
        )  # fmt: skip

    def run(self, *arguments, cwd, stdin="", memory=None):
        order = {
            "arguments": list(map(str, arguments)),
            "cwd": str(cwd),
            "stdin": stdin,
            "memory": memory,
        }
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return Ran(**json.loads(self._process.stdout.readline()))

    def close(self):
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()
