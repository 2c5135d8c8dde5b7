"""Evidence: the certificate of a result, and the data it is computed from when it is looked at.

The data of a fit are held until then. The error of the result and the lower bounds come from the
same reading of them, so that what is said is true of the numbers that were read, whatever was
fitted. `certifying.py` says what follows from them; it is imported when a certificate is computed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TYPE_CHECKING, Any

from orthonmf.certificate import CERTIFICATE_SECONDS, Certificate
from orthonmf.engine.executors import one_blas_thread
from orthonmf.engine.matrix import Matrix
from orthonmf.errors import InvalidInputError, InvalidTypeError, OrthoNMFError, SourceChangedError
from orthonmf.inputs.data import Data
from orthonmf.interrupts import note_interrupts
from orthonmf.progress import progress_lines

if TYPE_CHECKING:
    from orthonmf.factorization import Factorization

NO_DATA = "no data are held here; certify(X, method='svd') computes a certificate from them"
OTHERS = "X or its weights (sample_weight must be given again) are others, or have changed"
REMEDY = "fit again, or call certify(X, method='svd') with the data that were fitted"


@dataclass(frozen=True, slots=True, eq=False)
class Pending:
    """Data that a certificate of this method is still to be computed from."""

    data: Data
    method: str
    verbose: int = 0
    seconds: float = CERTIFICATE_SECONDS


@dataclass(slots=True, eq=False, repr=False)
class Evidence:
    """The certificate of one result: there, or computed from data that are held until then.

    Threads that look at the same time compute it once. If that fails or is interrupted, all stays
    as it was. A pickle or a deep copy takes no data along, only what is said without them.

    Attributes
    ----------
    certificate
        What is promised, and what the fit itself or an earlier look has proven.
    pending
        The data, where more is to be computed from them; None where nothing is.
    """

    certificate: Certificate = field(default_factory=Certificate)
    pending: Pending | None = None
    _lock: Any = field(default_factory=Lock, init=False)

    @property
    def settled(self) -> Certificate | None:
        """The certificate, if nothing is left to compute."""
        return self.certificate if self.pending is None else None

    def without_data(self) -> Certificate:
        """What can be said without looking at the data; it computes nothing."""
        if self.pending is None or self.certificate.ratio is not None:
            return self.certificate
        return replace(self.certificate, reason=NO_DATA)

    def look(self, result: Factorization) -> Certificate:
        """The certificate of a result, computed now if it was not looked at before."""
        with self._lock:
            if self.pending is not None:
                before = self.certificate
                proven = prove_from_data(self.pending, result, read_again)
                if before.ratio is not None and before.ratio < (proven.ratio or math.inf):
                    proven = replace(before, seconds=proven.seconds)
                self.certificate = proven
                self.pending = None  # last: who sees no data finds the certificate
            return self.certificate

    def compute(self, result: Factorization, given: Pending) -> Certificate:
        """The certificate of a result, computed from data given now, and kept."""
        proven = prove_from_data(given, result, read_given)
        with self._lock:
            self.certificate, self.pending = proven, None
        return proven

    def __reduce__(self) -> tuple[type[Evidence], tuple[Certificate]]:
        return Evidence, (self.without_data(),)


def prove_from_data(
    pending: Pending, result: Factorization, read: Callable[[Data, Factorization], Matrix]
) -> Certificate:
    """What is proven about a result from data that are read now.

    An interrupt ends a search, and what it has by then is proven; a second one ends all.
    """
    started = time.perf_counter()
    telling = progress_lines() if pending.verbose else nullcontext()
    noting = note_interrupts() if pending.method == "tight" else nullcontext(lambda: False)
    with telling, noting as interrupted, one_blas_thread():
        from orthonmf.certifying import prove  # which an interrupt may meet, too

        matrix = read(pending.data, result)
        proven = prove(matrix, result, pending.method, pending.seconds, interrupted)
    return replace(proven, seconds=time.perf_counter() - started)


def read_again(data: Data, result: Factorization) -> Matrix:
    """The data that a result holds, refused if they changed shape or can no longer be read."""
    try:
        return read_given(data, result)
    except (InvalidInputError, InvalidTypeError) as error:
        raise SourceChangedError(f"X changed since it was fitted: {error}; {REMEDY}") from error
    except (OrthoNMFError, MemoryError):
        raise
    except Exception as error:  # whatever a closed file or a lost connection raises
        why = f"{type(error).__name__}: {error}"
        raise SourceChangedError(f"X can no longer be read ({why}); {REMEDY}") from error


def read_given(data: Data, result: Factorization) -> Matrix:
    """Data that are given for a result, refused if their shape is another."""
    matrix = data.read()
    fitted = result.loadings.shape[0], result.components.shape[1]
    if matrix.shape != fitted:
        raise InvalidInputError(
            f"X has shape {matrix.shape}, but a matrix of shape {fitted} was fitted"
        )
    return matrix
