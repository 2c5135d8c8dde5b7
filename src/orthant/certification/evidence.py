"""Evidence: the data of a fit, held until its certificate is looked at, and the certificate then.

Nothing here is heavy: what computes a bound is imported when one is computed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING, Any

from orthant.certificate import CERTIFICATE_SECONDS, EXACT, Certificate, promised_by
from orthant.engine.executors import one_blas_thread
from orthant.engine.matrix import Matrix
from orthant.engine.unchanged import RowLengths
from orthant.progress import progress_lines
from orthant.validation.data import as_matrix

if TYPE_CHECKING:
    from orthant.factorization import Factorization

NO_DATA = "no data are held here; certify(X, method='svd') computes a certificate from them"
ZERO = replace(EXACT, method="X being zero wherever it has weight")


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """A matrix and its weights as they were given, never a converted copy, and how to read them."""

    X: Any
    sample_weight: Any = None
    feature_weight: Any = None
    missing_values: Any = None
    n_jobs: int | None = None
    max_memory: int | str | None = None

    def read(self, orthogonal: str) -> Matrix:
        """The matrix for work in this setting, checked, as it is now."""
        return as_matrix(
            self.X,
            sample_weight=self.sample_weight,
            feature_weight=self.feature_weight,
            missing_values=self.missing_values,
            n_jobs=self.n_jobs,
            max_memory=self.max_memory,
            columns=orthogonal != "samples",
        )


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


class Evidence:
    """The certificate of one result: there, or computed from data that are held until then.

    Threads that look at the same time compute it once. If that fails or is interrupted, all stays
    as it was. A pickle or a deep copy takes no data along, only what is known without them.

    Parameters
    ----------
    known
        What is known without the data: what was promised, and what the fit itself has proven.
    held
        The data, where more is to be computed from them; None where nothing is.
    """

    __slots__ = ("_held", "_known", "_lock")

    def __init__(self, known: Certificate | None = None, held: Held | None = None) -> None:
        self._known, self._held = known or Certificate(), held
        self._lock = Lock()

    @property
    def settled(self) -> Certificate | None:
        """The certificate, if nothing is left to compute."""
        return self._known if self._held is None else None

    def without_data(self) -> Certificate:
        """What can be said without looking at the data; it computes nothing."""
        if self._held is None or self._known.ratio is not None:
            return self._known
        return replace(self._known, reason=NO_DATA)

    def look(self, result: Factorization) -> Certificate:
        """The certificate of a result, computed now if it was not looked at before."""
        if self._held is not None:
            with self._lock:
                held = self._held
                if held is not None:
                    from orthant.certification.certify import certify_held

                    with progress_lines(held.verbose), one_blas_thread():
                        self._known = certify_held(held, result, self._known)
                    self._held = None  # last: who sees no data finds the certificate
        return self._known

    def compute(
        self, result: Factorization, data: Data, method: str, seconds: float
    ) -> Certificate:
        """The certificate of a result, computed from data given now, and kept."""
        from orthant.certification.certify import certify_given

        with one_blas_thread():
            found = certify_given(data, method, result, seconds)
        with self._lock:
            self._known, self._held = found, None
        return found

    def __reduce__(self) -> tuple[type[Evidence], tuple[Certificate]]:
        return Evidence, (self.without_data(),)


def gather(
    matrix: Matrix,
    result: Factorization,
    packed: float,
    data: Data,
    method: str | None,
    verbose: int = 0,
    seconds: float = CERTIFICATE_SECONDS,
) -> Evidence:
    """The evidence for a result of a fit to this matrix.

    ``packed`` is a bound by a packing of pairs, where the fit has one. Nothing is held where
    nothing is to be computed: without a method, for a zero matrix, and with missing values.
    """
    if matrix.complete and not matrix.total > 0:
        return Evidence(ZERO)
    known = promised_by(result.promise)
    if packed > 0:
        from orthant.certification.certify import certify_packing

        known = certify_packing(matrix, result, packed)
    if method is None or not matrix.complete:
        return Evidence(known)
    lengths = RowLengths(matrix.row_squares, matrix.units)
    return Evidence(known, Held(data, method, lengths, verbose, seconds))
