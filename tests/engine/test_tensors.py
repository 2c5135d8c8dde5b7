"""Fits of tensors, through the source of a device with small blocks, against those of arrays."""

import warnings

import numpy as np
import pytest

import orthonmf
from orthonmf.datasets import make_planted
from orthonmf.errors import FewerComponentsWarning, InvalidInputError, TooLargeError
from orthonmf.inputs import data
from orthonmf.onmf.divergence import one_side

torch = pytest.importorskip("torch")

from orthonmf.engine.gpu.arrays import told_when_full  # noqa: E402
from orthonmf.engine.gpu.tensor_source import ALIGNED_ROWS, TensorSource, device_boundaries  # noqa: E402

CPU = torch.device("cpu")
SETTINGS = ("samples", "features", "both")
X = make_planted(2500, 30, 4, noise=0.3, random_state=1).X.astype(np.float32)


def with_small_blocks(source):
    source.boundaries = device_boundaries(*source.shape, entries=ALIGNED_ROWS * source.shape[1])
    return source


@pytest.fixture
def open_door(monkeypatch):
    """Tensors on the host are taken as if they lay on a device."""
    monkeypatch.setattr(
        data, "source_of_tensor", lambda tensor: with_small_blocks(TensorSource(tensor))
    )


def fit(X, **keywords):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerComponentsWarning)
        return orthonmf.factorize(X, 4, random_state=0, **keywords)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["best", "paper"])
@pytest.mark.parametrize("orthogonal", SETTINGS)
def test_a_tensor_is_fitted_like_its_array(open_door, orthogonal, algorithm):
    options = {"orthogonal": orthogonal, "algorithm": algorithm}
    mine, theirs = fit(torch.tensor(X), **options), fit(X, **options)
    # The default over samples starts from candidates where rows lie on the host, and from a sample
    # where they lie on a device: both end in one answer, but for points between two components.
    same_starts = (orthogonal, algorithm) != ("samples", "best")
    near = 1e-6 if same_starts else 1e-5
    for name in ("labels", "feature_labels"):
        labels, others = getattr(mine, name), getattr(theirs, name)
        if same_starts or labels is None:
            np.testing.assert_array_equal(labels, others)
        else:
            assert np.mean(labels == others) > 0.995
    assert mine.error == pytest.approx(theirs.error, rel=near)
    assert type(mine.loadings) is type(theirs.loadings)
    assert mine.loadings.dtype == np.float32
    # The ratio is one of squared errors.
    assert mine.certificate.ratio == pytest.approx(theirs.certificate.ratio, rel=2 * near)
    assert mine.certificate.lower_bound == pytest.approx(theirs.certificate.lower_bound, rel=1e-8)
    assert "plain torch" in mine.steps_run


@pytest.mark.parametrize("orthogonal", SETTINGS)
def test_weights_are_weights_on_a_device_too(open_door, orthogonal, tmp_path):
    rng = np.random.default_rng(0)
    few = X[:300]
    weights = {"sample_weight": rng.exponential(size=300), "feature_weight": rng.random(30)}
    weights["feature_weight"][3] = 0.0
    # A checkpoint changes nothing.
    mine = fit(torch.tensor(few), orthogonal=orthogonal, checkpoint=tmp_path / "fit", **weights)
    again = fit(torch.tensor(few), orthogonal=orthogonal, checkpoint=tmp_path / "fit", **weights)
    assert mine.error == again.error
    theirs = fit(few, orthogonal=orthogonal, **weights)
    assert mine.error == pytest.approx(theirs.error, rel=1e-6)
    again = mine.transform(torch.tensor(few))
    assert abs(again - mine.loadings).max() == 0


def test_very_large_numbers_have_units(open_door):
    few = X[:200].astype(np.float64) * 1e200
    mine, theirs = fit(torch.tensor(few)), fit(few)
    np.testing.assert_array_equal(mine.labels, theirs.labels)
    assert mine.error == pytest.approx(theirs.error, rel=1e-9)


@pytest.mark.parametrize(
    "options",
    [
        {"algorithm": "paper", "kmeans": "k-means||"},
        {"algorithm": "paper", "kmeans": "ls++"},
        {"init": "lines", "n_init": 2},
        {"init": "k-means||", "n_init": 2},
    ],
    ids=str,
)
def test_every_subroutine_and_every_init_runs_on_a_device(open_door, options):
    mine = fit(torch.tensor(X[:300]), **options)
    assert mine.error == pytest.approx(fit(X[:300], **options).error, rel=1e-5)


def test_the_estimator_takes_tensors(open_door):
    tensor = torch.tensor(X[:400])
    model = orthonmf.OrthogonalNMF(4, random_state=0).fit(tensor)
    assert isinstance(model.predict(tensor), np.ndarray)
    np.testing.assert_array_equal(model.predict(tensor), model.labels_)
    assert model.transform(tensor).shape == (400, 4)
    assert 1.0 - model.score(tensor) == pytest.approx(model.relative_squared_error_, rel=1e-6)


def counts_of(n, m, k, rng):
    profiles = rng.dirichlet(np.full(m, 0.3), k)[rng.integers(0, k, n)]
    return rng.poisson(profiles * rng.gamma(2, 20, n)[:, None]).astype(np.float32)


@pytest.mark.parametrize("weighted", [False, True])
def test_counts_are_grouped_under_the_divergence_like_those_of_an_array(open_door, weighted):
    rng = np.random.default_rng(0)
    counts = counts_of(1500, 20, 4, rng)
    counts[17] = 0
    options = {"beta_loss": "kullback-leibler"}
    if weighted:
        options |= {"sample_weight": rng.exponential(size=1500), "feature_weight": rng.random(20)}
        options["sample_weight"][5] = options["feature_weight"][3] = 0.0
    mine, theirs = fit(torch.tensor(counts), **options), fit(counts, **options)
    np.testing.assert_array_equal(mine.labels, theirs.labels)
    assert mine.divergence == pytest.approx(theirs.divergence, rel=1e-9)
    assert mine.information == pytest.approx(theirs.information, rel=1e-9)
    assert mine.certificate.ratio == pytest.approx(theirs.certificate.ratio, rel=1e-9)
    assert abs(mine.transform(torch.tensor(counts)) - mine.loadings).max() == 0


def test_of_many_counts_a_sample_is_searched_and_all_are_swept(open_door, monkeypatch):
    for most in ("MOST_ENTRIES", "SAMPLED_ENTRIES"):
        monkeypatch.setattr(one_side, most, 2**14)
    counts = counts_of(4000, 20, 4, np.random.default_rng(0))
    options = {"beta_loss": "kullback-leibler"}
    mine, theirs = fit(torch.tensor(counts), **options), fit(counts, **options)
    assert "sample of rows" in mine.steps_run
    assert mine.relative_error == pytest.approx(theirs.relative_error, rel=0.01)


@pytest.mark.parametrize("options", [{"orthogonal": "features"}, {"n_components": (3, 2)}])
def test_the_divergence_of_other_settings_is_refused_with_the_remedy(open_door, options):
    given = {"n_components": 3, "beta_loss": "kullback-leibler", **options}
    given |= {"orthogonal": "both"} if given["n_components"] == (3, 2) else {}
    with pytest.raises(InvalidInputError, match=r"over samples only.*X\.cpu\(\)"):
        orthonmf.factorize(torch.tensor(X[:50]), **given)


def test_other_dtypes_become_float64_block_by_block(open_door):
    counts = np.random.default_rng(0).integers(0, 9, size=(200, 12))
    for dtype in (torch.int32, torch.float16, torch.bfloat16):
        mine = fit(torch.tensor(counts).to(dtype))
        assert mine.components.dtype == np.float64
        assert mine.error == pytest.approx(fit(counts).error, rel=1e-9)


def test_bad_entries_and_missing_ones_are_refused_by_position(open_door):
    bad = X.copy()
    bad[2100, 7] = -2.0
    with pytest.raises(InvalidInputError, match=r"X\[2100, 7\] = -2"):
        fit(torch.tensor(bad))
    bad[2100, 7] = np.nan
    with pytest.raises(InvalidInputError, match=r"X\.cpu\(\)"):
        fit(torch.tensor(bad), missing_values=np.nan)


def test_boundaries_are_aligned_and_cover_all_rows():
    for n, m in [(1, 1), (1000, 3), (20_000_000, 100), (4_000_000, 512), (70, 10**6)]:
        edges = device_boundaries(n, m)
        assert edges[0] == 0
        assert edges[-1] == n
        assert (np.diff(edges) > 0).all()
        assert (edges[:-1] % ALIGNED_ROWS == 0).all()


def test_columns_of_a_large_tensor_are_rows_of_a_view():
    source = TensorSource(torch.tensor(X))
    source.can_transpose = False
    assert source.transpose() is None
    flipped = source.transpose(many_passes=False)
    np.testing.assert_array_equal(flipped.block(0), X.T)


def test_a_device_without_room_is_told_with_a_remedy_and_other_errors_stay():
    with (
        pytest.raises(TooLargeError, match=r"full.*stream_to_device\(X.cpu\(\)\)"),
        told_when_full(),
    ):
        raise torch.OutOfMemoryError("full\nand a long story")
    with pytest.raises(RuntimeError, match=r"^other$"), told_when_full():
        raise RuntimeError("other")
