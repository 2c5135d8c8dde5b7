"""Options that name several things at once: numbers and names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product

from orthonmf.errors import InvalidInputError
from orthonmf.inputs.parameters import as_choice

MOST_NUMBERS = 1000


def as_numbers(text: str, option: str, least: int = 1) -> list[int]:
    """The numbers of 2:20 (20 included), 2:40:2 or 3,5,8."""
    found = re.fullmatch(r"(\d{1,18}):(\d{1,18})(?::(\d{1,18}))?", text.strip())
    numbers: Sequence[int]
    if found:
        first, last, step = int(found[1]), int(found[2]), int(found[3] or 1)
        numbers = range(first, last + 1, step) if step else range(0)
    elif re.fullmatch(r"\d{1,18}(,\s*\d{1,18})*", text.strip()):
        numbers = list(dict.fromkeys(int(one) for one in text.split(",")))
    else:
        raise InvalidInputError(f"{option}: {text!r} is no range; write for instance 2:20 or 3,5,8")
    if not 0 < len(numbers) <= MOST_NUMBERS or min(numbers) < least:
        raise InvalidInputError(
            f"{option}: {text!r} must name 1 to {MOST_NUMBERS} numbers from {least} on"
        )
    return list(numbers)


def as_sizes(text: str, option: str) -> list[int] | list[tuple[int, int]]:
    """Numbers as above, or with two ranges, 2:8,2:8, all pairs of them."""
    if not re.fullmatch(r"\s*\d+:[\d:]+\s*,\s*\d+:[\d:]+\s*", text):
        return as_numbers(text, option)
    down, across = (as_numbers(one, option) for one in text.split(","))
    if len(down) * len(across) > MOST_NUMBERS:
        raise InvalidInputError(f"{option}: {text!r} names more than {MOST_NUMBERS} pairs")
    return list(product(down, across))


def as_names(text: str, option: str, known: Sequence[str] | None = None) -> list[str]:
    """The names of a list such as samples,both; each one of those known, where these are given."""
    names = list(dict.fromkeys(one.strip() for one in text.split(",")))
    if not all(names):
        raise InvalidInputError(f"{option}: {text!r} holds an empty name; write for instance a,b")
    return names if known is None else [as_choice(one, tuple(known), option) for one in names]
