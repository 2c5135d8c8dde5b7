import numpy as np
import pytest
from scipy.sparse import coo_array, coo_matrix, csc_array, csr_array, lil_array

from orthonmf.correlation_clustering.graph import Biadjacency, as_biadjacency
from orthonmf.errors import InvalidInputError, InvalidTypeError, OrthoNMFError

M = np.array([[1, 0, 1], [0, 1, 0]])


@pytest.mark.parametrize(
    "form", [np.asarray, np.ndarray.tolist, csr_array, csc_array, coo_array, coo_matrix, lil_array]
)
def test_every_form_of_a_matrix_gives_the_same_edges(form):
    graph = as_biadjacency(form(M))
    assert isinstance(graph.edges, csr_array)
    assert graph.edges.dtype == np.uint8
    assert graph.edges.has_sorted_indices
    assert np.array_equal(graph.edges.toarray(), M)
    assert graph.row_names is None


@pytest.mark.parametrize("dtype", [bool, np.int8, np.float32, np.float64])
def test_every_dtype_of_zeros_and_ones_is_accepted(dtype):
    assert np.array_equal(as_biadjacency(M.astype(dtype)).edges.toarray(), M)


@pytest.mark.parametrize("form", [np.asarray, csr_array, csc_array])
@pytest.mark.parametrize(
    ("value", "word"), [(0.5, "0.5"), (np.nan, "nan"), (np.inf, "inf"), (-1, "-1")]
)
def test_the_first_entry_that_is_not_binary_is_named(form, value, word):
    X = np.array([[1.0, 0, 1], [0, 1, 0], [1, 0, 0]])
    X[1, 2] = X[2, 0] = value
    with pytest.raises(InvalidInputError, match=rf"2 of them, the first is X\[1, 2\] = {word}"):
        as_biadjacency(form(X))


def test_a_threshold_makes_larger_entries_edges():
    X = np.array([[0.2, 3.0, 0.5], [0.0, -1.0, 0.6]])
    expected = [[0, 1, 0], [0, 0, 1]]
    assert as_biadjacency(X, 0.5).edges.toarray().tolist() == expected
    assert as_biadjacency(csr_array(X), 0.5).edges.toarray().tolist() == expected
    assert as_biadjacency(X, -0.5).edges.toarray().tolist() == [[1, 1, 1], [1, 0, 1]]
    with pytest.raises(InvalidInputError, match="below 0"):
        as_biadjacency(csr_array(X), -0.5)


@pytest.mark.parametrize("binarize", ["0.5", True, [1]])
def test_a_threshold_must_be_a_number(binarize):
    with pytest.raises(InvalidTypeError, match="binarize"):
        as_biadjacency(M, binarize)
    with pytest.raises(InvalidInputError, match="binarize"):
        as_biadjacency(M, np.nan)


def test_entries_stored_twice_are_added_up_and_the_input_is_left_alone():
    twice = csr_array((np.ones(3), np.array([2, 0, 0]), np.array([0, 1, 3])), shape=(2, 3))
    with pytest.raises(InvalidInputError, match=r"X\[1, 0\] = 2"):
        as_biadjacency(twice)
    assert as_biadjacency(twice, 0).edges.toarray().tolist() == [[0, 0, 1], [1, 0, 0]]
    assert twice.nnz == 3
    unsorted = csr_array((np.ones(2), np.array([2, 0]), np.array([0, 2, 2])), shape=(2, 3))
    assert as_biadjacency(unsorted).edges.indices.tolist() == [0, 2]
    assert unsorted.indices.tolist() == [2, 0]


def test_stored_zeros_are_no_edges():
    stored = csr_array((np.array([0.0, 1.0]), np.array([0, 1]), np.array([0, 2])), shape=(1, 2))
    assert as_biadjacency(stored).edges.nnz == 1


def test_damaged_sparse_matrices_are_refused_before_use():
    csr = csr_array(M.astype(float))
    csr.indices[0] = 99
    coo = coo_array(M.astype(float))
    coo.row[0] = -4
    for damaged in (csr, coo):
        with pytest.raises(InvalidInputError, match="corrupt"):
            as_biadjacency(damaged)


@pytest.mark.parametrize(
    "graph", [np.ones(3), np.ones((2, 0)), np.array([["a", "b"]]), [[1], [1, 2]]]
)
def test_what_is_no_matrix_is_refused(graph):
    with pytest.raises(OrthoNMFError):
        as_biadjacency(graph)


def test_labels_in_a_matrix_point_to_the_constructor_for_edges():
    with pytest.raises(InvalidInputError, match="biadjacency_from_edges"):
        as_biadjacency([("ann", "tea"), ("bob", "milk")])


def test_networkx_sides_come_from_the_attribute():
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph()
    graph.add_nodes_from(["x", "y"], bipartite=1)
    graph.add_nodes_from([1, 2, 3], bipartite=0)
    graph.add_edges_from([("x", 2), (1, "y"), (2, "y")])
    found = as_biadjacency(graph)
    assert found.row_names.tolist() == [1, 2, 3]
    assert found.column_names.tolist() == ["x", "y"]
    assert found.edges.toarray().tolist() == [[0, 1], [1, 1], [0, 0]]


def test_networkx_components_are_colored_one_by_one():
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph([("a", "x"), ("a", "y"), ("b", "z")])
    graph.add_node("alone")
    found = as_biadjacency(graph)
    assert found.row_names.tolist() == ["a", "b", "alone"]
    assert found.column_names.tolist() == ["x", "y", "z"]
    assert found.edges.toarray().tolist() == [[1, 1, 0], [0, 0, 1], [0, 0, 0]]


def test_networkx_graphs_that_are_not_bipartite_are_refused():
    networkx = pytest.importorskip("networkx")
    with pytest.raises(InvalidInputError, match="not bipartite"):
        as_biadjacency(networkx.cycle_graph(3))
    inside = networkx.Graph([(0, 1)])
    networkx.set_node_attributes(inside, 0, "bipartite")
    inside.add_node(2, bipartite=1)
    with pytest.raises(InvalidInputError, match="one side"):
        as_biadjacency(inside)
    partly = networkx.Graph([(0, 1)])
    partly.nodes[0]["bipartite"] = 0
    with pytest.raises(InvalidInputError, match="Node 1"):
        as_biadjacency(partly)
    with pytest.raises(InvalidInputError, match="both sides"):
        as_biadjacency(networkx.empty_graph(2))


def test_networkx_weights_are_entries():
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph()
    graph.add_weighted_edges_from([("a", "x", 0.5), ("a", "y", 2.0)])
    with pytest.raises(InvalidInputError, match=r"= 0.5"):
        as_biadjacency(graph)
    assert as_biadjacency(graph, 1.0).edges.toarray().tolist() == [[0, 1]]


def test_a_record_of_a_graph_is_frozen():
    graph = as_biadjacency(M)
    assert isinstance(graph, Biadjacency)
    with pytest.raises(AttributeError):
        graph.edges = None
