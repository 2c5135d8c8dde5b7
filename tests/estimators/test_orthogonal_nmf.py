"""OrthogonalNMF is a scikit-learn transformer in every respect."""

import inspect
import pickle
import signal
import warnings

import joblib
import numpy as np
import pytest
from scipy.sparse import csc_matrix, csr_array, csr_matrix, issparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

import orthonmf
from orthonmf.datasets import make_planted
from orthonmf.errors import InvalidInputError, InvalidTypeError
from orthonmf.estimators.orthogonal_nmf import OrthogonalNMF
from orthonmf.progress import listening
from tests.arrays import to_array

SETTINGS = ["samples", "features", "both"]


def planted(orthogonal="samples", dtype=np.float64, n=80, m=30, k=4):
    return make_planted(n, m, k, 0.2, orthogonal=orthogonal, random_state=0).X.astype(dtype)


@pytest.mark.parametrize("orthogonal", SETTINGS)
@pytest.mark.parametrize(
    ("form", "dtype"),
    [(np.asfortranarray, np.float32), (csr_array, np.float64), (csr_matrix, np.float32)],
)
def test_transform_repeats_fit_transform_bit_for_bit(orthogonal, dtype, form):
    X = form(np.where(planted(orthogonal) > 0.3, planted(orthogonal), 0).astype(dtype))
    model = OrthogonalNMF(4, orthogonal=orthogonal, random_state=0)
    first = model.fit_transform(X)
    second = model.transform(X)
    third = OrthogonalNMF(4, orthogonal=orthogonal, random_state=0).fit(X).transform(X)
    for other in (second, third):
        assert type(other) is type(first)
        np.testing.assert_array_equal(to_array(first), to_array(other))
    assert first.dtype == model.components_.dtype == dtype
    if orthogonal != "features":
        np.testing.assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("orthogonal", SETTINGS)
def test_the_container_of_the_output_follows_the_input(orthogonal):
    X = planted(orthogonal)
    model = OrthogonalNMF(4, orthogonal=orthogonal, random_state=0).fit(X)
    assert isinstance(model.transform(X), np.ndarray)
    sparse_out = orthogonal != "features"
    assert isinstance(model.transform(csr_array(X)), csr_array if sparse_out else np.ndarray)
    assert isinstance(model.transform(csc_matrix(X)), csr_matrix if sparse_out else np.ndarray)


@pytest.mark.parametrize("orthogonal", SETTINGS)
@pytest.mark.parametrize("weighted", [False, True])
def test_what_is_published_is_what_factorize_finds(orthogonal, weighted):
    X, rng = planted(orthogonal), np.random.default_rng(0)
    rows, columns = rng.exponential(size=80), rng.exponential(size=30)
    weights = {"sample_weight": rows, "feature_weight": columns} if weighted else {}
    model = OrthogonalNMF(4, orthogonal=orthogonal, random_state=0).fit(X, **weights)
    result = orthonmf.factorize(X, 4, orthogonal=orthogonal, random_state=0, **weights)
    np.testing.assert_array_equal(model.components_, result.components)
    np.testing.assert_array_equal(model.labels_, result.labels)
    np.testing.assert_array_equal(model.feature_labels_, result.feature_labels)
    assert model.reconstruction_err_ == result.error
    assert model.relative_squared_error_ == result.relative_squared_error
    assert model.certificate_.ratio == result.certificate.ratio
    assert model.n_components_ == result.n_components_found
    assert model.n_iter_ == result.n_sweeps
    np.testing.assert_array_equal(to_array(model.transform(X)), to_array(result.transform(X)))


def test_predict_is_there_where_samples_belong_to_components():
    X = planted()
    assert not hasattr(OrthogonalNMF(orthogonal="features"), "predict")
    for setting in ("samples", "both"):
        assert hasattr(OrthogonalNMF(orthogonal=setting), "predict")
    X[3] = 0
    assert OrthogonalNMF(4, random_state=0).fit(X).predict(X)[3] == -1
    model = OrthogonalNMF(4, orthogonal="features", random_state=0).fit(X)
    with pytest.raises(InvalidInputError, match="fit again"):
        model.set_params(orthogonal="samples").predict(X)


def test_inverse_transform_is_the_product_and_checks_its_input():
    X = planted()
    model = OrthogonalNMF(4, random_state=0).fit(X)
    loadings = model.transform(csr_array(X))
    np.testing.assert_array_equal(
        model.inverse_transform(loadings), model.inverse_transform(loadings.toarray())
    )
    with pytest.raises(InvalidInputError, match=r"X has 3 columns.*4 components"):
        model.inverse_transform(np.ones((2, 3)))
    with pytest.raises(NotFittedError):
        OrthogonalNMF().inverse_transform(X)


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ({"n_components": 0}, InvalidInputError),
        ({"kmeans": "slow", "algorithm": "paper"}, InvalidInputError),
        ({"tol": -1.0}, InvalidInputError),
        ({"missing_values": 0}, InvalidInputError),
        ({"random_state": "a"}, InvalidTypeError),
    ],
)
def test_parameters_that_make_no_sense_are_refused_in_fit(parameters, error):
    model = clone(OrthogonalNMF(**parameters))
    get_tags(model)
    with pytest.raises(error, match=next(iter(parameters))):
        model.fit(planted())
    assert not hasattr(model, "components_")


def test_a_fit_that_fails_or_is_interrupted_leaves_the_old_one_intact():
    X = planted()
    model = OrthogonalNMF(4, missing_values=np.nan, random_state=0).fit(X)
    before, loadings = dict(vars(model)), model.transform(X)
    with pytest.raises(InvalidInputError):
        model.fit(-X[:, :5])
    assert vars(model) == before

    gappy = X[:, :5].copy()
    gappy[0, 0] = np.nan
    sweeps = []

    def interrupt(step, error):
        sweeps.append(step)
        if len(sweeps) == 2:
            signal.raise_signal(signal.SIGINT)

    with listening(interrupt), pytest.raises(KeyboardInterrupt):
        model.fit(gappy)
    assert len(sweeps) == 2
    assert vars(model) == before
    np.testing.assert_array_equal(model.transform(X), loadings)


def test_clones_pickles_and_joblib_files_are_equal_in_every_bit(tmp_path):
    X = planted()
    model = OrthogonalNMF(4, random_state=0).fit(X)
    assert model.certificate_.ratio > 1
    joblib.dump(model, tmp_path / "model.joblib")
    for twin in (
        pickle.loads(pickle.dumps(model)),
        joblib.load(tmp_path / "model.joblib"),
        clone(model).fit(X),
    ):
        np.testing.assert_array_equal(twin.transform(X), model.transform(X))
        assert twin.certificate_.ratio == model.certificate_.ratio
    assert not hasattr(clone(model), "components_")


@pytest.mark.slow
def test_it_works_in_a_pipeline_and_a_grid_search():
    X, y = load_digits(n_class=4, return_X_y=True)
    pipeline = make_pipeline(
        OrthogonalNMF(orthogonal="features", random_state=0, certificate=None),
        LogisticRegression(max_iter=2000),
    )
    search = GridSearchCV(pipeline, {"orthogonalnmf__n_components": [2, 12]}, cv=3)
    search.fit(X[:150], y[:150])
    assert search.best_params_ == {"orthogonalnmf__n_components": 12}
    assert search.score(X[150:], y[150:]) > 0.9
    own = GridSearchCV(
        OrthogonalNMF(random_state=0, certificate=None), {"n_components": [1, 4]}, cv=2
    )
    assert own.fit(X[:100]).best_params_ == {"n_components": 4}


@pytest.mark.parametrize("kind", ["pandas", "polars"])
@pytest.mark.parametrize("where", ["model", "config"])
def test_frames_are_given_after_a_sparse_step(kind, where):
    pytest.importorskip(kind)
    texts = ["red apple", "green apple", "red green apple", "fast car", "slow car", "fast slow car"]
    X = TfidfVectorizer().fit_transform(texts)
    model = OrthogonalNMF(2, random_state=0)
    expected = model.fit_transform(X)
    assert issparse(expected)
    if where == "model":
        model = clone(model.set_output(transform=kind))
    with config_context(transform_output=kind if where == "config" else "default"):
        frames = model.fit_transform(X), model.transform(X)
    for frame in frames:
        assert type(frame).__module__.startswith(kind)
        assert list(frame.columns) == ["orthogonalnmf0", "orthogonalnmf1"]
        np.testing.assert_array_equal(frame.to_numpy(), expected.toarray())


def test_the_whole_result_and_its_names_are_at_hand():
    vectorizer = TfidfVectorizer()
    X = vectorizer.fit_transform(["red apple", "red green apple", "fast car", "fast slow car"])
    model = OrthogonalNMF(2, random_state=0).fit(X)
    assert isinstance(model.result_, orthonmf.Factorization)
    assert model.components_ is model.result_.components
    names = vectorizer.get_feature_names_out()
    tops = model.top_features(1, feature_names=names)
    assert tops == [[names[place]] for (place,) in model.top_features(1)]
    with pytest.raises(InvalidInputError, match="feature_names must hold 6 names; got 2"):
        model.top_features(1, feature_names=["a", "b"])
    with pytest.raises(NotFittedError):
        OrthogonalNMF().top_features()


@pytest.mark.parametrize("n_components", [3, (3, 4)])
def test_biclusters_are_those_of_scikit_learn(n_components):
    X = planted("both") + 0.01
    model = OrthogonalNMF(n_components, orthogonal="both", random_state=0).fit(X)
    np.testing.assert_array_equal(model.row_labels_, model.labels_)
    np.testing.assert_array_equal(model.column_labels_, model.feature_labels_)
    rows, columns = model.biclusters_
    blocks = [(a, a) for a in range(3)]
    if isinstance(n_components, tuple):
        blocks = [(a, b) for a in range(3) for b in range(4)]
    assert len(rows) == len(columns) == len(blocks)
    for place, (a, b) in enumerate(blocks):
        np.testing.assert_array_equal(rows[place], model.labels_ == a)
        np.testing.assert_array_equal(columns[place], model.feature_labels_ == b)
    submatrix = X[model.labels_ == blocks[1][0]][:, model.feature_labels_ == blocks[1][1]]
    np.testing.assert_array_equal(model.get_submatrix(1, X), submatrix)
    assert not hasattr(OrthogonalNMF(2, random_state=0).fit(X), "biclusters_")


@pytest.mark.parametrize(("orthogonal", "form"), [("samples", csr_array), ("features", np.asarray)])
def test_missing_values_are_left_out_in_every_method(orthogonal, form):
    rng = np.random.default_rng(0)
    X = planted(orthogonal)
    gappy = form(np.where(rng.random(X.shape) < 0.2, np.nan, X))
    model = OrthogonalNMF(4, orthogonal=orthogonal, missing_values=np.nan, random_state=0)
    loadings = model.fit_transform(gappy)
    np.testing.assert_array_equal(to_array(loadings), to_array(model.transform(gappy)))
    assert model.score(gappy) == pytest.approx(1 - model.relative_squared_error_, abs=1e-12)
    assert model.score(X) > 0.5
    assert model.certificate_.ratio is None
    assert get_tags(model).input_tags.allow_nan
    if orthogonal == "samples":
        np.testing.assert_array_equal(model.predict(gappy), model.labels_)
    with pytest.raises(InvalidInputError, match="contains NaN"):
        clone(model).set_params(missing_values=None).fit(gappy)


def test_the_keywords_are_those_of_factorize():
    ours = dict(inspect.signature(OrthogonalNMF).parameters)
    theirs = inspect.signature(orthonmf.factorize).parameters
    of_the_data = {"X", "sample_weight", "feature_weight", "sample_names", "feature_names"}
    assert list(ours) == [name for name in theirs if name not in of_the_data]
    for name, parameter in ours.items():
        assert parameter.default == theirs[name].default, name


def test_fewer_components_are_published_as_found():
    X = np.kron(np.eye(2), np.ones((3, 2)))
    model = OrthogonalNMF(4, random_state=0)
    with pytest.warns(orthonmf.FewerComponentsWarning):
        loadings = model.fit_transform(X)
    assert model.n_components_ == loadings.shape[1] == 2
    assert model.get_feature_names_out().tolist() == ["orthogonalnmf0", "orthogonalnmf1"]


@pytest.mark.parametrize(("orthogonal", "gap"), [("samples", True), ("both", False)])
def test_callbacks_see_the_fit_and_its_steps(orthogonal, gap):
    callback = pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9")

    class Recorder:
        def __init__(self):
            self.seen = []

        def setup(self, estimator, context):
            self.seen.append("setup")

        def on_fit_task_begin(self, estimator, context):
            pass

        def on_fit_task_end(self, estimator, context, *, X=None, fitted_estimator=None):
            self.seen.append(context.task_name)
            if context.task_name == "fit":
                assert fitted_estimator.transform(X).shape == (80, 3)

        def teardown(self, estimator, context):
            self.seen.append("teardown")

    recorder = Recorder()
    assert isinstance(recorder, callback.FitCallback)
    X = planted(orthogonal)
    X[0, 0] = np.nan if gap else X[0, 0]
    model = OrthogonalNMF(3, orthogonal=orthogonal, missing_values=np.nan, random_state=0)
    model.set_callbacks(recorder).fit(X)
    assert recorder.seen[0] == "setup"
    assert recorder.seen[-2:] == ["fit", "teardown"]
    assert recorder.seen.count("sweep") >= 1
    recorder.seen.clear()
    with pytest.raises(InvalidInputError):
        model.fit(-X)
    assert recorder.seen == ["setup", "teardown"]


def test_fits_are_silent_unless_asked_to_speak(capfd):
    X = planted()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        OrthogonalNMF(4, random_state=0).fit(X)
    out, err = capfd.readouterr()
    assert out == err == ""
    X[0, 0] = np.nan
    OrthogonalNMF(4, missing_values=np.nan, random_state=0, verbose=2).fit(X)
    out, err = capfd.readouterr()
    assert out == ""
    assert "sweep 1" in err
