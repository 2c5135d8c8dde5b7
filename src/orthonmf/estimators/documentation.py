"""Parameters that a function documents, shown with a class that takes them as well."""

from __future__ import annotations

import re
from collections.abc import Callable
from inspect import getdoc, signature
from textwrap import indent
from typing import Any

HEADING = "Parameters\n----------\n"


def document_parameters_of(function: Callable[..., Any]) -> Callable[[type], type]:
    """Put what the function says of parameters that the class has before the class's own ones."""

    def document(kind: type) -> type:
        text, said = getdoc(kind), getdoc(function)
        if text and said:  # python -OO leaves all docstrings out
            section = said.split(HEADING)[1].split("\n\n")[0]
            entries = (entry.split("\n", 1) for entry in re.split(r"\n(?=\S)", section))
            taken = signature(kind).parameters
            shared = ""
            for head, description in entries:
                names = [name for name in head.split(", ") if name in taken]
                if names:
                    defaults = ", ".join(repr(taken[name].default) for name in names)
                    shared += f"{', '.join(names)} : default={defaults}\n{description}\n"
            before = HEADING if HEADING in text else "Attributes\n----------\n"
            after = "" if before == HEADING else f"\n{before}"
            text = text.replace(before, HEADING + shared + after, 1)
            kind.__doc__ = indent(text, "    ").strip() + "\n"
        return kind

    return document
