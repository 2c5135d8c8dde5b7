"""Certificates of fitted models: computed when they are looked at, and never by accident."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sklearn.utils.validation import check_is_fitted

from orthonmf.certificate import Certificate
from orthonmf.factorization import Factorization


class Certified:
    """The certificate of a fitted model; it comes after `BaseEstimator` among the bases.

    Cloning, copying, pickling and showing a model compute none. scikit-learn's ``__dir__`` and
    HTML look at every attribute there is, so one that is not computed is not there for them.
    """

    # The certificate, or the result that it is to be computed of.
    _proof: Certificate | Factorization = Certificate()

    @property
    def certificate_(self) -> Certificate:
        """What is proven about the error, computed when it is first looked at."""
        check_is_fitted(self)
        proof = self._proof
        if not isinstance(proof, Factorization):
            return proof
        found = proof.certificate
        if self._proof is proof:  # another thread may have fitted again
            self._proof = found
        return found

    def __getstate__(self) -> dict[str, Any]:
        """All but the data: a certificate that was not looked at is not computed for a pickle."""
        state: Any = super().__getstate__()
        return {**state, "_proof": self._tell_without_data()} if "_proof" in state else state

    def _tell_without_data(self) -> Certificate:
        """What can be said without the data."""
        proof = self._proof
        return proof.evidence.without_data() if isinstance(proof, Factorization) else proof

    def __dir__(self) -> Iterable[str]:
        """All attributes, less a certificate that is not computed."""
        pending = isinstance(self._proof, Factorization)
        return [name for name in super().__dir__() if not (pending and name == "certificate_")]
