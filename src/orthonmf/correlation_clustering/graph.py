"""The one door for bipartite graphs: whatever the user brings -> Biadjacency."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array, issparse

from orthonmf.errors import InvalidInputError, InvalidTypeError
from orthonmf.inputs.data import as_array, as_csr
from orthonmf.numerics.arrays import Array


@dataclass(frozen=True, slots=True, eq=False)
class Biadjacency:
    """A bipartite graph as a 0/1 matrix, with the names of its vertices if they have any.

    Examples
    --------
    >>> import orthonmf
    >>> graph = orthonmf.biadjacency_from_edges([("ann", "monday"), ("bob", "monday")])
    >>> graph.edges.toarray()
    array([[1],
           [1]], dtype=uint8)
    >>> graph.row_names.tolist()
    ['ann', 'bob']
    """

    edges: csr_array  # (n, m) uint8 ones, sorted, nothing stored twice, no stored zeros
    row_names: Array | None = None  # (n,)
    column_names: Array | None = None  # (m,)


def as_biadjacency(graph: Any, binarize: float | None = None) -> Biadjacency:
    """Turn a matrix or a bipartite networkx graph into a 0/1 matrix.

    Entry (i, h) of a matrix (n, m), dense or sparse of any format, tells whether row i and column h
    are joined; entries stored twice are added up, and the input is left as it is. Rows of a
    networkx graph are the nodes with the attribute ``bipartite`` 0, columns those with 1; without
    that attribute each connected component is colored, its first node becoming a row. Entries are
    the edge attribute ``weight``, 1 if absent. A `Biadjacency` is returned as it is. Lists of edges
    look like matrices with two columns: `edge_lists.as_graph` takes them too.

    Without ``binarize`` nothing but 0 and 1 is accepted; a number t makes every entry above t an
    edge.
    """
    _check_threshold(binarize)
    if isinstance(graph, Biadjacency):
        return graph
    if is_networkx(graph):
        return _from_networkx(graph, binarize)
    return Biadjacency(edges_above(_check_matrix(graph), binarize))


def _check_matrix(graph: Any) -> Array | csr_array:
    """A matrix of real numbers, dense or CSR, not yet checked for its values."""
    try:
        return as_csr(graph) if issparse(graph) else as_array(graph)
    except InvalidTypeError as error:
        if "text" not in str(error):
            raise
        hint = "a list of edges goes through orthonmf.biadjacency_from_edges"
        raise InvalidInputError(f"{error}; {hint}") from error


def edges_above(matrix: Array | csr_array, binarize: float | None) -> csr_array:
    """The edges of a matrix, as uint8 ones in CSR form with sorted indices."""
    if isinstance(matrix, np.ndarray):
        values = matrix.ravel()
    elif binarize is not None and binarize < 0:
        raise InvalidInputError(
            f"binarize is {binarize}: below 0 every entry that a sparse matrix leaves out "
            "would be an edge. Use a threshold of at least 0, or pass a dense matrix."
        )
    else:
        matrix.sort_indices()
        values = matrix.data
    _refuse(~np.isfinite(values), matrix, values, "NaN or infinity")
    if binarize is None:
        _refuse((values != 0) & (values != 1), matrix, values, "values other than 0 and 1")
    is_edge = np.flatnonzero(values > (0 if binarize is None else binarize))
    rows, columns = _find_places(matrix, is_edge)
    ones = np.ones(len(is_edge), dtype=np.uint8)
    edges = coo_array((ones, (rows, columns)), shape=matrix.shape).tocsr()
    edges.sort_indices()
    return edges


def _find_places(matrix: Array | csr_array, numbers: Any) -> tuple[Any, Any]:
    """Row and column of some entries, numbered in the order in which they are stored."""
    if isinstance(matrix, np.ndarray):
        return np.divmod(numbers, matrix.shape[1])
    rows = np.searchsorted(matrix.indptr, numbers, side="right") - 1
    return rows, matrix.indices[numbers]


def _refuse(wrong: Array, matrix: Array | csr_array, values: Array, found: str) -> None:
    """Raise an error that names the first offending entry in row order, if there is one."""
    count = np.count_nonzero(wrong)
    if count:
        first = wrong.argmax()
        row, column = _find_places(matrix, first)
        advice = "" if "NaN" in found else " Pass binarize=t to make every entry above t an edge."
        raise InvalidInputError(
            f"The graph contains {found}: {count} of them, the first is "
            f"X[{row}, {column}] = {values[first]}. An edge is 1, no edge is 0.{advice}"
        )


def _check_threshold(binarize: Any) -> None:
    """Raise an error unless the threshold is None or a finite number."""
    if binarize is None:
        return
    if isinstance(binarize, bool | np.bool_) or not isinstance(binarize, Real):
        raise InvalidTypeError(f"binarize is {binarize!r}; pass None or a number.")
    if not math.isfinite(binarize):
        raise InvalidInputError(f"binarize is {binarize}; pass None or a finite number.")


def matrix_of(
    places: Iterable[tuple[int, int]], weights: Iterable[float], shape: tuple[int, int]
) -> csr_array:
    """The CSR matrix with these weights at these places, float64; those of one place add up."""
    numbers = np.array(list(places), dtype=np.int64).reshape(-1, 2).T
    entries = np.array(list(weights), dtype=np.float64)
    return coo_array((entries, tuple(numbers)), shape=shape).tocsr()


def as_names(labels: list[Any]) -> Array:
    """The labels as an array, of objects unless all are of one plain type."""
    kinds = {type(label) for label in labels}
    if len(kinds) == 1 and kinds <= {int, float, str, bool}:
        return np.array(labels)
    names = np.empty(len(labels), dtype=object)
    names[:] = labels
    return names


def is_networkx(graph: Any) -> bool:
    """Whether this is a networkx graph, found out without importing networkx."""
    return any(base.__module__.partition(".")[0] == "networkx" for base in type(graph).__mro__)


def _from_networkx(graph: Any, binarize: float | None) -> Biadjacency:
    """Rows, columns and entries of a bipartite networkx graph."""
    side = _find_sides(graph)
    rows = [node for node in graph if side[node] == 0]
    columns = [node for node in graph if side[node] == 1]
    if not rows or not columns:
        raise InvalidInputError(
            f"The graph has {len(rows)} rows and {len(columns)} columns; it needs both sides."
        )
    row_numbers = {node: number for number, node in enumerate(rows)}
    column_numbers = {node: number for number, node in enumerate(columns)}
    ends: list[tuple[int, int]] = []
    weights = []
    for left, right, weight in graph.edges(data="weight", default=1):
        if side[left] == side[right]:
            raise InvalidInputError(
                f"The edge {left!r} - {right!r} joins two nodes of one side; "
                "the graph is not bipartite."
            )
        row, column = (left, right) if side[left] == 0 else (right, left)
        ends.append((row_numbers[row], column_numbers[column]))
        weights.append(weight)
    entries = matrix_of(ends, weights, (len(rows), len(columns)))
    return Biadjacency(edges_above(entries, binarize), as_names(rows), as_names(columns))


def _find_sides(graph: Any) -> dict[Any, int]:
    """0 for the rows and 1 for the columns of a networkx graph."""
    given = dict(graph.nodes(data="bipartite"))
    if any(side is not None for side in given.values()):
        for node, side in given.items():
            if side not in (0, 1):
                raise InvalidInputError(
                    f"Node {node!r} has the attribute bipartite = {side!r}; it must be 0 or 1 "
                    "on all nodes, or absent from all."
                )
        return given
    import networkx

    try:
        # The coloring visits every component; it starts with 1, and we want rows to be 0.
        sides = {node: 1 - color for node, color in networkx.bipartite.color(graph).items()}
    except networkx.NetworkXError as error:
        raise InvalidInputError(f"The graph is not bipartite: {error}") from error
    return sides | dict.fromkeys(networkx.isolates(graph), 0)
