"""Advice in messages: in the words of the command, and only what the command has.

Readers and algorithms do not know who called them. What they advise in Python's words is put into
options here, and a clause that names an option which the running command lacks is left out.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

# What Python calls it, as a pattern, and the option.
IN_OPTIONS = {
    r"missing_values=numpy\.nan": "--missing",
    r"binarize=t\b": "--binarize T",
    r"\babove t\b": "above T",
    r"\bcertificate_seconds=": "--certificate-seconds ",
    r"\bmax_memory\b": "--max-memory",
    r"\bn_components=\((\d+), (\d+)\)": r"-k \1,\2",
    r"\borthogonal='(\w+)'": r"--orthogonal \1",
    r"\borthonmf\.preparation\.normalize_rows\b": "--normalize rows",
}
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
CLAUSE = re.compile(r"(?<=[;.]) (?=\S)")


class Known:
    """The options of the command that is running; None before there is one."""

    options: frozenset[str] | None = None


def know_options(command: Any) -> None:
    """Remember which options a command of click's has."""
    names = (name for one in command.params for name in (*one.opts, *one.secondary_opts))
    Known.options = frozenset(name for name in names if name.startswith("--")) | {"--help"}


def in_words_of_command(message: str) -> str:
    """A message of the library, as the running command can give it."""
    for python, option in IN_OPTIONS.items():
        message = re.sub(python, option, message)
    return message if Known.options is None else keep_known(message, Known.options)


def keep_known(message: str, options: Collection[str]) -> str:
    """The message without clauses that name other options; the first clause always stays."""
    first, *others = CLAUSE.split(message)
    kept = [one for one in others if all(name in options for name in OPTION.findall(one))]
    return " ".join([first, *kept]).rstrip(";")
