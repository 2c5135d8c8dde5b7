"""Every kind of object comes back from its plain values, and nothing that contradicts itself."""

from dataclasses import asdict, replace

import numpy as np
import pytest

import orthonmf
from orthonmf import load, save
from orthonmf.errors import InvalidInputError, InvalidTypeError
from orthonmf.estimators.bipartite_correlation_clustering import BipartiteCorrelationClustering
from orthonmf.estimators.orthogonal_nmf import OrthogonalNMF
from orthonmf.preparation import prepare
from tests.files.saving.test_save_and_load import (
    SETTINGS,
    assert_same,
    factorized,
    parts_of,
    put_together,
)


@pytest.mark.parametrize("orthogonal", SETTINGS)
def test_an_estimator_comes_back_with_names_and_parameters(tmp_path, orthogonal):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(factorized(orthogonal)[1], columns=[f"gene {i}" for i in range(20)])
    model = OrthogonalNMF(3, orthogonal=orthogonal, random_state=7, tol=1e-5).fit(X)
    save(model, tmp_path / "model.npz")
    again = load(tmp_path / "model.npz")
    assert type(again) is OrthogonalNMF
    assert again.get_params() == model.get_params()
    assert vars(again).keys() == vars(model).keys()
    assert again.feature_names_in_.tolist() == X.columns.tolist()
    assert again.get_feature_names_out().tolist() == model.get_feature_names_out().tolist()
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    assert again.score(X) == model.score(X)
    assert again.certify(X).ratio == model.certificate_.ratio


def test_missing_values_and_array_parameters_are_kept(tmp_path):
    X = factorized()[1]
    model = OrthogonalNMF(3, init=np.eye(3, 20), missing_values=np.nan).fit(X)
    save(model, tmp_path / "model.npz")
    again = load(tmp_path / "model.npz")
    assert np.isnan(again.missing_values)
    np.testing.assert_array_equal(again.init, np.eye(3, 20))
    X[0, 0] = np.nan
    np.testing.assert_array_equal(again.transform(X), model.transform(X))


def test_a_correlation_clustering_comes_back(tmp_path):
    graph = orthonmf.Biadjacency.from_edges([("ann", "tea"), ("bob", "tea"), ("eve", "milk")])
    for X in (graph, np.kron(np.eye(2, dtype=int), np.ones((3, 2), dtype=int))):
        model = BipartiteCorrelationClustering(random_state=0).fit(X)
        save(model, tmp_path / "graph.npz")
        again = load(tmp_path / "graph.npz")
        np.testing.assert_array_equal(again.rows_, model.rows_)
        np.testing.assert_array_equal(again.columns_, model.columns_)
        assert again.disagreements_ == model.disagreements_
        assert asdict(again.certificate_) == asdict(model.certificate_)
        names, wanted = again.row_names_, model.row_names_
        assert wanted is None if names is None else names.tolist() == wanted.tolist()


def test_no_components_come_back_as_well(tmp_path):
    with pytest.warns(orthonmf.FewerComponentsWarning):
        result = orthonmf.factorize(np.zeros((3, 2)), 2)
    save(result, tmp_path / "zero.npz")
    assert_same(result, load(tmp_path / "zero.npz"))


def test_unfitted_models_and_parameters_that_are_code_are_refused(tmp_path):
    X = factorized()[1]
    with pytest.raises(ValueError, match="not fitted"):
        save(OrthogonalNMF(), tmp_path / "x.npz")
    model = OrthogonalNMF(3, random_state=np.random.default_rng(0)).fit(X)
    with pytest.raises(InvalidTypeError, match=r"set_params\(random_state=None\)"):
        save(model, tmp_path / "x.npz")
    assert list(tmp_path.iterdir()) == []


def test_unknown_parameters_of_an_estimator_are_ignored(tmp_path):
    save(OrthogonalNMF(3, random_state=0).fit(factorized()[1]), tmp_path / "model.npz")
    header, arrays = parts_of(tmp_path / "model.npz")
    header["content"]["parameters"]["turbo"] = True
    put_together(tmp_path / "model.npz", header, arrays)
    assert load(tmp_path / "model.npz").n_components == 3


def loaded_with(path, obj, values=(), arrays=()):
    """An object saved, some of its values and arrays exchanged in the file, and loaded again."""
    save(obj, path)
    header, stored = parts_of(path)
    header["content"].update(values)
    stored.update(arrays)
    put_together(path, header, stored)
    return load(path)


def with_core():
    rng = np.random.default_rng(0)
    core = np.array([[4.0, 1.0, 0.5], [0.2, 3.0, 1.0]])
    X = core[np.arange(10) % 2][:, np.arange(9) % 3] * rng.uniform(1, 2, size=(10, 9))
    X[:, 4] = 0.0
    return X, orthonmf.factorize(X, (2, 3), orthogonal="both", random_state=0, certificate=None)


def test_names_weights_and_steps_of_preparation_come_back(tmp_path):
    X, preparation = prepare(factorized()[1], ["totals", "tfidf", "log1p"])
    weights = np.linspace(0, 2, 20)
    result = orthonmf.factorize(X, 3, feature_weight=weights, random_state=0, certificate=None)
    result = replace(
        result,
        sample_names=tuple(f"cell {i}" for i in range(40)),
        feature_names=tuple(f"gene {i}" for i in range(20)),
        preparation=preparation,
    )
    save(result, tmp_path / "x.npz")
    again = load(tmp_path / "x.npz")
    assert again.sample_names == result.sample_names
    assert again.feature_names == result.feature_names
    np.testing.assert_array_equal(again.feature_weight, weights)
    assert again.preparation.names == preparation.names
    for (_, read), (_, learned) in zip(again.preparation.steps, preparation.steps, strict=True):
        np.testing.assert_array_equal(read, learned)


def test_groups_with_a_core_come_back_and_so_does_their_model(tmp_path):
    X, result = with_core()
    again = loaded_with(tmp_path / "x.npz", result)
    assert_same(result, again)
    assert again.n_components == (2, 3)
    np.testing.assert_array_equal(again.core, result.core)
    model = OrthogonalNMF((2, 3), orthogonal="both", random_state=0).fit(X)
    twin = loaded_with(tmp_path / "x.npz", model)
    np.testing.assert_array_equal(twin.core_, model.core_)
    assert twin.get_params() == model.get_params()


def exchange_labels(arrays):
    arrays["feature_labels"] = np.roll(arrays["feature_labels"], 1)


def stretch_a_column(arrays):
    components = arrays["components"]
    column = int(components[0].argmax())
    components[:, column] *= [2.0, 0.5]
    arrays["components"] = components / np.linalg.norm(components, axis=1)[:, None]


def shrink_a_scale(arrays):
    arrays["feature_scales"][arrays["feature_labels"] >= 0] *= 0.5


def use_an_empty_column(arrays):
    arrays["feature_labels"][4], arrays["feature_scales"][4] = 0, 1e-12


@pytest.mark.parametrize(
    "fault", [exchange_labels, stretch_a_column, shrink_a_scale, use_an_empty_column]
)
def test_components_that_are_not_made_of_their_groups_are_refused(fault, tmp_path):
    path = tmp_path / "x.npz"
    save(with_core()[1], path)
    header, arrays = parts_of(path)
    fault(arrays)
    put_together(path, header, arrays)
    with pytest.raises(InvalidInputError, match="contradict each other"):
        load(path)


@pytest.mark.parametrize(
    ("values", "arrays"),
    [
        ({"sample_names": ["a"]}, {}),
        ({"feature_names": [1] * 20}, {}),
        ({"preparation": ["log1p", "totals"]}, {}),  # not in the order of the table
        ({"preparation": ["magic"]}, {}),
        ({"preparation": ["tfidf"]}, {"preparation_tfidf": np.ones(3)}),
        ({"preparation": "log1p"}, {}),
        ({}, {"feature_weight": np.zeros(20)}),
        ({}, {"feature_weight": np.ones(19)}),
        ({}, {"feature_weight": -np.ones(20)}),
        ({"n_components": [1, 2, 3]}, {}),
    ],
    ids=str,
)
def test_what_is_said_about_rows_and_columns_must_fit_them(values, arrays, tmp_path):
    with pytest.raises(InvalidInputError, match=r"some\.npz is damaged"):
        loaded_with(tmp_path / "some.npz", factorized()[0], values, arrays)


def clustered(X=None):
    X = np.kron(np.eye(2, dtype=int), np.ones((3, 2), dtype=int)) if X is None else X
    return BipartiteCorrelationClustering(random_state=0).fit(X)


@pytest.mark.parametrize(
    ("values", "arrays"),
    [
        ({"n_clusters": 11}, {}),
        ({"n_clusters": -1}, {}),
        ({"disagreements": 0.5}, {}),
        ({"row_names": ["a"]}, {}),
        ({}, {"row_labels": np.array([0, 0, 0, 1, 1, 10])}),
        ({}, {"row_labels": np.array([0, 0, 0, 1, 1, -1])}),
        ({}, {"column_labels": np.zeros(4)}),
    ],
    ids=str,
)
def test_clusters_that_cannot_be_are_refused(values, arrays, tmp_path):
    path = tmp_path / "some.npz"
    assert loaded_with(path, clustered()).disagreements_ == 0
    with pytest.raises(InvalidInputError, match=r"some\.npz is damaged"):
        loaded_with(path, clustered(), values, arrays)


def test_names_that_are_neither_texts_nor_numbers_cannot_be_written(tmp_path):
    model = clustered(orthonmf.Biadjacency.from_edges([(("a", 1), "tea"), (("b", 2), "tea")]))
    with pytest.raises(InvalidTypeError, match="row_names_ cannot be written"):
        save(model, tmp_path / "x.npz")
    numbered = clustered(orthonmf.Biadjacency.from_edges([(7, "tea"), (8, "milk")]))
    assert loaded_with(tmp_path / "x.npz", numbered).row_names_.tolist() == [7, 8]


def test_a_factorization_from_before_options_were_kept_is_read(file):
    header, arrays = parts_of(file)
    del header["content"]["fit_options"]
    put_together(file, header, arrays)
    assert load(file).fit_options is None


@pytest.mark.parametrize(
    ("name", "value"),
    [("algorithm", "worst"), ("init", [1]), ("kmeans", 3), ("n_init", 0), ("tol", -1.0)],
)
def test_options_that_no_fit_has_are_refused(file, name, value):
    header, arrays = parts_of(file)
    header["content"]["fit_options"][name] = value
    put_together(file, header, arrays)
    with pytest.raises(InvalidInputError, match=name):
        load(file)
