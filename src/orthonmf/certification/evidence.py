"""Evidence: the data of a fit, held until its certificate is looked at, and the certificate then.

Nothing here is heavy: what computes a bound is imported when one is computed.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TYPE_CHECKING, Any

from orthonmf.certificate import (
    CERTIFICATE_SECONDS,
    EXACT,
    NOTHING_PROMISED,
    Certificate,
    Promise,
    state_promise,
)
from orthonmf.engine.executors import one_blas_thread
from orthonmf.engine.unchanged import RowLengths
from orthonmf.inputs.data import Data
from orthonmf.progress import progress_lines

if TYPE_CHECKING:
    from orthonmf.factorization import Factorization

NO_DATA = "no data are held here; certify(X, method='svd') computes a certificate from them"
ZERO = replace(EXACT, method="X being zero wherever it has weight")


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """Data that a certificate of this method is still to be computed from.

    The lengths of the rows as they were fitted tell whether the data changed since.
    """

    data: Data
    method: str
    lengths: RowLengths
    verbose: int = 0
    seconds: float = CERTIFICATE_SECONDS


@dataclass(slots=True, eq=False, repr=False)
class Evidence:
    """The certificate of one result: there, or computed from data that are held until then.

    Threads that look at the same time compute it once. If that fails or is interrupted, all stays
    as it was. A pickle or a deep copy takes no data along, only what is known without them.

    Attributes
    ----------
    known
        What the fit itself has proven; None where it is no more than what was promised.
    held
        The data, where more is to be computed from them; None where nothing is.
    promise
        What the algorithm promised.
    """

    known: Certificate | None = None
    held: Held | None = None
    promise: Promise = NOTHING_PROMISED
    _lock: Any = field(default_factory=Lock, init=False)

    @property
    def settled(self) -> Certificate | None:
        """The certificate, if nothing is left to compute."""
        return self._certificate() if self.held is None else None

    def without_data(self) -> Certificate:
        """What can be said without looking at the data; it computes nothing."""
        known = self._certificate()
        if self.held is None or known.ratio is not None:
            return known
        return replace(known, reason=NO_DATA)

    def look(self, result: Factorization) -> Certificate:
        """The certificate of a result, computed now if it was not looked at before."""
        if self.held is not None:
            with self._lock:
                held = self.held
                if held is not None:
                    from orthonmf.certification.certify import certify_held

                    shown = progress_lines() if held.verbose else nullcontext()
                    with shown, one_blas_thread():
                        self.known = certify_held(held, result, self._certificate())
                    self.held = None  # last: who sees no data finds the certificate
        return self._certificate()

    def compute(
        self, result: Factorization, data: Data, method: str, seconds: float
    ) -> Certificate:
        """The certificate of a result, computed from data given now, and kept."""
        from orthonmf.certification.certify import certify_given

        with one_blas_thread():
            found = certify_given(data, method, result, seconds)
        with self._lock:
            self.known, self.held = found, None
        return found

    def _certificate(self) -> Certificate:
        return state_promise(self.promise) if self.known is None else self.known

    def __reduce__(self) -> tuple[type[Evidence], tuple[Certificate]]:
        return Evidence, (self.without_data(),)
