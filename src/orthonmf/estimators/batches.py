"""Fits to batches of samples: what `partial_fit` refuses, and the fit to the rows it keeps."""

from __future__ import annotations

from typing import Any

from orthonmf.certificate import CERTIFICATE_SECONDS, Certificate
from orthonmf.engine.masked import MaskedMatrix
from orthonmf.engine.matrix import Matrix
from orthonmf.errors import InvalidInputError
from orthonmf.factorization import Factorization
from orthonmf.fitting import factorize
from orthonmf.inputs.parameters import as_n_components
from orthonmf.numerics.arrays import Array
from orthonmf.onmf.coreset import Coreset

NO_CLAIM = Certificate(
    reason="the fit is to a coreset of the rows seen, and no claim is made; fit all rows at once"
)


def check_batches(model: Any) -> tuple[int, int]:
    """The numbers of components and of rows to keep, of an estimator that can take batches."""
    k = as_n_components(model.n_components)
    size = as_n_components(model.coreset_size, "coreset_size")
    if size < k:
        raise InvalidInputError(
            f"coreset_size={size} rows cannot hold n_components={k} directions; allow "
            "some hundred times as many rows as components"
        )
    if model.checkpoint is not None:
        raise InvalidInputError("partial_fit keeps no checkpoint; leave it out")
    if model.certificate not in ("svd", None):
        raise InvalidInputError(
            f"certificate={model.certificate!r} would be ignored by partial_fit, which proves "
            "nothing about all rows seen; leave it out, or use fit"
        )
    return k, size


def refuse_missing(batch: Matrix) -> None:
    """Refuse a batch with missing values: rows are drawn by all their entries."""
    if isinstance(batch, MaskedMatrix):
        raise InvalidInputError(
            "X has missing values, which partial_fit cannot leave out; impute them, or fit "
            "all rows at once"
        )


def fit_to_coreset(
    coreset: Coreset, parameters: dict[str, Any], components: Array | None
) -> Factorization:
    """A fit to the rows kept: the bits of ``fit`` as long as all are.

    Later also one that starts where the last batch ended, with ``components`` (k, m), and the
    better of both: that a single fit may end in a poor local optimum costs more than the drawing
    of rows.
    """
    keywords = {**parameters, "certificate": None, "certificate_seconds": CERTIFICATE_SECONDS}
    keywords["sample_weight"] = coreset.weights
    result = factorize(coreset.rows, **keywords)
    asked, algorithm = parameters["n_components"], parameters["algorithm"]
    starts = components is not None and len(components) == asked
    if coreset.n_reductions and algorithm == "best" and starts:
        warm = factorize(coreset.rows, **{**keywords, "seeding": components, "n_init": "auto"})
        result = min(result, warm, key=lambda one: one.relative_squared_error)
    return result
