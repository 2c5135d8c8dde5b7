"""What holds a graph becomes a 0/1 matrix, or is refused with its place and a remedy."""

import numpy as np
import pytest
from scipy.sparse import coo_array, coo_matrix, csc_array, csr_array, lil_array

from orthonmf.correlation_clustering.graph import Biadjacency, as_graph
from orthonmf.errors import InvalidInputError, InvalidTypeError, OrthoNMFError

M = np.array([[1, 0, 1], [0, 1, 0]])


@pytest.mark.parametrize(
    "form", [np.asarray, np.ndarray.tolist, csr_array, csc_array, coo_array, coo_matrix, lil_array]
)
@pytest.mark.parametrize("dtype", [bool, np.int64, np.float32])
def test_every_form_and_dtype_of_a_matrix_gives_the_same_edges(form, dtype):
    graph = as_graph(form(M.astype(dtype)))
    assert isinstance(graph.edges, csr_array)
    assert graph.edges.dtype == np.uint8
    assert graph.edges.has_sorted_indices
    assert np.array_equal(graph.edges.toarray(), M)
    assert graph.row_names is None


@pytest.mark.parametrize("form", [np.asarray, csr_array, csc_array])
@pytest.mark.parametrize(
    ("value", "word"), [(0.5, "0.5"), (np.nan, "nan"), (np.inf, "inf"), (-1, "-1")]
)
def test_the_first_entry_that_is_not_binary_is_named(form, value, word):
    X = np.array([[1.0, 0, 1], [0, 1, 0], [1, 0, 0]])
    X[1, 2] = X[2, 0] = value
    with pytest.raises(InvalidInputError, match=rf"2 of them, the first is X\[1, 2\] = {word}"):
        as_graph(form(X))


def test_a_threshold_makes_larger_entries_edges():
    X = np.array([[0.2, 3.0, 0.5], [0.0, -1.0, 0.6]])
    expected = [[0, 1, 0], [0, 0, 1]]
    assert as_graph(X, 0.5).edges.toarray().tolist() == expected
    assert as_graph(csr_array(X), 0.5).edges.toarray().tolist() == expected
    assert as_graph(X, -0.5).edges.toarray().tolist() == [[1, 1, 1], [1, 0, 1]]
    with pytest.raises(InvalidInputError, match="below 0"):
        as_graph(csr_array(X), -0.5)


@pytest.mark.parametrize("binarize", ["0.5", True, [1]])
def test_a_threshold_must_be_a_number(binarize):
    with pytest.raises(InvalidTypeError, match="binarize"):
        as_graph(M, binarize)
    with pytest.raises(InvalidInputError, match="binarize"):
        as_graph(M, np.nan)


def test_entries_stored_twice_are_added_up_stored_zeros_are_none_and_the_input_is_left_alone():
    twice = csr_array((np.ones(3), np.array([2, 0, 0]), np.array([0, 1, 3])), shape=(2, 3))
    with pytest.raises(InvalidInputError, match=r"X\[1, 0\] = 2"):
        as_graph(twice)
    assert as_graph(twice, 0).edges.toarray().tolist() == [[0, 0, 1], [1, 0, 0]]
    assert twice.nnz == 3
    unsorted = csr_array((np.ones(2), np.array([2, 0]), np.array([0, 2, 2])), shape=(2, 3))
    assert as_graph(unsorted).edges.indices.tolist() == [0, 2]
    assert unsorted.indices.tolist() == [2, 0]
    stored = csr_array((np.array([0.0, 1.0]), np.array([0, 1]), np.array([0, 2])), shape=(1, 2))
    assert as_graph(stored).edges.nnz == 1


def test_networkx_sides_come_from_the_attribute():
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph()
    graph.add_nodes_from(["x", "y"], bipartite=1)
    graph.add_nodes_from([1, 2, 3], bipartite=0)
    graph.add_edges_from([("x", 2), (1, "y"), (2, "y")])
    result = as_graph(graph)
    assert result.row_names.tolist() == [1, 2, 3]
    assert result.column_names.tolist() == ["x", "y"]
    assert result.edges.toarray().tolist() == [[0, 1], [1, 1], [0, 0]]

    # Without it the components are colored one by one.
    graph = networkx.Graph([("a", "x"), ("a", "y"), ("b", "z")])
    graph.add_node("alone")
    result = as_graph(graph)
    assert result.row_names.tolist() == ["a", "b", "alone"]
    assert result.column_names.tolist() == ["x", "y", "z"]
    assert result.edges.toarray().tolist() == [[1, 1, 0], [0, 0, 1], [0, 0, 0]]


def test_networkx_graphs_that_are_not_bipartite_are_refused():
    networkx = pytest.importorskip("networkx")
    with pytest.raises(InvalidInputError, match="not bipartite"):
        as_graph(networkx.cycle_graph(3))
    inside = networkx.Graph([(0, 1)])
    networkx.set_node_attributes(inside, 0, "bipartite")
    inside.add_node(2, bipartite=1)
    with pytest.raises(InvalidInputError, match="one side"):
        as_graph(inside)
    partly = networkx.Graph([(0, 1)])
    partly.nodes[0]["bipartite"] = 0
    with pytest.raises(InvalidInputError, match="Node 1"):
        as_graph(partly)
    with pytest.raises(InvalidInputError, match="both sides"):
        as_graph(networkx.empty_graph(2))


def test_networkx_weights_are_entries_and_its_edges_are_a_list():
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph()
    graph.add_weighted_edges_from([("a", "x", 0.5), ("a", "y", 2.0)])
    with pytest.raises(InvalidInputError, match=r"= 0.5"):
        as_graph(graph)
    assert as_graph(graph, 1.0).edges.toarray().tolist() == [[0, 1]]
    assert as_graph(graph.edges).edges.toarray().tolist() == [[1, 1]]
    with pytest.raises(OrthoNMFError):
        as_graph(graph.nodes)


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
    assert as_graph({(7, 1), (8, 1), (9, 0)}).edges.sum() == 3


@pytest.mark.parametrize("categories", [False, True])
def test_frames_of_two_or_three_columns_are_edges(categories):
    who, what = zip(*PAIRS, strict=True)
    pairs = frame({"who": who, "what": what})
    if categories:
        pairs = pairs.astype("category")
    assert as_graph(pairs).edges.toarray().tolist() == EDGES
    assert as_graph(pairs.assign(weight=1)).edges.toarray().tolist() == EDGES
    polars = pytest.importorskip("polars")
    assert as_graph(polars.DataFrame({"a": who, "b": what})).edges.toarray().tolist() == EDGES


@pytest.mark.parametrize(
    "form",
    [np.array, lambda X: [list(row) for row in X], lambda X: frame(X).set_axis([*"ab"], axis=1)],
)
def test_two_columns_of_zeros_and_ones_are_a_matrix(form):
    X = form([[0, 1], [1, 1]])
    assert as_graph(X).edges.toarray().tolist() == [[0, 1], [1, 1]]
    assert as_graph(X).row_names is None
    assert Biadjacency.from_edges(X).row_names.tolist() == [0, 1]
    with pytest.raises(InvalidInputError, match=r"X\[1, 0\] = 7.*Biadjacency\.from_edges\(X\)"):
        as_graph(form([[0, 1], [7, 1]]))


def test_weights_are_entries_that_need_a_threshold():
    edges = [("ann", "tea", 2.0), ("ann", "tea", 0.5), ("bob", "tea", 0.5)]
    with pytest.raises(InvalidInputError, match=r"X\[0, 0\] = 2.*binarize"):
        as_graph(edges)
    assert as_graph(edges, binarize=1.0).edges.toarray().tolist() == [[1], [0]]
    assert as_graph(np.array(edges), binarize=0).edges.toarray().tolist() == [[1], [1]]


def test_edges_are_numbered_in_order_of_appearance_and_listed_twice_count_once():
    edges = [("b", 7), ("a", 7), ("b", "b"), ("b", 7)]
    graph = Biadjacency.from_edges(edges, directed=True)
    assert graph.row_names.tolist() == ["b", "a"]
    assert graph.column_names.tolist() == [7, "b"]
    assert graph.edges.toarray().tolist() == [[1, 1], [1, 0]]
    assert as_graph(graph) is graph
    # An array, with the names of lone vertices among those given.
    graph = Biadjacency.from_edges(np.array([[5, 2], [3, 2]]), row_names=[3, 4, 5])
    assert graph.edges.toarray().tolist() == [[1], [0], [1]]
    assert graph.row_names.tolist() == [3, 4, 5]
    assert graph.column_names.tolist() == [2]


def test_a_name_on_both_sides_is_refused_with_the_remedy():
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph([("item1", "ann"), ("ann", "item2"), ("bob", "item1")])
    edges = list(graph.edges)
    told = r"'ann' is on the left of edge \d.*right of edge \d.*bipartite\.sets.*directed=True"
    for door in (as_graph, Biadjacency.from_edges):
        with pytest.raises(InvalidInputError, match=told.replace("ann", "(ann|item1)")):
            door(edges)
    assert Biadjacency.from_edges(edges, directed=True).edges.sum() == 3
    assert as_graph(graph).edges.sum() == 3
    assert Biadjacency.from_edges([(0, 1), (1, 0)]).edges.toarray().tolist() == [[1, 0], [0, 1]]


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
        Biadjacency.from_edges(edges, row_names=names)
