"""Lists of edges, with labels and weights, and what is taken for one."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf.correlation_clustering.edge_lists import as_graph, biadjacency_from_edges
from orthonmf.errors import InvalidInputError

PAIRS = [("ann", "tea"), ("bob", "tea"), ("eve", "milk")]
EDGES = [[1, 0], [1, 0], [0, 1]]


def frame(columns):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(columns)


@pytest.mark.parametrize(
    "form",
    [list, tuple, np.array, iter, lambda pairs: np.array(pairs, dtype=object)],
    ids=["list", "tuple", "text", "iterator", "objects"],
)
def test_pairs_of_labels_are_edges_in_any_form(form):
    graph = as_graph(form(PAIRS))
    assert graph.row_names.tolist() == ["ann", "bob", "eve"]
    assert graph.column_names.tolist() == ["tea", "milk"]
    assert graph.edges.toarray().tolist() == EDGES


@pytest.mark.parametrize("categories", [False, True])
def test_frames_of_two_or_three_columns_are_edges(categories):
    who, what = zip(*PAIRS, strict=True)
    pairs = frame({"who": who, "what": what})
    if categories:
        pairs = pairs.astype("category")
    assert as_graph(pairs).edges.toarray().tolist() == EDGES
    assert as_graph(pairs.assign(weight=1)).edges.toarray().tolist() == EDGES
    numbers = as_graph(frame({"who": [3, 5, 5], "what": [10, 10, 20]}))
    assert numbers.row_names.tolist() == [3, 5]
    polars = pytest.importorskip("polars")
    assert as_graph(polars.DataFrame({"a": who, "b": what})).edges.toarray().tolist() == EDGES


def test_whole_numbers_other_than_zero_and_one_are_labels():
    graph = as_graph(np.array([[7, 1], [8, 1], [9, 0]]))
    assert graph.row_names.tolist() == [7, 8, 9]
    assert graph.edges.toarray().tolist() == EDGES


@pytest.mark.parametrize("form", [np.array, list, lambda X: frame({"a": [0, 1], "b": [1, 1]})])
def test_two_columns_of_zeros_and_ones_are_refused_with_both_remedies(form):
    X = form([[0, 1], [1, 1]])
    with pytest.raises(InvalidInputError, match=r"binarize=0 .*biadjacency_from_edges\(X\)"):
        as_graph(X)
    assert as_graph(X, binarize=0).edges.toarray().tolist() == [[0, 1], [1, 1]]
    assert as_graph(np.array(X).astype(bool)).row_names is None
    assert biadjacency_from_edges(X).row_names.tolist() == [0, 1]


@pytest.mark.parametrize(
    "X",
    [csr_array([[0, 1], [1, 1]]), np.array([[0.0, 1.0], [1.0, 1.0]]), np.array([[0, 1, 1]])],
)
def test_what_can_only_be_a_matrix_stays_one(X):
    assert as_graph(X).row_names is None


def test_weights_are_entries_that_need_a_threshold():
    edges = [("ann", "tea", 2.0), ("ann", "tea", 0.5), ("bob", "tea", 0.5)]
    with pytest.raises(InvalidInputError, match=r"X\[0, 0\] = 2.*binarize"):
        as_graph(edges)
    assert as_graph(edges, binarize=1.0).edges.toarray().tolist() == [[1], [0]]
    assert as_graph(np.array(edges), binarize=0).edges.toarray().tolist() == [[1], [1]]


def test_edges_are_numbered_in_order_of_appearance_and_listed_twice_count_once():
    graph = biadjacency_from_edges([("b", 7), ("a", 7), ("b", "b"), ("b", 7)])
    assert graph.row_names.tolist() == ["b", "a"]
    assert graph.column_names.tolist() == [7, "b"]
    assert graph.edges.toarray().tolist() == [[1, 1], [1, 0]]
    assert as_graph(graph) is graph


def test_edges_may_be_an_array_and_names_may_include_lone_vertices():
    graph = biadjacency_from_edges(np.array([[5, 2], [3, 2]]), row_names=[3, 4, 5])
    assert graph.edges.toarray().tolist() == [[1], [0], [1]]
    assert graph.row_names.tolist() == [3, 4, 5]
    assert graph.column_names.tolist() == [2]


def test_edges_may_be_a_data_frame():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"who": ["a", "b"], "what": ["x", "x"]})
    assert biadjacency_from_edges(frame).edges.toarray().tolist() == [[1], [1]]


@pytest.mark.parametrize(
    ("edges", "names", "message"),
    [
        ([("a", "b", "c")], None, "Edge 0 .* weight"),
        ([("a", "b", -1)], None, "Edge 0 .* not negative"),
        ([("a", "b", 1, 2)], None, "Edge 0 .* pair"),
        ([("a", "b"), "cd"], None, "Edge 1"),
        ([("a", None)], None, "missing"),
        ([("a", float("nan"))], None, "missing"),
        ([], None, "empty"),
        ([("a", "b")], ["x"], "not in row_names"),
        ([("a", "b")], ["a", "a"], "twice"),
    ],
)
def test_bad_edges_are_refused_with_their_position(edges, names, message):
    with pytest.raises(InvalidInputError, match=message):
        biadjacency_from_edges(edges, row_names=names)
