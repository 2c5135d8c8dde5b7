"""One door: what is refused says what, where and what to do; the rest comes through unchanged."""

import numpy as np
import pytest
from scipy.sparse import coo_array, csc_matrix, csr_array, csr_matrix

import orthonmf
from orthonmf.inputs.data import as_matrix

GOOD = np.random.default_rng(0).random((6, 4))


def with_value(value, row=2, column=3):
    X = GOOD.copy()
    X[row, column] = value
    return X


@pytest.mark.parametrize("store", [np.asarray, csr_array, csc_matrix])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.nan, r"contains NaN.*X\[2, 3\]"),
        (np.inf, r"contains infinity.*X\[2, 3\]"),
        (-np.inf, r"^Negative values in data: the first is X\[2, 3\] = -inf"),
        (-0.4, r"^Negative values in data: the first is X\[2, 3\] = -0\.4.*numpy\.maximum"),
        (-1e-17, r"^Negative values in data: the first is X\[2, 3\] = -1e-17.*clip"),
    ],
)
def test_a_bad_value_is_named_with_its_place(store, value, message):
    with pytest.raises(orthonmf.OrthoNMFError, match=message) as caught:
        as_matrix(store(with_value(value)))
    assert isinstance(caught.value, ValueError)


def test_the_first_of_several_bad_values_is_named():
    X = np.ones((5000, 200))
    X[4000, 7] = X[4500, 0] = -1
    with pytest.raises(ValueError, match=r"X\[4000, 7\]"):
        as_matrix(X)
    with pytest.raises(ValueError, match=r"X\[4000, 7\]"):
        as_matrix(csr_array(X))


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (np.zeros((0, 3)), ValueError, r"0 sample\(s\)"),
        (np.zeros((3, 0)), ValueError, r"0 feature\(s\)"),
        (csr_array((0, 3)), ValueError, r"0 sample\(s\)"),
        (np.ones(4), ValueError, "1 dimension.*reshape"),
        (None, ValueError, "2-D"),
        ("matrix", ValueError, "2-D"),
        ([[1, 2], [3]], ValueError, "cannot be read"),
        (GOOD + 1j, ValueError, "[Cc]omplex"),
        (csr_array(GOOD + 1j), ValueError, "[Cc]omplex"),
        (GOOD.astype(str), TypeError, "text"),
        (np.zeros((2, 2), dtype="M8[s]"), TypeError, "dates"),
        (np.zeros((2, 2), dtype="m8[s]"), TypeError, "dates"),
        (GOOD.astype(np.longdouble), TypeError, "float64"),
        (np.zeros((2, 2), dtype=[("a", float)]), TypeError, "dtype"),
    ],
)
def test_what_is_no_matrix_of_numbers_is_refused(X, error, message):
    with pytest.raises(orthonmf.OrthoNMFError, match=message) as caught:
        as_matrix(X)
    assert isinstance(caught.value, error)


def test_np_matrix_is_refused_with_the_remedy():
    with pytest.raises(TypeError, match=r"numpy\.asarray"):
        as_matrix(GOOD.view(np.matrix))


def test_a_masked_array_is_refused_only_if_something_is_masked():
    masked = np.ma.masked_greater(GOOD, GOOD.max() - 1e-9)
    place = np.unravel_index(GOOD.argmax(), GOOD.shape)
    with pytest.raises(ValueError, match=rf"masked.*X\[{place[0]}, {place[1]}\].*filled"):
        as_matrix(masked)
    np.testing.assert_allclose(as_matrix(np.ma.asarray(GOOD)).total, np.sum(GOOD**2))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"n_components": 0}, ValueError, "n_components must be a positive integer"),
        ({"n_components": np.float64(2)}, TypeError, "n_components must be a positive integer"),
        ({"n_components": True}, TypeError, "n_components must be a positive integer"),
        ({"orthogonal": "rows"}, ValueError, "orthogonal must be one of"),
        ({"algorithm": "magic"}, ValueError, "algorithm must be one of"),
        ({"kmeans": "magic"}, ValueError, "kmeans must be one of"),
        ({"n_init": 0}, ValueError, "n_init"),
        ({"n_init": 1.5}, TypeError, "n_init"),
        ({"max_iter": 0}, ValueError, "max_iter"),
        ({"max_iter": np.nan}, TypeError, "max_iter"),
        ({"tol": -1.0}, ValueError, "tol"),
        ({"tol": "small"}, TypeError, "tol"),
        ({"random_state": "a"}, TypeError, "random_state"),
        ({"random_state": -3}, TypeError, "random_state"),
        ({"n_jobs": 0}, ValueError, "n_jobs"),
        ({"max_memory": 0}, ValueError, "max_memory must be a positive integer"),
        ({"max_memory": True}, TypeError, "max_memory must be"),
        ({"max_memory": "much"}, ValueError, "max_memory must be a number of bytes"),
        ({"missing_values": -1}, ValueError, "missing_values must be None or numpy.nan"),
        ({"n_jobs": 1.5}, TypeError, "n_jobs"),
        ({"checkpoint": 5.5}, TypeError, "checkpoint must be the name of a file, got 5.5"),
        ({"sample_weight": np.ones(5)}, ValueError, "sample_weight must hold 6"),
        ({"sample_weight": np.zeros(6)}, ValueError, "sample_weight is zero everywhere"),
        ({"sample_weight": [1, 1, -1, 1, 1, 1]}, ValueError, r"sample_weight\[2\] = -1"),
        ({"sample_weight": [1, np.nan, 1, 1, 1, 1]}, ValueError, r"sample_weight\[1\] = nan"),
        ({"feature_weight": [1, np.inf, 1, 1]}, ValueError, r"feature_weight\[1\] = inf"),
        (
            {"feature_weight": np.ma.masked_less(range(4), 1)},
            ValueError,
            "feature_weight is masked",
        ),
        ({"feature_weight": [[1], [1, 2]]}, ValueError, "feature_weight cannot be read"),
        ({"feature_weight": ["a"] * 4}, ValueError, "feature_weight"),
    ],
)
def test_bad_parameters_are_named(arguments, error, message):
    with pytest.raises(error, match=message) as caught:
        orthonmf.factorize(GOOD, **{"n_components": 2, **arguments})
    assert isinstance(caught.value, orthonmf.OrthoNMFError)


def test_one_number_is_the_weight_of_all():
    result = orthonmf.factorize(GOOD, 2, sample_weight=4, random_state=0)
    plain = orthonmf.factorize(GOOD, 2, random_state=0)
    assert result.error == pytest.approx(2 * plain.error)


@pytest.mark.parametrize("store", [np.asarray, csr_array, np.ndarray.tolist])
def test_names_may_be_given_with_the_matrix(store):
    rows, columns = [f"r{i}" for i in range(6)], np.array(["a", "b", "c", "d"])
    result = orthonmf.factorize(store(GOOD), 2, sample_names=rows, feature_names=columns)
    assert result.sample_names == tuple(rows)
    assert {name for names in result.top_features(4) for name in names} <= set("abcd")


@pytest.mark.parametrize(
    ("names", "told"), [(["a"], "hold 4 names; got 1"), ("abcd", "got 'abcd'"), (7, "got 7")]
)
def test_names_that_do_not_fit_are_refused_before_the_fit(names, told):
    with pytest.raises(orthonmf.OrthoNMFError, match=f"feature_names must .*{told}"):
        orthonmf.factorize(GOOD, 2, feature_names=names)


def test_a_graph_of_networkx_is_told_what_to_pass():
    networkx = pytest.importorskip("networkx")
    graph = networkx.davis_southern_women_graph()
    for thing in (graph, graph.edges, graph.adj):
        with pytest.raises(TypeError, match=r"biadjacency_matrix.*sample_names=") as caught:
            orthonmf.factorize(thing, 2)
        assert isinstance(caught.value, orthonmf.OrthoNMFError)


def test_duplicates_are_added_and_the_input_is_not_sorted_in_place():
    X = csr_array(
        (np.array([1.0, 2.0, 3.0, 4.0]), np.array([2, 0, 2, 1]), np.array([0, 3, 4])), shape=(2, 3)
    )
    before = X.indices.copy(), X.data.copy()
    assert as_matrix(X).total == pytest.approx(4.0 + 16.0 + 16.0)
    np.testing.assert_array_equal(X.indices, before[0])
    np.testing.assert_array_equal(X.data, before[1])


def test_explicit_zeros_and_negative_zeros_are_ordinary():
    X = csr_array((np.array([0.0, -0.0, 1.0]), np.array([0, 1, 2]), np.array([0, 3])), shape=(1, 3))
    result = orthonmf.factorize(X, 1, algorithm="paper")
    assert not np.signbit(result.components).any()


def test_the_global_random_state_is_untouched():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    orthonmf.factorize(GOOD, 2, algorithm="paper", random_state=None)
    orthonmf.datasets.make_planted(5, 4, 2, 0.1)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


@pytest.mark.parametrize("store", [np.array, csr_array, csr_matrix, csc_matrix, coo_array])
def test_the_input_is_never_modified(store):
    X = store(GOOD)
    parts = [X] if isinstance(X, np.ndarray) else [X.data]
    kept = [part.copy() for part in parts]
    for part in parts:
        part.flags.writeable = False
    for orthogonal in ("samples", "features"):
        orthonmf.factorize(X, 2, orthogonal=orthogonal, algorithm="paper", random_state=0)
    for part, copy in zip(parts, kept, strict=True):
        np.testing.assert_array_equal(part, copy)
