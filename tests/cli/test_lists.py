"""Lists of numbers and of names, as options take them."""

import pytest

from orthonmf.cli.lists import as_names, as_numbers, as_sizes
from orthonmf.errors import InvalidInputError


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("2:4", [2, 3, 4]), ("2:7:2", [2, 4, 6]), (" 3, 5,8 ", [3, 5, 8]), ("6", [6])],
)
def test_ranges_include_their_end(text, numbers):
    assert as_numbers(text, "--k") == numbers


@pytest.mark.parametrize("text", ["", "a", "2:", "1,,2", "-1", "0:3", "5:2", "2:4:0", "1:9999"])
def test_what_is_no_range_is_refused_with_the_option(text):
    with pytest.raises(InvalidInputError, match="--k: "):
        as_numbers(text, "--k")


def test_two_ranges_are_pairs():
    assert as_sizes("2:3,4:6:2", "--k") == [(2, 4), (2, 6), (3, 4), (3, 6)]
    assert as_sizes("3,5", "--k") == [3, 5]
    with pytest.raises(InvalidInputError, match=r"--k: .* more than 1000 pairs"):
        as_sizes("1:100,1:100", "--k")
    with pytest.raises(InvalidInputError, match="--k: "):
        as_sizes("2:3,0:6", "--k")


def test_seeds_begin_at_zero():
    assert as_numbers("0:1", "--seeds", least=0) == [0, 1]


def test_names_are_those_of_the_table():
    assert as_names("both, samples,both", "--orthogonal", ["samples", "both"]) == [
        "both", "samples",
    ]  # fmt: skip
    with pytest.raises(InvalidInputError, match="--orthogonal must be one of 'samples', 'both'"):
        as_names("rows", "--orthogonal", ["samples", "both"])
    with pytest.raises(InvalidInputError, match="--sets: 'a,,b' holds an empty name"):
        as_names("a,,b", "--sets")
