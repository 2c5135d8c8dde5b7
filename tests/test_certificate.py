"""What a certificate says in words: true to the last digit shown, for numbers of any size."""

import math
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthonmf.certificate import Certificate, bound_text, ratio_text, round_ratio_up
from orthonmf.errors import WrongBoundError

RATIOS = st.one_of(
    st.floats(1.0, 1.7976931348623157e308),
    st.floats(1.0, 1.1),
    st.floats(1.0, 1e7),
)


@given(RATIOS)
def test_a_ratio_in_digits_is_never_below_the_ratio_and_close_to_it(ratio):
    shown = Decimal(ratio_text(ratio))
    assert Decimal(ratio) <= shown
    assert shown <= Decimal(ratio) * Decimal("1.001") + Decimal("0.001")


@given(st.floats(5e-324, 1.7976931348623157e308))
def test_a_lower_bound_in_digits_is_never_above_the_bound_and_close_to_it(bound):
    shown = Decimal(bound_text(bound))
    assert 0 < shown <= Decimal(bound)
    assert shown >= Decimal(bound) * Decimal("0.999")


@pytest.mark.parametrize("number", [math.inf, math.nan, np.float32(3.0), np.float64(1e308), 7])
def test_no_number_makes_the_words_fail(number):
    for certificate in (
        Certificate(ratio=number, method="a test"),
        Certificate(a_priori_ratio=number, a_priori_kind="always"),
        Certificate(upper_bound=number),
    ):
        assert str(certificate)


def test_the_words_of_a_divergence_tell_what_is_kept_before_what_is_promised():
    known = Certificate(
        quantity="divergence",
        method="luck",
        ratio=1.0625,
        lower_bound=0.8125,
        upper_bound=0.87654,
        reason="none is known",
    )
    assert str(known) == (
        "divergence at most 1.063 times the smallest possible; proven by luck; it keeps 12.3% of "
        "the information that rows hold about columns, and no answer of as many parts keeps more "
        "than 18.8%; nothing is promised: none is known"
    )


def test_the_words_for_each_case():
    unique = Certificate(ratio=1.0001, method="luck", unique_within=0.01234)
    assert str(unique).endswith(
        "every answer as good has the same groups, but for 1.24% of the weight"
    )
    assert str(Certificate()) == "nothing is proven"
    assert str(Certificate(reason="no time")) == "nothing is proven: no time"
    assert str(Certificate(ratio=1.0, method="luck")).endswith(
        "the smallest possible; proven by luck"
    )
    assert "at most 1.251 times" in str(Certificate(ratio=math.nextafter(1.25, 2)))
    assert "at most 1.235e+307 times" in str(Certificate(ratio=1.2341e307))
    assert "so" in str(Certificate(lower_bound=5e-324, upper_bound=0.5, reason="so"))
    rounding = str(Certificate(upper_bound=2.91e-31))
    assert rounding == "squared error the smallest possible, to within 3.0e-31 of the squared norm"


def test_of_two_claims_the_smaller_comes_first_and_each_says_when_it_holds():
    certificate = Certificate(
        ratio=203.5, method="luck", a_priori_ratio=12.5, a_priori_kind="expected"
    )
    assert str(certificate) == (
        "squared error at most 12.50 times the smallest possible (on average over seeds); "
        "promised by the algorithm; at most 203.50 times (always); proven by luck"
    )
    assert str(replace(certificate, ratio=1.5, a_priori_kind="always")) == (
        "squared error at most 1.500 times the smallest possible (always); proven by luck; the "
        "algorithm promises at most 12.50 times (always)"
    )


@pytest.mark.parametrize(
    ("cost", "bound"),
    [(1.0, 5e-324), (1e308, 1e-308), (math.inf, 1.0), (1.0, 0.0), (1.0, -1.0), (1.0, math.nan)],
)
def test_a_ratio_that_no_number_can_hold_is_none(cost, bound):
    assert round_ratio_up(cost, bound) is None


@given(st.floats(1e-300, 1e300), st.floats(1e-300, 1e300))
def test_a_ratio_is_rounded_up(one, other):
    bound, cost = sorted((one, other))
    ratio = round_ratio_up(cost, bound)
    if ratio is not None:
        assert Decimal(ratio) * Decimal(bound) >= Decimal(cost) * (1 - Decimal("1e-27"))
        assert ratio > 1.0


@pytest.mark.parametrize(("cost", "bound"), [(1.0, math.nextafter(1.0, 2.0)), (0, 1), (2.0, 3.0)])
def test_a_bound_above_the_cost_is_an_error_of_ours_and_no_claim(cost, bound):
    with pytest.raises(WrongBoundError, match="an error of orthonmf"):
        round_ratio_up(cost, bound)
