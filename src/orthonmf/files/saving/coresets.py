"""How the rows kept by ``partial_fit`` become plain values and arrays, and rows again."""

from __future__ import annotations

from typing import Any

import numpy as np

from orthonmf.files.saving.content import Content
from orthonmf.inputs.data import as_matrix
from orthonmf.inputs.sparse_structure import csr_from_parts
from orthonmf.numerics.arrays import Array
from orthonmf.onmf.coreset import Coreset


def pack_coreset(coreset: Coreset | None) -> tuple[dict[str, Any] | None, dict[str, Array]]:
    """Counts and the key of the random draws, and the rows with their weights."""
    if coreset is None:
        return None, {}
    values = {
        "n_seen": coreset.n_seen,
        "n_reductions": coreset.n_reductions,
        "key": [str(number) for number in coreset.key],
    }
    rows, arrays = coreset.rows, {"coreset_weights": coreset.weights}
    if isinstance(rows, np.ndarray):
        return values, {**arrays, "coreset_rows": rows}
    for part in ("data", "indices", "indptr"):
        arrays[f"coreset_{part}"] = getattr(rows, part)
    return values, arrays


def unpack_coreset(content: Content, n_features: int) -> Coreset | None:
    """The rows kept, once they are as good as rows that come from a user; None without any."""
    if content.items().get("coreset") is None:  # older files do not speak of it
        return None
    inner = content.inner("coreset")
    numbers = inner.texts("key")
    if not all(number.isascii() and number.isdigit() and len(number) < 20 for number in numbers):
        raise content.wrong(f"the key of the coreset is {numbers!r}")
    weights = content.amounts("coreset_weights", (None,))
    try:
        rows = _rows(content, (len(weights), n_features))
        as_matrix(rows, sample_weight=weights)
    except (ValueError, TypeError) as error:
        raise content.wrong(f"its coreset cannot be used: {error}") from error
    return Coreset(
        rows,
        weights.astype(np.float64),
        inner.count("n_seen"),
        inner.count("n_reductions"),
        tuple(int(number) for number in numbers),
    )


def _rows(content: Content, shape: tuple[int, int]) -> Any:
    if content.has_array("coreset_rows"):
        return content.amounts("coreset_rows", shape)
    data = content.amounts("coreset_data", (None,))
    parts = (data, content.array("coreset_indices"), content.array("coreset_indptr"))
    return csr_from_parts("csr", parts, shape)
