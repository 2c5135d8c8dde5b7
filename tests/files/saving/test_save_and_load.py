"""Results, models and refits come back from their files equal in every bit."""

import json
from dataclasses import asdict, fields, replace

import numpy as np
import pytest

import orthonmf
from orthonmf import load, save
from orthonmf.datasets import make_planted
from orthonmf.errors import InvalidTypeError
from orthonmf.estimators.bipartite_correlation_clustering import BipartiteCorrelationClustering
from orthonmf.estimators.orthogonal_nmf import OrthogonalNMF
from orthonmf.normalization import prepare
from tests.arrays import to_array

SETTINGS = ["samples", "features", "both"]


def factorized(orthogonal="samples", dtype=np.float64):
    X = make_planted(40, 20, 3, 0.2, orthogonal=orthogonal, random_state=0).X.astype(dtype)
    X[4] = 0
    return orthonmf.factorize(X, 3, orthogonal=orthogonal, random_state=0), X


def with_core():
    rng = np.random.default_rng(0)
    core = np.array([[4.0, 1.0, 0.5], [0.2, 3.0, 1.0]])
    X = core[np.arange(10) % 2][:, np.arange(9) % 3] * rng.uniform(1, 2, size=(10, 9))
    X[:, 4] = 0.0
    return X, orthonmf.factorize(X, (2, 3), orthogonal="both", random_state=0, certificate=None)


def clustered(X=None):
    X = np.kron(np.eye(2, dtype=int), np.ones((3, 2), dtype=int)) if X is None else X
    return BipartiteCorrelationClustering(random_state=0).fit(X)


def stability_of(orthogonal="both", resample="coordinates"):
    result, X = factorized(orthogonal)
    return result.refit(X, 3, resample, random_state=0)


def saved_and_loaded(obj, folder):
    save(obj, folder / "x.npz")
    return load(folder / "x.npz")


def assert_same(first, second):
    for field in fields(first):
        a, b = getattr(first, field.name), getattr(second, field.name)
        if field.name == "evidence":
            assert a.without_data() == b.without_data()
        elif field.name == "loadings":
            assert type(a) is type(b)
            np.testing.assert_array_equal(to_array(a), to_array(b))
        elif isinstance(a, np.ndarray):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)
        else:
            assert a == b


@pytest.mark.parametrize("orthogonal", SETTINGS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_factorization_comes_back_equal_in_every_bit(tmp_path, orthogonal, dtype):
    result, X = factorized(orthogonal, dtype)
    again = saved_and_loaded(result, tmp_path)
    assert_same(result, again)
    np.testing.assert_array_equal(to_array(result.transform(X)), to_array(again.transform(X)))


def test_a_certificate_and_a_promise_are_written_as_they_are_and_none_is_computed(tmp_path):
    X = factorized()[1]
    for init in ("lines", "auto"):
        result = orthonmf.factorize(X, 3, init=init, random_state=0)
        model = OrthogonalNMF(3, init=init, random_state=0).fit(X)
        for looked in (False, True):
            if looked:
                wanted = result.certificate, model.certificate_
            again, twin = saved_and_loaded(result, tmp_path), saved_and_loaded(model, tmp_path)
            assert again.promise == result.promise
            assert twin.promise_ == model.promise_
            if looked:
                assert (again.certificate, twin.certificate_) == wanted
            else:
                assert result.evidence.settled is None
                assert "certify(X" in again.certificate.reason
                assert "certify(X" in twin.certificate_.reason
                assert again.certify(X).ratio == twin.certify(X).ratio > 1


def test_files_are_plain_npz_and_the_same_content_gives_the_same_bytes(tmp_path):
    result, _ = factorized()
    for name in ("a.npz", "b"):
        save(result, tmp_path / name)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b").read_bytes()
    with np.load(tmp_path / "a.npz", allow_pickle=False) as arrays:
        np.testing.assert_array_equal(arrays["components"], result.components)
        header = json.loads(arrays["header"].tobytes())
    assert header["format_version"] == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.npz", "b"]


@pytest.mark.parametrize("resample", ["coordinates", None])
@pytest.mark.parametrize("orthogonal", SETTINGS)
def test_a_stability_comes_back_equal_in_every_bit(tmp_path, orthogonal, resample):
    stability = stability_of(orthogonal, resample)
    again = saved_and_loaded(stability, tmp_path)
    assert type(again) is orthonmf.Stability
    assert repr(again) == repr(stability)
    for side in ("samples", "features"):
        members, read = getattr(stability, side), getattr(again, side)
        assert (members is None) == (read is None)
        for field in fields(members) if members is not None else ():
            np.testing.assert_array_equal(getattr(members, field.name), getattr(read, field.name))
    assert (again.n_refits, again.resample, again.random_state) == (3, resample, 0)


@pytest.mark.parametrize("orthogonal", SETTINGS)
def test_an_estimator_comes_back_with_names_and_parameters(tmp_path, orthogonal):
    import pandas

    X = pandas.DataFrame(factorized(orthogonal)[1], columns=[f"gene {i}" for i in range(20)])
    model = OrthogonalNMF(3, orthogonal=orthogonal, random_state=7, tol=1e-5).fit(X)
    again = saved_and_loaded(model, tmp_path)
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
    again = saved_and_loaded(model, tmp_path)
    assert np.isnan(again.missing_values)
    np.testing.assert_array_equal(again.init, np.eye(3, 20))
    X[0, 0] = np.nan
    np.testing.assert_array_equal(again.transform(X), model.transform(X))


def test_a_correlation_clustering_comes_back(tmp_path):
    graph = orthonmf.Biadjacency.from_edges([("ann", "tea"), ("bob", "tea"), ("eve", "milk")])
    for X in (graph, np.kron(np.eye(2, dtype=int), np.ones((3, 2), dtype=int))):
        model = clustered(X)
        again = saved_and_loaded(model, tmp_path)
        np.testing.assert_array_equal(again.rows_, model.rows_)
        np.testing.assert_array_equal(again.columns_, model.columns_)
        assert again.disagreements_ == model.disagreements_
        assert asdict(again.certificate_) == asdict(model.certificate_)
        names, wanted = again.row_names_, model.row_names_
        assert wanted is None if names is None else names.tolist() == wanted.tolist()


def test_no_components_come_back_as_well(tmp_path):
    with pytest.warns(orthonmf.FewerComponentsWarning):
        result = orthonmf.factorize(np.zeros((3, 2)), 2)
    assert_same(result, saved_and_loaded(result, tmp_path))


def test_unfitted_models_parameters_that_are_code_and_other_objects_are_refused(tmp_path):
    X = factorized()[1]
    with pytest.raises(ValueError, match="not fitted"):
        save(OrthogonalNMF(), tmp_path / "x.npz")
    model = OrthogonalNMF(3, random_state=np.random.default_rng(0)).fit(X)
    with pytest.raises(InvalidTypeError, match=r"set_params\(random_state=None\)"):
        save(model, tmp_path / "x.npz")
    for other in (3, OrthogonalNMF):
        with pytest.raises(InvalidTypeError, match="cannot save"):
            save(other, tmp_path / "x.npz")
    assert list(tmp_path.iterdir()) == []


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
    again = saved_and_loaded(result, tmp_path)
    assert again.sample_names == result.sample_names
    assert again.feature_names == result.feature_names
    np.testing.assert_array_equal(again.feature_weight, weights)
    assert again.preparation.names == preparation.names
    for (_, read), (_, learned) in zip(again.preparation.steps, preparation.steps, strict=True):
        np.testing.assert_array_equal(read, learned)


def test_groups_with_a_core_come_back_and_so_does_their_model(tmp_path):
    X, result = with_core()
    again = saved_and_loaded(result, tmp_path)
    assert_same(result, again)
    assert again.n_components == (2, 3)
    np.testing.assert_array_equal(again.core, result.core)
    model = OrthogonalNMF((2, 3), orthogonal="both", random_state=0).fit(X)
    twin = saved_and_loaded(model, tmp_path)
    np.testing.assert_array_equal(twin.core_, model.core_)
    assert twin.get_params() == model.get_params()


def test_names_that_are_neither_texts_nor_numbers_cannot_be_written(tmp_path):
    model = clustered(orthonmf.Biadjacency.from_edges([(("a", 1), "tea"), (("b", 2), "tea")]))
    with pytest.raises(InvalidTypeError, match="row_names_ cannot be written"):
        save(model, tmp_path / "x.npz")
    numbered = clustered(orthonmf.Biadjacency.from_edges([(7, "tea"), (8, "milk")]))
    assert saved_and_loaded(numbered, tmp_path).row_names_.tolist() == [7, 8]
