"""Lower bounds from the singular values: no matrix of rank k comes closer than their tail.

The squared error is at least the sum of all squared singular values but the k largest
(docs/theory/bounds.md, Theorem 7): the trace of the Gram matrix of either side less its k largest
eigenvalues, whichever side the parts are disjoint in.

The Gram matrix G is itself computed. Its entries are sums of non-negative products, each within
g(q) of the truth, q their length, relatively. The projection that would let a one-sided error pass
need not be non-negative on the side whose Gram matrix this is, so the error D of forming G enters
through its norm: the k largest eigenvalues move by at most sqrt(k) |D| <= sqrt(k) g(q) |G| in total
(Ky Fan, Cauchy-Schwarz).
"""

from __future__ import annotations

import math

import numpy as np

from orthonmf.bounds.eigenvalues import top_sum_upper_bound
from orthonmf.certificate import LowerBound
from orthonmf.rounding import (
    growth,
    norm_from_above,
    round_down,
    round_up,
    safe_exponent,
    scale_back,
    symmetric,
)
from orthonmf.typing import Array

METHOD = "its singular values"


def tail_from_gram(gram: Array, n_components: int, inner_length: int) -> LowerBound:
    """The tail of the singular values from the Gram matrix of one side, usually tight to 1e-4.

    ``gram`` (p, p), float64, is the computed Gram matrix of a non-negative matrix, the cheaper
    side of it; ``inner_length`` is the length of its inner products, that is the other side of
    the matrix, plus any roundings that the entries went through before (two for a weight).
    However the products were blocked, the value never exceeds the squared error of any
    factorization with ``n_components`` components, rounding included. Costs one Cholesky
    factorization of side p and as much again to check it, both in float32 where that is enough.
    """
    p = len(gram)
    # No entry of a Gram matrix exceeds the largest on its diagonal.
    largest = float(np.diagonal(gram).max(initial=0.0))
    if n_components >= p or not 0.0 < largest < math.inf:
        return LowerBound(0.0, METHOD)
    exponent = safe_exponent(largest)
    matrix = symmetric(gram if exponent == 0 else np.ldexp(gram, -exponent))
    top = top_sum_upper_bound(matrix, n_components)
    formed = math.sqrt(n_components) * growth(inner_length) * norm_from_above(matrix)
    trace = float(np.trace(matrix))
    value = round_down(trace, inner_length + p) - top - round_up(formed, 4)
    value -= growth(4) * (trace + abs(top) + formed)
    return LowerBound(scale_back(value, exponent, p * p * inner_length), METHOD)
