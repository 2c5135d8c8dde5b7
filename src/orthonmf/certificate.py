"""Certificate: what is proven about how far an answer is from the best possible.

`certifying.py` makes it, from data that `evidence.py` holds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

from orthonmf.errors import WrongBoundError

# From here on a ratio is written with an exponent.
LARGE = 1e6


KINDS = ("always", "expected")
DIVERGENCE = "divergence"
"""What the certificate of a Kullback-Leibler divergence is about, in words."""
# The certificates that may be asked for; the bounds of each are in `bounds/table.py`.
CERTIFICATES: dict[str | None, str] = {
    "svd": "from the singular values",
    "tight": "a much stronger one, from a search that may take a minute",
    None: "no bound, only what the algorithm promises",
}
CERTIFICATE_SECONDS = 60.0
"""What a search for a bound may take, unless it is told otherwise."""


@dataclass(frozen=True, slots=True)
class Promise:
    """A ratio to the smallest cost that is known before the data are seen, or why there is none."""

    ratio: float | None = None
    kind: str | None = None  # "always", or "expected" over the algorithm's own random choices
    reason: str = ""
    # How often what rounding adds to the cost of a first stage counts in the error of the answer.
    amplifies: float = field(default=1.0, repr=False)


NOTHING_PROMISED = Promise()


@dataclass(frozen=True, slots=True)
class LowerBound:
    """No feasible factorization has a squared error below ``value``."""

    value: float  # in units of squared entries of the array used; 0 where nothing is proven
    method: str  # what proves it, in words that complete "proven by ..."
    reason: str = ""  # why nothing could be tried


@dataclass(frozen=True, slots=True)
class Certificate:
    """A lower bound on the cost of every solution, and what follows for the one in hand.

    Attributes
    ----------
    lower_bound
        No solution costs less. For a factorization the cost is the relative squared error, under
        the Kullback-Leibler divergence the share of information that is lost, for a correlation
        clustering the number of disagreements. None when no bound was computed.
    upper_bound
        What the answer, as it is stored, costs at most, rounding included. Without a lower bound
        it is given only when it is at the level of rounding, otherwise None.
    ratio
        ``upper_bound`` divided by ``lower_bound``, rounded up; never below 1. 1 if both are 0.
        None when no claim can be made.
    method
        Which bound it is, in words that complete "proven by ...".
    a_priori_ratio
        What the algorithm promises before it sees the data; None when it promises nothing.
    a_priori_kind
        "always", or "expected" over the algorithm's own random choices, or None.
    reason
        Why a claim is missing, and how to get one; empty when nothing is missing.
    quantity
        The cost in words.
    seconds
        Time it took to compute, reading the data included.
    unique_within
        Every answer with as many groups and an error that is no larger has the same groups, but
        for this share of the weight: that of a row (over features of a column) is the part of its
        group's energy that it has, and all groups count the same. Tried by a tight certificate
        over samples and over features whose ratio is below 1.003; None where nothing is proven.

    Examples
    --------
    >>> import numpy as np
    >>> import orthonmf
    >>> X = np.random.default_rng(0).random((30, 20))
    >>> certificate = orthonmf.factorize(X, 3, random_state=0).certificate
    >>> certificate.method
    'its singular values'
    >>> certificate.lower_bound < certificate.upper_bound
    True
    >>> print(certificate)  # doctest: +ELLIPSIS
    squared error at most 1.1... times the smallest possible (always); proven by its ...
    """

    lower_bound: float | None = None
    ratio: float | None = None
    method: str | None = None
    a_priori_ratio: float | None = None
    a_priori_kind: str | None = None
    reason: str = ""
    quantity: str = "squared error"
    seconds: float = 0.0
    upper_bound: float | None = None
    unique_within: float | None = None

    @property
    def optimal(self) -> bool:
        """Whether no solution can be better: the ratio is exactly 1."""
        return self.ratio == 1.0

    def __str__(self) -> str:
        """The smaller claim first; of two, each with what it is: for all seeds, or on average."""
        claim, why = self._say_claim(), f": {self.reason}" if self.reason else ""
        proof = f"; proven by {self.method}{self._say_more()}" if self.method else ""
        if self.a_priori_ratio is None:
            if not claim:
                return f"nothing is proven{why}"
            # What is optimal, or is so but for rounding, needs no promise.
            needless = self.optimal or self.ratio is None or not why
            return claim + proof + ("" if needless else f"; nothing is promised{why}")
        times = f"at most {ratio_text(self.a_priori_ratio)} times"
        holds = "on average over seeds" if self.a_priori_kind == "expected" else "always"
        if claim and (self.ratio is None or self.ratio <= self.a_priori_ratio):
            always = "" if self.optimal else " (always)"
            return f"{claim}{always}{proof}; the algorithm promises {times} ({holds})"
        promised = f"{self.quantity} {times} the smallest possible ({holds})"
        promised += "; promised by the algorithm"
        if self.ratio is not None:
            return f"{promised}; at most {ratio_text(self.ratio)} times (always){proof}"
        return f"{promised}, nothing more is proven{why}" if why else promised

    def _say_claim(self) -> str:
        """What is proven of this answer; empty when nothing is."""
        if self.optimal:
            return f"{self.quantity} the smallest possible"
        if self.ratio is not None:
            return f"{self.quantity} at most {ratio_text(self.ratio)} times the smallest possible"
        if self.upper_bound is not None and self.lower_bound is None:
            # No error is below zero, so the best one is no further away than this.
            share = f"{Context(2, ROUND_CEILING).create_decimal(float(self.upper_bound)):.1e}"
            whole = "information" if self._is_of_divergence else "squared norm"
            return f"{self.quantity} the smallest possible, to within {share} of the {whole}"
        return ""

    @property
    def _is_of_divergence(self) -> bool:
        return self.quantity.startswith(DIVERGENCE)

    def _say_more(self) -> str:
        """What else is proven with the ratio: of the information, and of answers as good."""
        more = ""
        if self._is_of_divergence and self.upper_bound and self.lower_bound:
            kept = percent(max(1 - Decimal(self.upper_bound), Decimal(0)), ROUND_FLOOR)
            most = percent(1 - Decimal(self.lower_bound), ROUND_CEILING)
            more += (
                f"; it keeps {kept} of the information that rows hold about columns, and no answer "
                f"of as many parts keeps more than {most}"
            )
        if self.unique_within is not None:
            share = percent(self.unique_within, ROUND_CEILING)
            more += f"; every answer as good has the same groups, but for {share} of the weight"
        return more


EXACT = Certificate(lower_bound=0.0, upper_bound=0.0, ratio=1.0)
ZERO = replace(EXACT, method="X being zero wherever it has weight")
EXACT_FIT = replace(EXACT, method="an exact fit")


def state_promise(promise: Promise) -> Certificate:
    """A certificate that says what was promised, and no more."""
    return Certificate(
        a_priori_ratio=promise.ratio, a_priori_kind=promise.kind, reason=promise.reason
    )


def tell_zero_rows(certificate: Certificate, count: int) -> Certificate:
    """A certificate that tells, whatever it claims, of rows that count as zero and are not."""
    if not count:
        return certificate
    rows = "a row that underflows counts" if count == 1 else f"{count:,} rows that underflow count"
    return replace(certificate, quantity=f"{certificate.quantity} (of X where {rows} as zero)")


def ratio_text(ratio: float, most_decimals: int = 9) -> str:
    """A ratio with four or more significant digits, rounded up so that the claim stays true.

    Near 1 there are more of them, up to ``most_decimals``. The digits are those of the stored
    number itself: no product that might round or overflow.
    """
    exact = Decimal(float(ratio))
    if not exact.is_finite() or exact >= LARGE:
        return f"{Context(4, ROUND_CEILING).plus(exact):.3e}"
    digits = 2 if ratio >= 10 else 3
    while digits < most_decimals and 1.0 < ratio < 1.0 + 10.0 ** (1 - digits):
        digits += 1
    return str(exact.quantize(Decimal(1).scaleb(-digits), ROUND_CEILING))


def percent(share: float | Decimal, rounding: str) -> str:
    """A share in percent with three digits, moved to the side on which the claim stays true."""
    exact = Context(3, rounding).create_decimal(share).scaleb(2)
    return f"{exact.normalize():f}%"


def bound_text(bound: float) -> str:
    """A lower bound with four significant digits, rounded down so that the claim stays true."""
    exact = Context(4, ROUND_FLOOR).create_decimal(float(bound))
    return f"{exact:.3e}" if 0.0 < bound < 1e-6 or bound >= LARGE else f"{exact:f}"


def round_ratio_up(cost: float, lower_bound: float) -> float | None:
    """``cost / lower_bound`` rounded away from zero; None when nothing follows.

    The cost is rounded up and the bound down, so a bound above the cost is no matter of rounding:
    one of the two is wrong, and nothing is claimed from them.

    Raises
    ------
    WrongBoundError
        When the bound is above the cost.
    """
    if not 0.0 < lower_bound < math.inf or not math.isfinite(cost):
        return None
    if cost < lower_bound:
        raise WrongBoundError(
            f"a cost of {cost!r} lies below {lower_bound!r}, which was computed as the least that "
            "any answer costs: an error of orthonmf; please report it with the data"
        )
    ratio = math.nextafter(cost / lower_bound, math.inf)
    return ratio if math.isfinite(ratio) else None
