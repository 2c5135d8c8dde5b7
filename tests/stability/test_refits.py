"""Refits through their door: what is repeated, what is multiplied, what is refused."""

import pickle
from unittest.mock import Mock

import numpy as np
import pytest
from scipy.sparse import csr_array

import orthonmf
from orthonmf.datasets import make_planted
from orthonmf.engine.losses import LOSSES
from orthonmf.errors import InvalidInputError, SourceChangedError
from orthonmf.progress import listening
from orthonmf.stability import refits
from tests.published_fits import quiet_fit

SETTINGS = ["samples", "features", "both"]
FITS = [*((setting, "frobenius") for setting in SETTINGS), ("samples", "kullback-leibler")]


def planted(orthogonal="samples", n=60, m=40, noise=0.6):
    return make_planted(n, m, 3, noise=noise, orthogonal=orthogonal, random_state=0).X


def counts_of(stability):
    sides = (stability.samples, stability.features)
    return [side.counts for side in sides if side is not None]


def assert_same(stability, other):
    for first, second in zip(counts_of(stability), counts_of(other), strict=True):
        np.testing.assert_array_equal(first, second)
    assert stability.agreement == other.agreement


@pytest.mark.parametrize(
    ("orthogonal", "k", "loss", "resample"),
    [
        ("samples", 3, "frobenius", "coordinates"),
        ("features", 3, "frobenius", "both"),
        ("both", 3, "frobenius", None),
        ("features", 3, "kullback-leibler", "coordinates"),
    ],
)
def test_the_same_seed_gives_the_same_bits_for_any_number_of_threads(orthogonal, k, loss, resample):
    X = planted(orthogonal)
    result = orthonmf.factorize(X, k, orthogonal=orthogonal, beta_loss=loss, random_state=0)
    alone, threaded = (
        result.refit(X, 3, resample, random_state=7, n_jobs=n_jobs) for n_jobs in (1, 3)
    )
    assert_same(alone, threaded)
    assert alone.random_state == 7
    longer = result.refit(X, 4, resample, random_state=7)  # the first refits are the same
    assert all((a <= b).all() for a, b in zip(counts_of(alone), counts_of(longer), strict=True))


@pytest.mark.parametrize(("orthogonal", "k"), [*((s, 3) for s in SETTINGS), ("both", (3, 2))])
def test_shapes_follow_the_setting(orthogonal, k):
    X = planted(orthogonal)
    result = orthonmf.factorize(X, k, orthogonal=orthogonal, random_state=0)
    stability = result.refit(X, 3, random_state=0)
    assert (stability.certainty is None) == (orthogonal == "features")
    assert (stability.feature_certainty is None) == (orthogonal == "samples")
    points = 40 if orthogonal == "features" else 60
    assert stability.kept().shape == stability.second.shape == (points,)
    assert stability.exchange.shape == (3, 3)
    assert (stability.exchange.sum(axis=1) <= 1 + 1e-12).all()
    if k == (3, 2):
        assert stability.features.counts.shape == (40, 2)
        assert stability.agreement == min(stability.samples.agreement, stability.features.agreement)


@pytest.mark.parametrize(("orthogonal", "loss"), FITS)
def test_a_copy_that_is_scaled_votes_like_weights(orthogonal, loss, tmp_path):
    """Data on disk are fitted with weights, data in memory as scaled copies."""
    X = planted(orthogonal, noise=0.3)
    np.save(tmp_path / "X.npy", X)
    on_disk = np.load(tmp_path / "X.npy", mmap_mode="r")
    options = {"orthogonal": orthogonal, "beta_loss": loss, "random_state": 0}
    result = orthonmf.factorize(X, 3, **options)
    copied = result.refit(X, 3, "both", random_state=1)
    weighted = result.refit(on_disk, 3, "both", random_state=1)
    for first, second in zip(counts_of(copied), counts_of(weighted), strict=True):
        assert np.mean(first == second) > 0.97


@pytest.mark.parametrize(("orthogonal", "loss"), FITS)
def test_weights_of_the_fit_are_multiplied_not_replaced(orthogonal, loss):
    """A fit with weights votes like the fit of the data that the weights stand for."""
    X = planted(orthogonal, noise=0.3)
    rng = np.random.default_rng(5)
    rows, columns = rng.choice([0.01, 1.0, 100.0], 60), rng.choice([0.01, 1.0, 100.0], 40)
    options = {"orthogonal": orthogonal, "beta_loss": loss, "random_state": 0}
    result = orthonmf.factorize(X, 3, sample_weight=rows, feature_weight=columns, **options)
    share = 1 / LOSSES[loss].power
    Y = X * (rows**share)[:, None] * columns**share
    plain = orthonmf.factorize(Y, 3, **options)
    weighted = result.refit(X, 3, sample_weight=rows, random_state=1)
    wanted = plain.refit(Y, 3, random_state=1)
    for first, second in zip(counts_of(weighted), counts_of(wanted), strict=True):
        assert np.mean(np.sort(first) == np.sort(second)) > 0.97


def test_sparse_and_float32_and_any_scale_vote_alike():
    X = planted(noise=0.3)
    wanted = orthonmf.factorize(X, 3, random_state=0).refit(X, 6, random_state=1).certainty
    for other in (csr_array(X), X.astype(np.float32), X * 1e300):
        result = orthonmf.factorize(other, 3, random_state=0)
        certainty = result.refit(other, 6, random_state=1).certainty
        assert np.mean(certainty == wanted) > 0.97


@pytest.mark.parametrize("orthogonal", ["samples", "features"])
def test_missing_values_stay_missing(orthogonal):
    X = planted(orthogonal, noise=0.1)
    X[np.random.default_rng(3).random(X.shape) < 0.2] = np.nan
    given = {"missing_values": np.nan}
    result = orthonmf.factorize(X, 3, orthogonal=orthogonal, random_state=0, **given)
    stability = result.refit(X, 4, random_state=0, **given)
    certainty = stability.certainty if orthogonal == "samples" else stability.feature_certainty
    assert certainty.mean() > 0.9
    with pytest.raises(InvalidInputError, match="NaN"):
        result.refit(X)


def test_rows_without_entries_or_weight_have_no_certainty_and_no_say():
    X = planted(noise=0.3)
    X[5] = 0
    weights = np.ones(60)
    weights[7] = 0
    result = orthonmf.factorize(X, 3, sample_weight=weights, random_state=0)
    stability = result.refit(X, 5, sample_weight=weights, random_state=0)
    for row in (5, 7):
        assert stability.samples.labels[row] == stability.kept(0.0)[row] == -1
        assert stability.certainty[row] == stability.second_share[row] == 0
        assert stability.second[row] == -1
    assert stability.groups["size"].sum() == 58


def test_copied_rows_get_the_same_certainty():
    X = planted(noise=1.0)
    X = np.concatenate((X, X))
    stability = orthonmf.factorize(X, 3, random_state=0).refit(X, 8, random_state=0)
    np.testing.assert_array_equal(stability.certainty[:60], stability.certainty[60:])


def test_feature_groups_share_a_weight():
    """Copied columns make all look certain, unless the copies share their weight."""
    X = planted(noise=3.0)
    plain = orthonmf.factorize(X, 3, random_state=0).refit(X, 10, random_state=0)
    copies = np.tile(X, 8)
    result = orthonmf.factorize(copies, 3, random_state=0)
    groups = [f"gene {column % 40}" for column in range(320)]
    together = result.refit(copies, 10, random_state=0, feature_groups=groups)
    apart = result.refit(copies, 10, random_state=0)
    np.testing.assert_array_equal(together.certainty, plain.certainty)
    assert apart.certainty.mean() > plain.certainty.mean() + 0.05


def test_a_refit_repeats_the_options_of_the_fit(monkeypatch):
    X = planted()
    result = orthonmf.factorize(X, 3, algorithm="paper", kmeans="ls++", n_init=2, max_iter=9)
    watch = Mock(wraps=orthonmf.factorize)
    monkeypatch.setattr(refits, "factorize", watch)
    result.refit(X, 2)
    for options in (call.kwargs for call in watch.call_args_list):
        assert (options["algorithm"], options["kmeans"], options["n_init"]) == ("paper", "ls++", 2)
        assert (options["max_iter"], options["init"]) == (9, "auto")


def test_a_loaded_or_pickled_result_and_an_estimator_refit_alike(tmp_path):
    X = planted()
    result = orthonmf.factorize(X, 3, random_state=0)
    wanted = result.refit(X, 4, random_state=1)
    orthonmf.save(result, tmp_path / "model.npz")
    assert_same(wanted, orthonmf.load(tmp_path / "model.npz").refit(X, 4, random_state=1))
    assert_same(wanted, pickle.loads(pickle.dumps(result)).refit(X, 4, random_state=1))
    model = orthonmf.OrthogonalNMF(3, random_state=0).fit(X)
    assert_same(wanted, model.refit(X, 4, random_state=1))


def test_what_cannot_be_refitted_is_refused():
    X = planted()
    result = orthonmf.factorize(X, 3, random_state=0)
    with pytest.raises(SourceChangedError, match="not what it was in the fit"):
        result.refit(X[::-1] * 2)
    counted = orthonmf.factorize(X, 3, beta_loss="kullback-leibler")
    with pytest.raises(SourceChangedError, match="share of the information lost"):
        counted.refit(X[:, ::-1])
    with pytest.raises(SourceChangedError, match="sample_weight"):
        orthonmf.factorize(X, 3, sample_weight=np.arange(60.0)).refit(X)
    with pytest.raises(InvalidInputError, match="shape"):
        result.refit(X[:50])
    with pytest.raises(InvalidInputError, match="n_refits must be an integer of at least 2"):
        result.refit(X, 1)
    with pytest.raises(InvalidInputError, match="did you mean coordinates"):
        result.refit(X, resample="coordinate")
    with pytest.raises(InvalidInputError, match="each of the 40 features"):
        result.refit(X, feature_groups=[1, 2])
    with pytest.raises(InvalidInputError, match="would be ignored"):
        result.refit(X, resample=None, feature_groups=np.arange(40))
    with pytest.raises(InvalidInputError, match="options of its fit"):
        orthonmf.certify(X, result.labels).refit(X)
    with pytest.raises(InvalidInputError, match="zero everywhere"):
        quiet_fit(np.zeros((4, 3)), 2).refit(np.zeros((4, 3)))


def test_refits_are_silent_unless_asked_to_speak_and_announce_themselves(capsys):
    X = planted()
    result = orthonmf.factorize(X, 3, random_state=0)
    heard = []
    with listening(lambda step, error: heard.append(step)):
        result.refit(X, 4, random_state=0)
    assert heard.count("refit") == 4
    assert set(heard) == {"refit"}
    assert capsys.readouterr() == ("", "")
    result.refit(X, 4, verbose=1)
    assert "refitting: 4 of 4 runs" in capsys.readouterr().err


def test_an_interrupt_ends_the_refits_and_leaves_the_result_as_it_was():
    X = planted()
    result = orthonmf.factorize(X, 3, random_state=0)
    before = pickle.dumps(result)
    wanted = result.refit(X, 4, random_state=1)

    def interrupt(step, error):
        raise KeyboardInterrupt

    with listening(interrupt), pytest.raises(KeyboardInterrupt):
        result.refit(X, 20, random_state=1)
    assert pickle.dumps(result) == before
    assert_same(wanted, result.refit(X, 4, random_state=1))


def test_the_picture_has_a_row_for_every_group():
    pytest.importorskip("matplotlib")
    X = planted("both")
    stability = orthonmf.factorize(X, 3, orthogonal="both", random_state=0).refit(X, 3)
    for of in ("samples", "features"):
        where, dots = stability.plot(of).axes
        assert len(where.get_yticks()) == len(dots.get_yticks()) == 3
    with pytest.raises(InvalidInputError, match="of must be"):
        stability.plot("rows")
