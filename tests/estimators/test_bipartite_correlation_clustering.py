import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_estimator

from orthonmf.correlation_clustering.graph import Biadjacency
from orthonmf.errors import InvalidInputError, InvalidTypeError
from orthonmf.estimators.bipartite_correlation_clustering import BipartiteCorrelationClustering

M = np.kron(np.eye(3, dtype=int), np.ones((4, 3), dtype=int))
M[0, 8] = 1


@pytest.mark.slow
def test_every_check_of_scikit_learn_passes():
    # What is checked is the same for one start as for four.
    results = check_estimator(BipartiteCorrelationClustering(binarize=0.0, n_init=1), on_skip=None)
    assert {result["status"] for result in results} <= {"passed", "skipped"}


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("algorithm", ["best", "paper"])
def test_clusters_are_published_as_labels_and_as_biclusters(form, algorithm):
    model = BipartiteCorrelationClustering(algorithm, random_state=0).fit(form(M))
    assert model.disagreements_ == 1
    assert model.certificate_.optimal
    assert model.certificate_.lower_bound == 1
    promised = 119.43 if algorithm == "paper" else 4.0  # on average over pivots
    assert model.certificate_.a_priori_ratio == pytest.approx(promised, abs=5e-3)
    assert model.rows_.shape == (3, 12)
    assert model.columns_.shape == (3, 9)
    assert np.array_equal(model.rows_.argmax(axis=0), model.row_labels_)
    rows, columns = model.biclusters_
    assert rows.dtype == columns.dtype == bool
    assert model.get_shape(0) == (4, 3)
    assert np.array_equal(model.get_submatrix(1, M), np.ones((4, 3)))


def test_lone_vertices_are_in_labels_but_not_in_biclusters():
    X = np.pad(M, ((0, 1), (0, 2)))
    model = BipartiteCorrelationClustering(random_state=0).fit(X)
    assert model.row_labels_[-1] == 3
    assert model.column_labels_[-2:].tolist() == [4, 5]
    assert not model.rows_[:, -1].any()
    assert not model.columns_[:, -2:].any()
    with pytest.raises(NotFittedError):
        _ = BipartiteCorrelationClustering().rows_


def test_names_of_vertices_are_kept():
    graph = Biadjacency.from_edges([("ann", "tea"), ("bob", "tea"), ("eve", "milk")])
    model = BipartiteCorrelationClustering(random_state=0).fit(graph)
    assert model.n_features_in_ == 2
    assert model.row_names_[model.rows_[0]].tolist() == ["ann", "bob"]
    assert model.column_names_[model.columns_[0]].tolist() == ["tea"]
    assert BipartiteCorrelationClustering().fit(M).row_names_ is None


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ({"algorithm": "fast"}, InvalidInputError),
        ({"n_init": -1}, InvalidInputError),
        ({"n_init": True}, InvalidTypeError),
        ({"n_init": 9, "algorithm": "paper"}, InvalidInputError),
        ({"binarize": "yes"}, InvalidTypeError),
    ],
)
def test_parameters_that_make_no_sense_are_refused_in_fit(parameters, error):
    model = clone(BipartiteCorrelationClustering(**parameters))
    with pytest.raises(error, match=next(iter(parameters))):
        model.fit(M)
