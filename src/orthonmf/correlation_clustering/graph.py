"""The one door for bipartite graphs: matrices, lists of edges, networkx graphs -> Biadjacency."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Set
from dataclasses import dataclass
from numbers import Integral, Number, Real
from typing import Any

import numpy as np
import pandas
from scipy.sparse import coo_array, csr_array, issparse

from orthonmf.errors import InvalidInputError, InvalidTypeError
from orthonmf.inputs.arrays import as_array, as_frame
from orthonmf.inputs.sparse import as_csr
from orthonmf.typing import Array

Triple = tuple[Any, Any, float]  # label of a row, label of a column, weight


@dataclass(frozen=True, slots=True, eq=False)
class Biadjacency:
    """A bipartite graph as a 0/1 matrix, with the names of its vertices if they have any.

    Examples
    --------
    >>> import orthonmf
    >>> graph = orthonmf.Biadjacency.from_edges([("ann", "monday"), ("bob", "monday")])
    >>> graph.edges.toarray()
    array([[1],
           [1]], dtype=uint8)
    >>> graph.row_names.tolist()
    ['ann', 'bob']
    """

    edges: csr_array  # (n, m) uint8 ones, sorted, nothing stored twice, no stored zeros
    row_names: Array | None = None  # (n,)
    column_names: Array | None = None  # (m,)

    @classmethod
    def from_matrix(cls, X: Any, binarize: float | None = None) -> Biadjacency:
        """The graph of a matrix of zeros and ones, or of the entries above ``binarize``."""
        _check_threshold(binarize)
        return cls(edges_above(as_csr(X) if issparse(X) else as_array(X), binarize))

    @classmethod
    def from_edges(
        cls,
        edges: Any,
        *,
        row_names: Iterable[Any] | None = None,
        column_names: Iterable[Any] | None = None,
        directed: bool = False,
        binarize: float | None = None,
    ) -> Biadjacency:
        """Turn a list of edges into a 0/1 matrix whose rows and columns carry the labels.

        Parameters
        ----------
        edges
            Pairs (row label, column label), or triples with a weight: an array or a data frame with
            two or three columns, or any iterable of pairs or triples. Labels may be numbers, texts
            or anything hashable. An edge that is listed twice is one edge, with the larger weight.
        row_names, column_names
            All labels of a side, in the order wanted. Needed to include vertices without edges.
            Otherwise the labels of a side stand in the order in which they first appear.
        directed
            Whether a name that is on the left of one edge and on the right of another stands for
            two vertices, as those of a directed graph. If not, such a name is refused: it tells
            that the ends of some edges are the wrong way around. Numbers count each side by itself.
        binarize
            A weight is an entry of the matrix, as with networkx graphs: None accepts nothing but 0
            and 1, a number t makes every edge with a weight above t an edge. Weights are no
            evidence: above the threshold all edges count the same.

        Examples
        --------
        >>> import orthonmf
        >>> graph = orthonmf.Biadjacency.from_edges(
        ...     [("ann", 1), ("ann", 2), ("bob", 2)], column_names=[1, 2, 3]
        ... )
        >>> graph.edges.toarray()
        array([[1, 1, 0],
               [0, 1, 0]], dtype=uint8)
        """
        _check_threshold(binarize)
        triples = _list_triples(edges)
        if not directed:
            _refuse_mixed_sides(triples)
        if not triples:
            raise InvalidInputError("The list of edges is empty; a graph needs at least one edge.")
        return _from_triples(triples, row_names, column_names, binarize)


def as_graph(X: Any, binarize: float | None = None) -> Biadjacency:
    """Turn whatever holds a bipartite graph into a 0/1 matrix.

    Entry (i, h) of a matrix (n, m), dense or sparse of any format, tells whether row i and column h
    are joined; entries stored twice are added up, and the input is left as it is. Rows of a
    networkx graph are the nodes with the attribute ``bipartite`` 0, columns those with 1; without
    that attribute each connected component is colored, its first node becoming a row. Entries are
    the edge attribute ``weight``, 1 if absent. A `Biadjacency` is returned as it is.

    Two or three columns whose first two hold labels that are no numbers are edges, as
    :meth:`Biadjacency.from_edges` takes them, and so is a list of pairs (tuples) of whole numbers;
    all other numbers are a matrix.

    Without ``binarize`` nothing but 0 and 1 is accepted; a number t makes every entry above t an
    edge, and numbers are a matrix in any form.
    """
    _check_threshold(binarize)
    if isinstance(X, Biadjacency):
        return X
    networkx = sys.modules.get("networkx")  # who has a graph of it has imported it
    if networkx is not None and isinstance(X, networkx.Graph):
        return _from_networkx(X, binarize)
    if isinstance(X, Set) or (isinstance(X, Iterable) and not hasattr(X, "__len__")):
        X = list(X)  # the edges of a networkx graph are a set, too
    if _lists_edges(X, binarize):
        return Biadjacency.from_edges(X, binarize=binarize)
    matrix = as_csr(X) if issparse(X) else as_array(X)
    try:
        return Biadjacency(edges_above(matrix, binarize))
    except InvalidInputError as error:
        if not error.remedy or matrix.shape[1] not in (2, 3):
            raise
        hint = "if every row is an edge, orthonmf.Biadjacency.from_edges(X)"
        raise InvalidInputError(error.problem, f"{error.remedy}, or {hint}") from error


def _lists_edges(X: Any, binarize: float | None) -> bool:
    """Whether X is a list of edges, and no matrix."""
    frame = as_frame(X)
    if frame is not None:
        return frame.shape[1] in (2, 3) and _names_any(
            value for place in (0, 1) for value in frame[:, place].to_list()
        )
    if isinstance(X, np.ndarray):
        labeled = X.ndim == 2 and X.shape[1] in (2, 3) and X.dtype.kind in "USOT"
        return labeled and _names_any(X[:, :2].flat)
    if not isinstance(X, list | tuple) or not X:
        return False
    if not all(isinstance(edge, tuple | list) and len(edge) in (2, 3) for edge in X):
        return False
    if _names_any(label for edge in X for label in edge[:2]):
        return True
    pairs = all(isinstance(edge, tuple) and len(edge) == 2 for edge in X)
    whole = (isinstance(i, Integral) and not isinstance(i, bool) for edge in X for i in edge)
    return pairs and binarize is None and all(whole)


def _names_any(labels: Iterable[Any]) -> bool:
    """Whether a label is no number; one that is missing does not tell."""
    return any(not isinstance(label, Number | np.bool_ | None) for label in labels)


def _list_triples(edges: Any) -> list[Triple]:
    """The edges of an array, a data frame or an iterable, of weight 1 where they have none."""
    frame = as_frame(edges)
    if frame is not None:
        edges = frame.rows()
    elif isinstance(edges, np.ndarray):
        edges = edges.tolist()
    triples = []
    for position, edge in enumerate(edges):
        if isinstance(edge, str) or not hasattr(edge, "__len__") or len(edge) not in (2, 3):
            raise InvalidInputError(
                f"Edge {position} is {edge!r}; every edge is a pair (row label, column label), or "
                "a triple with a weight."
            )
        left, right, given = (*edge, 1.0)[:3]
        if pandas.isna(left) is True or pandas.isna(right) is True:  # a tuple is asked by entries
            raise InvalidInputError(f"Edge {position} is {edge!r}: a label is missing.")
        weight = pandas.to_numeric(given, errors="coerce")
        if not 0 <= weight < math.inf:
            raise InvalidInputError(
                f"Edge {position} is {tuple(edge)!r}: the third is its weight, a number that is "
                "finite and not negative."
            )
        triples.append((left, right, float(weight)))
    return triples


def _refuse_mixed_sides(triples: list[Triple]) -> None:
    """Refuse a name that is on the left of one edge and on the right of another."""
    left, right = [edge[0] for edge in triples], [edge[1] for edge in triples]
    columns = set(right)
    mixed = next((name for name in left if _names_any([name]) and name in columns), None)
    if mixed is not None:
        raise InvalidInputError(
            f"{mixed!r} is on the left of edge {left.index(mixed)} and on the right of edge "
            f"{right.index(mixed)}; the left ends of edges are rows, the right ends are columns. "
            "Of a networkx graph pass the graph itself, or sort the ends of its edges with "
            "networkx.bipartite.sets(G); where the two are different vertices, pass "
            "orthonmf.Biadjacency.from_edges(edges, directed=True)."
        )


def _from_triples(
    triples: list[Triple],
    row_names: Iterable[Any] | None,
    column_names: Iterable[Any] | None,
    binarize: float | None,
) -> Biadjacency:
    """The graph of edges, one at least; of those listed twice the larger weight counts."""
    rows = _number((edge[0] for edge in triples), row_names, "row_names")
    columns = _number((edge[1] for edge in triples), column_names, "column_names")
    heaviest: dict[tuple[int, int], float] = {}
    for left, right, weight in triples:
        place = rows[left], columns[right]
        heaviest[place] = max(weight, heaviest.get(place, weight))
    places, shape = np.array(list(heaviest)).reshape(-1, 2).T, (len(rows), len(columns))
    weights = np.array(list(heaviest.values()), dtype=np.float64)
    entries = coo_array((weights, tuple(places)), shape=shape).tocsr()
    return Biadjacency(edges_above(entries, binarize), _as_names(rows), _as_names(columns))


def _number(labels: Iterable[Any], names: Iterable[Any] | None, what: str) -> dict[Any, int]:
    """The number of every label, in order; all have to be among the names, if there are any."""
    met = list(dict.fromkeys(labels))
    ordered = met if names is None else list(names)
    numbers = {label: number for number, label in enumerate(ordered)}
    if len(numbers) < len(ordered):
        raise InvalidInputError(f"{what} holds the same label twice.")
    unknown = next((label for label in met if label not in numbers), None)
    if unknown is not None:
        raise InvalidInputError(f"The label {unknown!r} is in an edge but not in {what}.")
    return numbers


def _as_names(labels: Iterable[Any]) -> Array:
    """The labels as an array, of objects unless all are of one plain type."""
    listed = list(labels)
    kinds = set(map(type, listed))
    if len(kinds) == 1 and kinds <= {int, float, str, bool}:
        return np.array(listed)
    names = np.empty(len(listed), dtype=object)
    names[:] = listed
    return names


def edges_above(matrix: Array | csr_array, binarize: float | None) -> csr_array:
    """The edges of a matrix, as uint8 ones in CSR form with sorted indices."""
    if issparse(matrix) and binarize is not None and binarize < 0:
        raise InvalidInputError(
            f"binarize is {binarize}: below 0 every entry that a sparse matrix leaves out "
            "would be an edge. Use a threshold of at least 0, or pass a dense matrix."
        )
    entries = coo_array(matrix)  # in row order
    _refuse(entries, ~np.isfinite(entries.data), "NaN or infinity")
    if binarize is None:
        remedy = "pass binarize=t to make every entry above t an edge"
        wrong = (entries.data != 0) & (entries.data != 1)
        _refuse(entries, wrong, "values other than 0 and 1", remedy)
    edges = csr_array(matrix > (binarize or 0), dtype=np.uint8)
    edges.sort_indices()
    return edges


def _refuse(entries: coo_array, wrong: Array, what: str, remedy: str = "") -> None:
    """Raise an error that names the first entry that is wrong, if there is one."""
    if wrong.any():
        first = wrong.argmax()
        row, column = (int(places[first]) for places in entries.coords)
        raise InvalidInputError(
            f"The graph contains {what}: {np.count_nonzero(wrong)} of them, the first is "
            f"X[{row}, {column}] = {entries.data[first]}. An edge is 1, no edge is 0",
            remedy,
        )


def _check_threshold(binarize: Any) -> None:
    """Raise an error unless the threshold is None or a finite number."""
    if binarize is None:
        return
    if isinstance(binarize, bool | np.bool_) or not isinstance(binarize, Real):
        raise InvalidTypeError(f"binarize is {binarize!r}; pass None or a number.")
    if not math.isfinite(binarize):
        raise InvalidInputError(f"binarize is {binarize}; pass None or a finite number.")


def _from_networkx(graph: Any, binarize: float | None) -> Biadjacency:
    """Rows, columns and entries of a bipartite networkx graph."""
    side = _find_sides(graph)
    rows = [node for node in graph if side[node] == 0]
    columns = [node for node in graph if side[node] == 1]
    if not rows or not columns:
        raise InvalidInputError(
            f"The graph has {len(rows)} rows and {len(columns)} columns; it needs both sides."
        )
    triples = []
    for left, right, weight in graph.edges(data="weight", default=1):
        if side[left] == side[right]:
            raise InvalidInputError(
                f"The edge {left!r} - {right!r} joins two nodes of one side; "
                "the graph is not bipartite."
            )
        triples.append((left, right, weight) if side[left] == 0 else (right, left, weight))
    return _from_triples(triples, rows, columns, binarize)


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
