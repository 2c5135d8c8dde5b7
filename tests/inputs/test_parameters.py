import numpy as np
import pytest

from orthonmf.errors import InvalidInputError, InvalidTypeError
from orthonmf.inputs.parameters import (
    as_bytes,
    as_choice,
    as_n_components,
    as_n_jobs,
    as_tolerance,
    as_weights,
    check_amounts,
    may_be_missing,
)


@pytest.mark.parametrize("letter", "kMGT")
def test_sizes_count_in_thousands_and_with_an_i_in_powers_of_two(letter):
    power = "kMGT".index(letter) + 1
    for text in (f"1{letter}", f"1{letter}B", f"1 {letter.lower()}b"):
        assert as_bytes(text) == 1000**power
    for text in (f"1{letter}i", f"1{letter}iB", f" 1 {letter.upper()}ib "):
        assert as_bytes(text) == 2 ** (10 * power)


@pytest.mark.parametrize("size", [0, -1, "0GB"])
def test_a_size_is_positive(size):
    with pytest.raises(InvalidInputError, match="limit must be a positive integer"):
        as_bytes(size, "limit")


@pytest.mark.parametrize("count", [True, 1.0, "3", None, np.True_])
def test_a_number_of_components_is_an_integer(count):
    with pytest.raises(InvalidTypeError, match="n_components must be a positive integer"):
        as_n_components(count)


def test_integers_of_numpy_are_counts_and_minus_one_is_all_threads():
    assert as_n_components(np.int8(3)) == 3
    assert as_n_jobs(-1) is None
    assert as_n_jobs(None) is None
    with pytest.raises(InvalidInputError, match="n_jobs"):
        as_n_jobs(0)


@pytest.mark.parametrize("tol", [-1e-9, np.nan, np.inf])
def test_a_tolerance_is_finite_and_not_negative(tol):
    with pytest.raises(InvalidInputError, match="tol must be finite and not negative"):
        as_tolerance(tol)


def test_a_choice_that_is_no_text_is_taken_by_identity_alone():
    assert as_choice(None, ("svd", None), "certificate") is None
    with pytest.raises(InvalidInputError, match="certificate must be one of 'svd', None; got 0"):
        as_choice(0, ("svd", None), "certificate")


def test_the_first_bad_amount_is_named_in_any_number_of_dimensions():
    with pytest.raises(InvalidInputError, match=r"sample_weight\[2\] = -1"):
        as_weights([1, 0, -1, np.nan], 4, "sample_weight")
    with pytest.raises(InvalidInputError, match=r"init\[0, 1\] = nan"):
        check_amounts(np.array([[1.0, np.nan], [-1.0, 0.0]]), "init")


def test_one_number_is_the_weight_of_all_and_zero_weights_need_a_positive_one():
    assert as_weights(2, 3, "sample_weight").tolist() == [2.0, 2.0, 2.0]
    with pytest.raises(InvalidInputError, match="zero everywhere"):
        as_weights(np.zeros(3), 3, "sample_weight")


def test_only_nan_stands_for_missing_values():
    assert may_be_missing(np.nan)
    assert not may_be_missing(None)
    with pytest.raises(InvalidInputError, match="missing_values"):
        may_be_missing(-1)
