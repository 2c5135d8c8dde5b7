"""Fits under the Kullback-Leibler divergence: the optimum of tiny tables, and what is promised."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import kl_div

import orthonmf
from orthonmf.errors import InvalidInputError
from orthonmf.onmf.divergence import one_side
from tests.broken_off import break_off
from tests.oracles.divergence import least_divergence, least_divergence_with_core
from tests.same_bits import assert_same_bits
from tests.topics import topics

pytestmark = pytest.mark.filterwarnings("ignore::orthonmf.FewerComponentsWarning")
KL = "kullback-leibler"


def tiny(seed, shape=(7, 5)):
    """Counts with zeros, and now and then equal rows."""
    rng = np.random.default_rng(seed)
    X = rng.poisson(rng.exponential(2.0, shape)).astype(float)
    if seed % 3 == 0:
        X[1] = X[0]
    return X


def fit(X, k, orthogonal="samples", **options):
    options = {"random_state": 0, "beta_loss": KL, **options}
    return orthonmf.factorize(X, k, orthogonal=orthogonal, **options)


@pytest.mark.slow
@pytest.mark.parametrize("orthogonal", ["samples", "features"])
def test_one_default_call_reaches_the_smallest_divergence_of_tiny_tables(orthogonal):
    missed = 0
    for seed in range(12):
        X = tiny(seed)
        best = float(least_divergence(X if orthogonal == "samples" else X.T, 3))
        divergence = fit(X, 3, orthogonal).divergence
        assert divergence >= best - 1e-9
        missed += divergence > best * (1 + 1e-9) + 1e-9
    assert missed <= 1


@pytest.mark.slow
def test_with_a_core_it_comes_near_the_smallest_divergence_of_tiny_tables():
    gaps = []
    for seed in range(8):
        X = tiny(seed, (6, 5))
        best = float(least_divergence_with_core(X, 2, 2))
        divergence = fit(X, (2, 2), "both").divergence
        assert divergence >= best - 1e-9
        gaps.append(divergence / best - 1)
    assert np.median(gaps) < 1e-9
    assert max(gaps) < 0.15


@pytest.mark.parametrize("size", [(4, "samples"), (4, "features"), ((4, 3), "both")])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_divergence_is_that_of_the_factors_and_shares_add_up(size, weighted):
    X, truth = topics()
    X[3], X[:, 5] = 0, 0
    rng = np.random.default_rng(1)
    w, v = np.ones(60), np.ones(40)
    if weighted:
        w, v = rng.random(60) + 0.5, rng.random(40) + 0.5
    result = fit(X, *size, sample_weight=w, feature_weight=v)
    weighted_x = w[:, None] * X * v
    lost = (w[:, None] * kl_div(X, result.reconstruct()) * v).sum()
    assert result.divergence == pytest.approx(lost)
    assert result.information == pytest.approx(float(least_divergence(weighted_x, 1)))
    assert result.relative_error == pytest.approx(lost / result.information)
    assert result.relative_squared_error is None
    np.testing.assert_allclose(result.components.sum(axis=1), 1.0)
    if size[1] != "both":
        assert result.information_shares.sum() + result.relative_error == pytest.approx(1.0)
    assert list(result.information_shares) == sorted(result.information_shares, reverse=True)
    assert result.history[-1] == result.relative_error
    assert list(result.history) == sorted(result.history, reverse=True)
    if size[1] == "samples":
        np.testing.assert_allclose(result.scales, (X @ v) / (result.components @ v)[result.labels])
        pairs = zip(np.delete(truth, 3).tolist(), np.delete(result.labels, 3).tolist(), strict=True)
        assert len({*pairs}) == 4
    if result.labels is not None:
        assert result.labels[3] == -1
        assert result.scales[3] == 0
    assert not result.components[:, 5].any()


def test_with_a_core_it_holds_joint_counts():
    X, _ = topics()
    result = fit(X, (4, 3), "both")
    F, G = np.eye(4)[result.labels], np.eye(3)[result.feature_labels]
    np.testing.assert_allclose(result.core, F.T @ X @ G)
    groups = result.feature_scales[:, None] * G
    np.testing.assert_allclose(groups.sum(axis=0), 1.0)
    fitted = (result.scales[:, None] * F / (result.scales @ F)) @ result.core @ groups.T
    np.testing.assert_allclose(fitted, result.reconstruct())


@pytest.mark.parametrize(
    ("size", "dtype"),
    [
        ((4, "samples"), np.float64),
        ((4, "samples"), np.float32),
        ((4, "features"), np.float64),
        (((4, 3), "both"), np.float32),
    ],
)
def test_transform_finds_the_bits_of_the_fit_and_places_do_not_matter(size, dtype, tmp_path):
    h5py, zarr = pytest.importorskip("h5py"), pytest.importorskip("zarr")
    dask = pytest.importorskip("dask.array")
    X = topics(300, 40)[0].astype(dtype)
    X[7] = 0
    result = fit(X, *size, certificate=None)
    loadings = result.transform(X)
    if size[1] == "features":
        assert np.array_equal(loadings, result.loadings)
    else:
        assert (loadings != result.loadings).nnz == 0
    mapped = np.memmap(tmp_path / "X", dtype, "w+", shape=X.shape)
    mapped[:] = X
    packed = zarr.create_array(tmp_path / "x.zarr", shape=X.shape, dtype=dtype, chunks=(64, 40))
    packed[:] = X
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["X"] = X
        blocks = dask.from_array(X, chunks=(70, 40))
        for other in (csr_array(X), np.asfortranarray(X), mapped, file["X"], packed, blocks):
            assert_same_bits(result, fit(other, *size, certificate=None))
    assert_same_bits(result, fit(X, *size, certificate=None, n_jobs=2))


@pytest.mark.parametrize("orthogonal", ["samples", "features"])
def test_a_weight_is_that_many_copies(orthogonal):
    X, _ = topics(20, 15)
    w, v = np.arange(20) % 3, 1 + np.arange(15) % 2
    copies = X[np.repeat(np.arange(20), w)][:, np.repeat(np.arange(15), v)]
    result = fit(X, 3, orthogonal, sample_weight=w, feature_weight=v)
    assert result.divergence == pytest.approx(fit(copies, 3, orthogonal).divergence)


@pytest.mark.parametrize("orthogonal", ["samples", "features"])
def test_data_of_any_size_behave_alike(orthogonal):
    X, _ = topics(400, 100, 6)
    result = fit(X, 4, orthogonal)
    for power in (-900, -120, 60, 130, 900):
        other = fit(np.ldexp(X, power), 4, orthogonal)
        assert np.array_equal(other.components, result.components)
        assert other.divergence == pytest.approx(np.ldexp(result.divergence, power))


@pytest.mark.parametrize("size", [(4, "samples"), (4, "features"), ((4, 3), "both")])
def test_rows_of_very_different_sums_are_fitted(size):
    X, _ = topics()
    sums = 10.0 ** np.random.default_rng(0).uniform(-100, 100, len(X))
    result = fit(sums[:, None] * X, *size)
    assert 0 <= result.relative_error < 0.2


@pytest.mark.parametrize("orthogonal", ["samples", "features", "both"])
def test_a_share_that_float32_cannot_hold_costs_next_to_nothing(orthogonal):
    X = np.array([[1, 0, 5], [1, 1, 2], [3, 0, 3]], dtype=np.float32)
    k = (1, 1) if orthogonal == "both" else 1
    options = {"orthogonal": orthogonal, "sample_weight": [1.0, 2.0**-300, 1.0]}
    light = orthonmf.factorize(X, k, beta_loss=KL, random_state=0, **options)
    options["sample_weight"] = [1.0, 0.0, 1.0]
    without = orthonmf.factorize(X, k, beta_loss=KL, random_state=0, **options)
    assert light.divergence == pytest.approx(without.divergence, rel=1e-6)
    assert light.certificate.ratio < 1.001


def test_one_profile_is_an_exact_fit_and_a_zero_matrix_has_no_parts():
    X = np.outer([1.0, 2.0, 3.0], [2.0, 0.0, 5.0])
    result = fit(X, 2)
    assert result.n_components_found == 1
    assert result.relative_error == 0
    assert fit(np.zeros((4, 3)), 2).n_components_found == 0
    core = fit(np.zeros((4, 3)), (2, 2), orthogonal="both").core
    assert core is not None
    assert core.shape == (0, 0)


@pytest.mark.parametrize("size", [(4, "samples"), ((4, 4), "both")])
def test_profiles_may_be_given_as_a_start(size):
    X, truth = topics()
    profiles = np.array([X[truth == topic].sum(axis=0) for topic in range(4)])
    result = fit(X, *size, init=profiles)
    assert len(set(zip(truth.tolist(), result.labels.tolist(), strict=True))) == 4


def test_words_that_no_part_has():
    X = np.array([[4.0, 1, 0, 0, 0], [3, 1, 0, 0, 0], [0, 0, 5, 2, 0], [0, 0, 4, 1, 0]])
    result = fit(X, 2)
    new = result.transform(np.array([[1.0, 0, 3, 0, 0], [0, 0, 0, 0, 9.0], [0, 0, 0, 0, 0]]))
    assert new.toarray().sum(axis=1).tolist() == [4, 0, 0]
    # One count of a word that the part lacks outweighs any likeness: the fewest of them win.
    assert new.toarray()[0].argmax() == result.labels[2]


@pytest.mark.parametrize(
    ("options", "remedy"),
    [
        ({"orthogonal": "both"}, "two numbers"),
        ({"algorithm": "paper"}, "are about squared errors; .* algorithm='best'"),
        ({"kmeans": "k-means++"}, "leave it out"),
        ({"init": "lines"}, "leave it out"),
        ({"beta_loss": "itakura-saito"}, "beta_loss must be one of"),
    ],
)
def test_what_the_divergence_cannot_do_is_refused_with_the_remedy(options, remedy):
    X = topics()[0]
    with pytest.raises(InvalidInputError, match=remedy):
        fit(X, 3, **options)
    X[0, 0] = np.nan
    with pytest.raises(InvalidInputError, match=r"a missing entry leaves open; .*impute"):
        fit(X, 3, missing_values=np.nan)


@pytest.mark.parametrize("size", [(4, "samples"), (4, "features"), ((4, 3), "both")])
def test_a_fit_that_was_broken_off_goes_on_to_the_same_bits(size, tmp_path):
    X, _ = topics(300, 80, 6)
    options = {"orthogonal": size[1], "random_state": 0, "beta_loss": KL}
    assert break_off(tmp_path / "found", 1, X, size[0], **options)
    whole = fit(X, *size)
    assert_same_bits(whole, fit(X, *size, checkpoint=tmp_path / "found"))


@pytest.mark.parametrize("size", [(4, "samples"), (4, "features"), ((4, 3), "both")])
def test_large_data_go_through_a_sample_and_end_as_good(size, monkeypatch):
    X, _ = topics(4000, 60)
    whole = fit(X, *size)
    monkeypatch.setattr(one_side, "MOST_ENTRIES", X.size // 4)
    monkeypatch.setattr(one_side, "SAMPLED_ENTRIES", X.size // 10)
    sampled = fit(X, *size)
    assert sampled.steps_run[0] == "sample of rows"
    assert sampled.divergence <= 1.01 * whole.divergence
    assert_same_bits(sampled, fit(X, *size, n_jobs=2))


def test_a_saved_result_is_the_same_and_keeps_its_loss(tmp_path):
    X, _ = topics()
    for size in ((4, "samples"), (4, "features"), ((4, 3), "both")):
        result = fit(X, *size, certificate=None)
        orthonmf.save(result, tmp_path / "result.npz")
        loaded = orthonmf.load(tmp_path / "result.npz")
        assert_same_bits(result, loaded)
        assert loaded.beta_loss == KL
        assert loaded.relative_error == result.relative_error
        assert np.array_equal(loaded.information_shares, result.information_shares)
        assert np.array_equal(loaded.reconstruct(), result.reconstruct())
