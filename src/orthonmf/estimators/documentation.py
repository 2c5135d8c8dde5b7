"""Parameters that a function documents, shown with a class that takes them as well."""

from __future__ import annotations

import re
from collections.abc import Callable
from inspect import getdoc, signature
from typing import Any

PARAMETERS, ATTRIBUTES = "Parameters\n----------\n", "Attributes\n----------\n"


def document_parameters_of(function: Callable[..., Any]) -> Callable[[type], type]:
    """Put what the function says of parameters that the class has before its attributes."""

    def document(kind: type) -> type:
        text, said = getdoc(kind), getdoc(function)
        if text and said:  # python -OO leaves all docstrings out
            section = said.split(PARAMETERS)[1].split("\n\n")[0]
            taken, shared = signature(kind).parameters, ""
            for entry in re.split(r"\n(?=\S)", section):
                head, description = entry.split("\n", 1)
                if names := [name for name in head.split(", ") if name in taken]:
                    defaults = ", ".join(repr(taken[name].default) for name in names)
                    shared += f"{', '.join(names)} : default={defaults}\n{description}\n"
            kind.__doc__ = text.replace(ATTRIBUTES, f"{PARAMETERS}{shared}\n{ATTRIBUTES}", 1)
        return kind

    return document
