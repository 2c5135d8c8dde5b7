"""Data that are no longer those of the fit are told, whatever has happened to them."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import orthonmf
from orthonmf.errors import InvalidInputError, SourceChangedError
from tests.quick_cases import mostly_slow

SETTINGS = ["samples", "features", "both"]
LOOK = "fit again, or call certify"


def some_matrix(seed=0, shape=(40, 12)):
    """Three blocks and much noise: all components are in use in every setting."""
    blocks = np.arange(shape[0])[:, None] % 3 == np.arange(shape[1]) % 3
    return np.random.default_rng(seed).exponential(size=shape) * (1 + 2 * blocks)


def fitted(X, k=3, **options):
    return orthonmf.factorize(X, k, random_state=0, **options)


def scale_all(X):
    X *= 2.0


def turn_over(X):  # rows keep their lengths
    X[:] = X[:, ::-1].copy()


def change_one(X):
    X[17, 3] *= 1.0 + 1e-6


def exchange(X):  # all of them are still there
    X[[0, 1]] = X[[1, 0]]


def put_nan(X):
    X[5, 5] = np.nan


def erase(X):
    X[:] = 0.0


CHANGES = {
    scale_all: "row 0 of X changed",
    turn_over: "the error of the result on X",
    change_one: "row 17 of X changed",
    exchange: "row 0 of X changed",
    put_nan: "X contains NaN",
    erase: "row 0 of X changed",
}


@pytest.mark.parametrize("orthogonal", SETTINGS)
@pytest.mark.parametrize("change", CHANGES, ids=lambda one: one.__name__)
@pytest.mark.parametrize("dtype", mostly_slow([np.float64, np.float32], quick=1))
def test_changed_data_are_refused(orthogonal, change, dtype):
    X = some_matrix().astype(dtype)
    before = X.copy()
    result = fitted(X, orthogonal=orthogonal)
    change(X)
    for _ in range(2):
        with pytest.raises(SourceChangedError, match=f"(?s){CHANGES[change]}.*{LOOK}"):
            result.certificate  # noqa: B018
    assert result.certify(before).ratio > 1
    X[:] = before
    assert result.certificate.ratio > 1


def test_changed_weights_are_refused():
    X, weights = some_matrix(), np.arange(1.0, 41.0)
    result = fitted(X, sample_weight=weights)
    weights[0] = 9.0
    with pytest.raises(SourceChangedError, match="weights"):
        result.certificate  # noqa: B018
    features = np.arange(1.0, 13.0)
    result = fitted(X, feature_weight=features)
    wanted = fitted(X, feature_weight=features.copy()).certificate.ratio
    features[:] = 1.0  # the result has its own
    assert result.certificate.ratio == wanted


@pytest.mark.parametrize("orthogonal", SETTINGS)
@pytest.mark.parametrize("power", mostly_slow([-500, 140, -140, 0, 400], quick=2))
def test_the_same_data_are_known_in_any_units(orthogonal, power):
    X = np.ldexp(some_matrix(), power)
    result = fitted(X, orthogonal=orthogonal, sample_weight=np.geomspace(1e-3, 1e3, 40))
    assert result.certificate.ratio > 1
    X[7] *= 2.0
    again = fitted(X, orthogonal=orthogonal)
    X[7] /= 2.0
    with pytest.raises(SourceChangedError, match="row 7 of X"):
        again.certificate  # noqa: B018


@pytest.mark.parametrize("orthogonal", SETTINGS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_same_numbers_in_another_container_are_the_same_data(orthogonal, dtype):
    X = some_matrix(shape=(300, 40)).astype(dtype)
    X[X < 0.5] = 0
    result = fitted(X, orthogonal=orthogonal)
    wanted = result.certificate.ratio
    for other in (csr_array(X), np.asfortranarray(X), X.tolist(), X.astype(np.float64)):
        assert result.certify(other).ratio == pytest.approx(wanted, rel=1e-4)


def test_a_list_and_a_frame_are_held_as_they_are():
    X = some_matrix().tolist()
    result = fitted(X)
    assert result.evidence.held.data.X is X
    assert result.certificate.ratio > 1
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(some_matrix())
    assert fitted(frame).evidence.held.data.X is frame


def test_other_data_are_refused():
    result = fitted(some_matrix(), certificate=None)
    with pytest.raises(InvalidInputError, match=r"shape \(40, 11\).*shape \(40, 12\) was fitted"):
        result.certify(some_matrix(shape=(40, 11)))
    with pytest.raises(SourceChangedError, match="the error of the result on X"):
        result.certify(some_matrix(seed=1))
    with pytest.raises(InvalidInputError, match="method must be one of 'svd', 'tight'; got None"):
        result.certify(some_matrix(), method=None)
    assert result.certificate.ratio is None
    with pytest.warns(orthonmf.FewerComponentsWarning):
        zero = fitted(np.zeros((4, 3)))
    assert zero.certify(np.zeros((4, 3))).optimal
    with pytest.raises(SourceChangedError, match="the error of the result on X"):
        zero.certify(np.ones((4, 3)))


def test_missing_values_leave_nothing_to_prove():
    X = some_matrix()
    X[3, 4] = np.nan
    result = fitted(X, missing_values=np.nan)
    found = result.certify(X, missing_values=np.nan)
    assert str(found).startswith("nothing is proven: entries are missing")


def test_a_file_that_was_closed_or_cut_is_told(tmp_path):
    h5py = pytest.importorskip("h5py")
    X = some_matrix()
    with h5py.File(tmp_path / "X.h5", "w") as file:
        file["X"] = X
        result = fitted(file["X"])
        looked = fitted(file["X"])
        wanted = looked.certificate
    assert looked.certificate is wanted
    with pytest.raises(SourceChangedError, match=f"X can no longer be read.*{LOOK}"):
        result.certificate  # noqa: B018
    with h5py.File(tmp_path / "X.h5") as file:
        assert result.certify(file["X"]).ratio == wanted.ratio
    assert result.certificate.ratio == wanted.ratio


def test_a_memory_map_that_changes_is_told(tmp_path):
    np.save(tmp_path / "X.npy", some_matrix())
    result = fitted(np.load(tmp_path / "X.npy", mmap_mode="r"))
    np.load(tmp_path / "X.npy", mmap_mode="r+")[9, 9] = 8.0
    with pytest.raises(SourceChangedError, match="row 9 of X changed since it was fitted"):
        result.certificate  # noqa: B018
