"""Lists of edges: pairs of labels, with a weight where there is a third; and what is one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy.sparse import issparse

from orthonmf.correlation_clustering.graph import (
    Biadjacency,
    as_biadjacency,
    as_names,
    edges_above,
    is_networkx,
    matrix_of,
)
from orthonmf.errors import InvalidInputError
from orthonmf.numerics.arrays import Array

NUMBERS = int | float | np.number | np.bool_ | None


def as_graph(X: Any, binarize: float | None = None) -> Biadjacency:
    """Turn whatever holds a bipartite graph into a 0/1 matrix.

    Matrices, networkx graphs and `Biadjacency` as :func:`as_biadjacency` takes them, and lists of
    edges as :func:`biadjacency_from_edges` does. Two or three columns with labels that are no
    numbers are edges, and so are two of whole numbers that are not all 0 and 1; two columns of
    whole zeros and ones may be either and are refused. With ``binarize``, numbers are a matrix.
    """
    if isinstance(X, Biadjacency) or issparse(X) or is_networkx(X):
        return as_biadjacency(X, binarize)
    if isinstance(X, Iterable) and not hasattr(X, "__len__"):
        X = list(X)
    if _lists_edges(X, binarize):
        return biadjacency_from_edges(X, binarize=binarize)
    return as_biadjacency(X, binarize)


def biadjacency_from_edges(
    edges: Any,
    *,
    row_names: Iterable[Any] | None = None,
    column_names: Iterable[Any] | None = None,
    binarize: float | None = None,
) -> Biadjacency:
    """Turn a list of edges into a 0/1 matrix whose rows and columns carry the labels.

    Parameters
    ----------
    edges
        Pairs (row label, column label), or triples with a weight: an array or a data frame with two
        or three columns, or any iterable of pairs or triples. Labels may be numbers, strings or
        anything hashable; a label on the left and the same label on the right are two vertices. An
        edge that is listed twice is one edge, with the larger weight.
    row_names, column_names
        All labels of a side, in the order wanted. Needed to include vertices without edges.
        Otherwise the labels of a side stand in the order in which they first appear.
    binarize
        A weight is an entry of the matrix, as with networkx graphs: None accepts nothing but 0
        and 1, a number t makes every edge with a weight above t an edge. Weights are no evidence:
        above the threshold all edges count the same.

    Examples
    --------
    >>> import orthonmf
    >>> graph = orthonmf.biadjacency_from_edges(
    ...     [("ann", 1), ("ann", 2), ("bob", 2)], column_names=[1, 2, 3]
    ... )
    >>> graph.edges.toarray()
    array([[1, 1, 0],
           [0, 1, 0]], dtype=uint8)
    """
    triples = _list_triples(edges)
    rows, row_labels = _number([one[0] for one in triples], row_names, "row_names")
    columns, column_labels = _number([one[1] for one in triples], column_names, "column_names")
    shape = (len(row_labels), len(column_labels))
    if 0 in shape:
        raise InvalidInputError("The list of edges is empty; a graph needs at least one edge.")
    heaviest: dict[tuple[int, int], float] = {}
    for row, column, (_, _, weight) in zip(rows.tolist(), columns.tolist(), triples, strict=True):
        heaviest[row, column] = max(weight, heaviest.get((row, column), weight))
    matrix = matrix_of(heaviest, heaviest.values(), shape)
    return Biadjacency(edges_above(matrix, binarize), as_names(row_labels), as_names(column_labels))


def _lists_edges(X: Any, binarize: float | None) -> bool:
    """Whether X can only be a list of edges; what may be a matrix as well is refused."""
    held = X.to_numpy() if hasattr(X, "to_numpy") else X
    try:
        held = np.asarray(held)
    except ValueError:  # lines of unequal length, which the matrix refuses
        return False
    if held.ndim != 2 or held.shape[1] not in (2, 3):
        return False
    if held.dtype.kind in "USO":
        return any(isinstance(label, str | bytes) for label in held[:, :2].flat) or (
            held.dtype.kind == "O"
            and not all(isinstance(label, NUMBERS) for label in held[:, :2].flat)
        )
    if held.dtype.kind not in "iu" or held.shape[1] == 3 or binarize is not None:
        return False
    if np.isin(held, (0, 1)).all():
        raise InvalidInputError(
            f"X is {held.shape[0]} x 2 whole zeros and ones: a 0/1 matrix with two columns, or "
            "edges between vertices named 0 and 1? Pass X.astype(bool) or binarize=0 for the "
            "matrix, orthonmf.biadjacency_from_edges(X) for the edges."
        )
    return True


def _list_triples(edges: Any) -> list[tuple[Any, Any, float]]:
    """The edges of an array, a data frame or an iterable, of weight 1 where they have none."""
    if hasattr(edges, "to_numpy"):
        edges = edges.to_numpy()
    listed = edges.tolist() if isinstance(edges, np.ndarray) else list(edges)
    triples = []
    for position, edge in enumerate(listed):
        if isinstance(edge, str) or not hasattr(edge, "__len__") or len(edge) not in (2, 3):
            raise InvalidInputError(
                f"Edge {position} is {edge!r}; every edge is a pair (row label, column label), or "
                "a triple with a weight."
            )
        if any(label is None or label != label for label in edge[:2]):
            raise InvalidInputError(f"Edge {position} is {edge!r}: a label is missing.")
        triples.append((edge[0], edge[1], _weight(edge, position)))
    return triples


def _weight(edge: Any, position: int) -> float:
    if len(edge) == 2:
        return 1.0
    try:
        weight = float(edge[2])
    except (TypeError, ValueError):
        weight = np.nan
    if not (np.isfinite(weight) and weight >= 0):
        raise InvalidInputError(
            f"Edge {position} is {tuple(edge)!r}: the third is its weight, a number that is finite "
            "and not negative."
        )
    return weight


def _number(labels: list[Any], names: Iterable[Any] | None, what: str) -> tuple[Array, list[Any]]:
    """The number of every label, and the labels in order of their numbers."""
    ordered = list(dict.fromkeys(labels) if names is None else names)
    numbers = {label: number for number, label in enumerate(ordered)}
    if len(numbers) < len(ordered):
        raise InvalidInputError(f"{what} holds the same label twice.")
    unknown = next((label for label in labels if label not in numbers), None)
    if unknown is not None:
        raise InvalidInputError(f"The label {unknown!r} is in an edge but not in {what}.")
    return np.array([numbers[label] for label in labels], dtype=np.int64), ordered
