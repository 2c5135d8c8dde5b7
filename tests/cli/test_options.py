"""Options that name several numbers or columns at once."""

import pytest

from orthonmf.cli.options import as_candidates, as_names
from orthonmf.errors import InvalidInputError


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("2:4", [2, 3, 4]),
        ("2:7:2", [2, 4, 6]),
        (" 3, 5,8 ", [3, 5, 8]),
        ("6", [6]),
        ("2:3,4:6:2", [(2, 4), (2, 6), (3, 4), (3, 6)]),
    ],
)
def test_ranges_include_their_end_and_two_are_pairs(text, numbers):
    assert as_candidates(text, "--k") == numbers


@pytest.mark.parametrize(
    "text",
    ["", "a", "2:", "1,,2", "-1", "0:3", "5:2", "2:4:0", "1:9999", "1:100,1:100", "2:3,0:6"],
)
def test_what_is_no_range_is_refused_with_the_option(text):
    with pytest.raises(InvalidInputError, match="--k: "):
        as_candidates(text, "--k")


def test_names_are_taken_once_and_none_is_empty():
    assert as_names("b, a,b", "--drop") == ["b", "a"]
    with pytest.raises(InvalidInputError, match="--drop: 'a,,b' holds an empty name"):
        as_names("a,,b", "--drop")
