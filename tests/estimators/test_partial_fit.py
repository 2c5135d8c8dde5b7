"""partial_fit: one pass over batches, a bounded number of rows, close to the full fit."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone

import orthonmf
from orthonmf.datasets import make_planted
from orthonmf.errors import InvalidInputError, InvalidTypeError
from orthonmf.estimators.orthogonal_nmf import OrthogonalNMF


def planted(n=600, m=20, k=4, noise=0.3):
    return make_planted(n, m, k, noise, random_state=0).X


def batches(X, number):
    return [X[part] for part in np.array_split(np.arange(X.shape[0]), number)]


def fed(model, parts):
    for part in parts:
        model.partial_fit(part)
    return model


def small(**options):
    return OrthogonalNMF(4, coreset_size=100, random_state=0, **options)


@pytest.mark.parametrize("form", [np.asarray, csr_array, csr_matrix])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_as_long_as_all_rows_are_kept_it_is_a_fit(form, dtype):
    X = planted().astype(dtype)
    model = fed(OrthogonalNMF(4, coreset_size=600, random_state=3), batches(form(X), 7))
    whole = OrthogonalNMF(4, random_state=3).fit(form(X))
    np.testing.assert_array_equal(model.components_, whole.components_)
    assert model.components_.dtype == dtype
    assert model.reconstruction_err_ == whole.reconstruction_err_
    assert model.relative_squared_error_ == whole.relative_squared_error_
    assert model.n_iter_ == whole.n_iter_
    np.testing.assert_array_equal(model.labels_, whole.labels_[-len(model.labels_) :])


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_few_rows_are_kept_and_the_error_stays_close(form):
    X = planted()
    model = small()
    for number, part in enumerate(batches(form(X), 10), start=1):
        assert model.partial_fit(part) is model
        kept = model._coreset
        assert kept.rows.shape[0] == len(kept.weights) <= 100
        assert type(kept.rows) is type(part)
        assert model.n_samples_seen_ == 60 * number
        assert model.n_components_ == 4
        np.testing.assert_array_equal(model.labels_, model.predict(part))
    assert kept.n_reductions > 5
    whole = OrthogonalNMF(4, random_state=0).fit(X)
    assert 1 - model.score(X) < 1.05 * whole.relative_squared_error_
    assert model.relative_squared_error_ == pytest.approx(whole.relative_squared_error_, rel=0.25)
    assert model.reconstruction_err_ == pytest.approx(whole.reconstruction_err_, rel=0.25)
    assert model.feature_labels_ is None


def test_the_same_seed_and_batches_give_the_same_bits():
    parts = batches(planted(), 10)
    one, two, other = fed(small(), parts), fed(small(n_jobs=1), parts), small()
    np.testing.assert_array_equal(one.components_, two.components_)
    np.testing.assert_array_equal(one._coreset.rows, two._coreset.rows)
    fed(other.set_params(random_state=1), parts)
    assert not np.array_equal(one._coreset.weights, other._coreset.weights)


def test_nothing_is_claimed():
    for algorithm in ("best", "paper"):
        certificate = fed(small(algorithm=algorithm), batches(planted(), 10)).certificate_
        assert (certificate.ratio, certificate.lower_bound) == (None, None)
        assert certificate.a_priori_ratio is None
        assert "coreset" in str(certificate)


def test_a_batch_that_is_refused_changes_nothing():
    parts = batches(planted(), 10)
    model = fed(small(), parts[:5])
    before = dict(vars(model))
    bad = parts[5].copy()
    bad[2, 3] = -1
    with pytest.raises(InvalidInputError, match=r"X\[2, 3\] = -1"):
        model.partial_fit(bad)
    bad[2, 3] = np.nan
    with pytest.raises(InvalidInputError, match=r"NaN, the first at X\[2, 3\]"):
        model.partial_fit(bad)
    with pytest.raises(ValueError, match=r"X has 19 features.*expecting 20 features"):
        model.partial_fit(parts[5][:, 1:])
    with pytest.raises(InvalidInputError, match="sample_weight must hold 60"):
        model.partial_fit(parts[5], sample_weight=np.ones(3))
    assert vars(model) == before
    fed(model, parts[5:])
    np.testing.assert_array_equal(model.components_, fed(small(), parts).components_)


def test_weights_count_rows():
    X = planted(80)
    counts = np.random.default_rng(0).integers(0, 4, size=80)
    model = OrthogonalNMF(4, n_init=4, random_state=0)
    for part, weights in zip(batches(X, 2), batches(counts, 2), strict=True):
        model.partial_fit(part, sample_weight=weights)
    repeated = clone(model).fit(np.repeat(X, counts, axis=0))
    np.testing.assert_allclose(model.components_, repeated.components_, rtol=1e-6, atol=1e-9)
    assert model.reconstruction_err_ == pytest.approx(repeated.reconstruction_err_, rel=1e-9)
    assert len(model._coreset.weights) == np.count_nonzero(counts)
    assert model._coreset.weights.sum() == counts.sum()
    # A scale common to all weights changes the error alone.
    scaled = small()
    for part in batches(planted(), 10):
        scaled.partial_fit(part, sample_weight=4.0)
    plain = fed(small(), batches(planted(), 10))
    np.testing.assert_allclose(scaled.components_, plain.components_, rtol=1e-12)
    assert scaled.reconstruction_err_ == pytest.approx(2 * plain.reconstruction_err_, rel=1e-12)


def test_fit_forgets_the_batches_and_batches_forget_the_fit():
    X = planted()
    model = fed(small(), batches(X, 10)).fit(X[:, :5])
    assert not hasattr(model, "n_samples_seen_")
    np.testing.assert_array_equal(model.components_, small().fit(X[:, :5]).components_)
    fed(model, batches(X, 3))  # more rows than are kept, and other features than in the fit
    assert model.n_samples_seen_ == 600
    assert model.n_features_in_ == 20
    np.testing.assert_array_equal(model.components_, fed(small(), batches(X, 3)).components_)


def test_a_batch_of_zero_rows_is_seen_and_not_kept():
    X = planted()
    with pytest.warns(orthonmf.FewerComponentsWarning):
        model = small().partial_fit(np.zeros((5, 20)))
    assert model.n_components_ == 0
    assert model.labels_.tolist() == [-1] * 5
    model.partial_fit(X[:50]).partial_fit(np.zeros((5, 20)))
    np.testing.assert_array_equal(model._coreset.rows, X[:50])
    assert model.n_samples_seen_ == 60
    assert model.n_components_ == 4


@pytest.mark.parametrize("orthogonal", ["features", "both"])
def test_other_settings_have_no_partial_fit(orthogonal):
    model = OrthogonalNMF(orthogonal=orthogonal)
    assert not hasattr(model, "partial_fit")
    with pytest.raises(AttributeError) as caught:
        model.partial_fit(planted())
    assert "partial_fit needs orthogonal='samples'" in str(caught.value.__cause__)


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ({"coreset_size": 0}, InvalidInputError),
        ({"coreset_size": 10.5}, InvalidTypeError),
        ({"coreset_size": 3}, InvalidInputError),
        ({"checkpoint": "fit.npz"}, InvalidInputError),
        ({"algorithm": "fast"}, InvalidInputError),
        ({"n_components": 0}, InvalidInputError),
        ({"random_state": "a"}, InvalidTypeError),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters, error):
    model = OrthogonalNMF(**{"n_components": 4, **parameters})
    with pytest.raises(error, match=next(iter(parameters))):
        model.partial_fit(planted())
    assert not hasattr(model, "components_")


def test_missing_entries_are_refused_where_there_are_any():
    X = planted()
    model = small(missing_values=np.nan).partial_fit(X[:50])
    X[60, 0] = np.nan
    with pytest.raises(InvalidInputError, match=r"missing values.*impute"):
        model.partial_fit(X[50:100])
    assert model.n_samples_seen_ == 50


def test_names_of_features_are_kept_and_compared():
    pandas = pytest.importorskip("pandas")
    named = pandas.DataFrame(planted(), columns=[f"f{i}" for i in range(20)])
    model = small().partial_fit(named[:200]).partial_fit(named[200:])
    assert model.feature_names_in_.tolist() == named.columns.tolist()
    with pytest.raises(ValueError, match="feature names should match"):
        model.partial_fit(named.rename(columns={"f0": "g0"}))


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_files_pickles_and_clones_go_on_where_the_model_was(form, tmp_path):
    parts = batches(form(planted()), 10)
    model = fed(small(), parts[:5])
    orthonmf.save(model, tmp_path / "model.npz")
    twins = [orthonmf.load(tmp_path / "model.npz"), pickle.loads(pickle.dumps(model))]
    fed(model, parts[5:])
    for twin in twins:
        assert twin.n_samples_seen_ == 300
        fed(twin, parts[5:])
        np.testing.assert_array_equal(twin.components_, model.components_)
        assert type(twin._coreset.rows) is type(model._coreset.rows)
    assert clone(model).get_params() == model.get_params()
    assert not hasattr(clone(model), "n_samples_seen_")
    orthonmf.save(model.fit(parts[0]), tmp_path / "model.npz")
    assert not hasattr(orthonmf.load(tmp_path / "model.npz"), "n_samples_seen_")


@pytest.mark.slow
@pytest.mark.filterwarnings(
    "ignore::orthonmf.errors.FewerComponentsWarning"
)  # 5 rows, 6 components
@pytest.mark.parametrize(
    ("name", "seeds"),
    [
        ("amazon-commerce-reviews", [0]),
        ("arcene-train", [0, 1]),
        ("mfeat-pix", [0, 1, 4]),
        ("bow-kos", [0, 1]),
        ("bow-nips", [0]),
    ],
)
def test_one_pass_over_twenty_batches_ends_within_two_percent(real_set, name, seeds):
    X = real_set(name)
    for seed in seeds:
        shuffled = X[np.random.default_rng(seed).permutation(X.shape[0])]
        model = fed(OrthogonalNMF(6, random_state=seed), batches(shuffled, 20))
        whole = OrthogonalNMF(6, random_state=seed, certificate=None).fit(X)
        ratio = (1 - model.score(X)) / whole.relative_squared_error_
        print(f"{name}, seed {seed}: {len(model._coreset.weights)} rows kept, ratio {ratio:.4f}")
        assert len(model._coreset.weights) <= 1000
        assert ratio <= 1.02


def test_weights_too_large_for_the_rows_kept_are_told_as_that():
    rng = np.random.default_rng(0)
    model = orthonmf.OrthogonalNMF(2, coreset_size=8, random_state=0)
    weights = np.full(6, 1e308)
    model.partial_fit(rng.random((6, 4)), sample_weight=weights)
    with pytest.raises(orthonmf.OrthoNMFError, match="divide sample_weight by the same number"):
        model.partial_fit(rng.random((6, 4)), sample_weight=weights)
