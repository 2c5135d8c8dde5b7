"""Certificates on the command line: computed right after the fit, and timed apart from it."""

from __future__ import annotations

from dataclasses import replace

from orthant.certificate import promised_by
from orthant.certification.evidence import Evidence
from orthant.errors import TooLargeError
from orthant.factorization import Factorization


def prove(result: Factorization) -> Factorization:
    """The result with its certificate computed, while the data are there.

    Where there is no room for one the fit still counts, and the certificate says why.
    """
    try:
        found = result.certificate
    except TooLargeError as error:
        found = replace(promised_by(result.promise), reason=str(error))
    return replace(result, evidence=Evidence(found))


def times_of(result: Factorization) -> str:
    """How long the fit took, and how long its certificate where one was computed."""
    seconds = result.certificate.seconds
    proof = f", the certificate {seconds:.2f} s" if seconds else ""
    return f"the fit took {result.seconds:.2f} s{proof}"
