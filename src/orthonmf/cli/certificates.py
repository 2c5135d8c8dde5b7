"""Certificates on the command line: computed right after the fit, and timed apart from it."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from orthonmf.certificate import Certificate, state_promise
from orthonmf.cli.terminal import line, prose
from orthonmf.engine.losses import LOSSES
from orthonmf.errors import TooLargeError
from orthonmf.evidence import Evidence
from orthonmf.factorization import Factorization


def prove(result: Factorization) -> Factorization:
    """The result with its certificate computed, while the data are there.

    Where there is no room for one the fit still counts, and the certificate says why.
    """
    try:
        certificate = result.certificate
    except TooLargeError as error:
        certificate = replace(state_promise(result.promise), reason=str(error))
    return replace(result, evidence=Evidence(certificate))


def plain_certificate(certificate: Certificate) -> dict[str, Any]:
    """A certificate as JSON has it, with its sentence."""
    return {**asdict(certificate), "sentence": str(certificate)}


def tell_proof(result: Factorization) -> None:
    """The error, and what is proven of it."""
    line(f"{LOSSES[result.beta_loss].error} {result.relative_error:.6g}")
    prose(f"{result.certificate}")
