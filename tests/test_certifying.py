"""A certificate is computed when it is looked at, once, and is true of the data as they are."""

import copy
import gc
import pickle
import signal
import subprocess
import sys
import threading
import time
import weakref
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.utils import estimator_html_repr

import orthonmf
from orthonmf.certifying import prove
from orthonmf.errors import InvalidInputError, SourceChangedError
from orthonmf.inputs.data import as_matrix
from orthonmf.progress import listening
from tests.oracles.exact import exact_error, exact_total, smallest_error
from tests.quick_cases import mostly_slow

pytestmark = pytest.mark.filterwarnings("ignore::orthonmf.FewerComponentsWarning")
SETTINGS = ["samples", "features", "both"]
SMALL = np.random.default_rng(0).exponential(size=(6, 4))


def some_matrix(seed=0, shape=(40, 12)):
    """Three blocks and much noise: all components are in use in every setting."""
    blocks = np.arange(shape[0])[:, None] % 3 == np.arange(shape[1]) % 3
    return np.random.default_rng(seed).exponential(size=shape) * (1 + 2 * blocks)


def fitted(X, k=3, **options):
    return orthonmf.factorize(X, k, random_state=0, **options)


def numbers(certificate):
    return replace(certificate, seconds=0.0)


# When it is computed, and from what


@pytest.mark.parametrize("orthogonal", SETTINGS)
@pytest.mark.parametrize("method", mostly_slow(["svd", "tight"], quick=1))
def test_it_is_computed_once_and_is_the_one_asked_for(orthogonal, method):
    result = fitted(some_matrix(), orthogonal=orthogonal, certificate=method)
    assert result.evidence.settled is None
    first = result.certificate
    assert first.ratio >= 1
    assert first.seconds > 0
    assert result.certificate is first
    assert numbers(first) == numbers(result.certify(some_matrix(), method))


def test_nothing_else_computes_one(tmp_path):
    X = some_matrix()
    result, model = fitted(X), orthonmf.OrthogonalNMF(3, random_state=0).fit(X)
    for each in (result, model):
        assert repr(each)
        assert each == each
        assert pickle.dumps(each)
        assert copy.copy(each) is not each
        assert copy.deepcopy(each) is not each
        orthonmf.save(each, tmp_path / "kept.npz")
        orthonmf.load(tmp_path / "kept.npz")
    assert result.promise.reason or result.promise.ratio
    assert model.promise_ == result.promise
    assert "OrthogonalNMF" in estimator_html_repr(model)
    assert model._repr_mimebundle_()
    clone(model)
    model.transform(X)
    model.score(X)
    replace(result, n_sweeps=3)
    assert result.evidence.settled is None
    assert "certificate_" not in dir(model)
    assert model.certificate_.ratio > 1
    assert "certificate_" in dir(model)


@pytest.mark.parametrize("orthogonal", SETTINGS)
def test_the_result_holds_the_object_of_the_caller_and_lets_it_go(orthogonal):
    X, weights = some_matrix(), np.arange(1.0, 41.0)
    reference = weakref.ref(X), weakref.ref(weights)
    result = fitted(X, orthogonal=orthogonal, sample_weight=weights)
    del X, weights
    assert reference[0]() is not None
    assert result.certificate.ratio > 1
    gc.collect()
    assert [each() for each in reference] == [None, None]


@pytest.mark.parametrize("how", ["forgotten", "none", "pickled", "model", "missing", "zero"])
def test_data_are_held_for_nothing_but_a_certificate(how):
    X = some_matrix()
    if how == "missing":
        X[0, 0] = np.nan
    reference = weakref.ref(X)
    if how == "forgotten":  # nothing refers back to the result, so no collection is needed
        kept = fitted(X)
        del kept
    elif how == "none":
        kept = fitted(X, certificate=None)
    elif how == "pickled":
        kept = copy.deepcopy(pickle.loads(pickle.dumps(fitted(X))))
    elif how == "model":
        kept = orthonmf.OrthogonalNMF(3, orthogonal="features", random_state=0).fit(X)
        assert kept.certificate_.ratio > 1
    elif how == "missing":
        kept = fitted(X, missing_values=np.nan)
    else:
        X[:] = 0
        kept = fitted(X)
    del X
    gc.collect()
    assert reference() is None


def test_a_result_without_data_says_how_to_get_a_certificate():
    X = some_matrix()
    result = fitted(X, init="lines")
    again = pickle.loads(pickle.dumps(result))
    assert "certify(X, method='svd')" in again.certificate.reason
    assert again.certificate.ratio is None
    assert again.certificate.a_priori_ratio == again.promise.ratio == result.promise.ratio
    computed = again.certify(X)
    assert numbers(computed) == numbers(result.certificate)
    assert again.certificate is computed
    assert again.certify(X, method="tight").ratio <= computed.ratio
    assert pickle.loads(pickle.dumps(result)).certificate == result.certificate
    fresh = fitted(X)
    assert copy.deepcopy(fresh).certificate.ratio is None
    assert copy.copy(fresh).certificate is fresh.certificate


def test_a_model_without_data_computes_a_certificate_from_them():
    X, weights = some_matrix(), np.arange(1.0, 41.0)
    model = orthonmf.OrthogonalNMF(3, random_state=0)
    model.fit(X, sample_weight=weights, feature_weight=np.arange(1.0, 13.0))
    again = pickle.loads(pickle.dumps(model))
    assert "certify(X, method='svd')" in str(again.certificate_)
    with pytest.raises(SourceChangedError, match="sample_weight must be given again"):
        again.certify(X)
    computed = again.certify(X, sample_weight=weights)
    assert again.certificate_ is computed
    assert numbers(computed) == numbers(model.certificate_)
    again.set_params(n_components=1)  # the claim is about as many components as there are
    assert again.certify(X, sample_weight=weights).lower_bound == computed.lower_bound


def test_the_same_data_give_the_same_certificate_whenever_it_is_computed():
    X = some_matrix()
    first, second = (fitted(X, certificate="tight") for _ in range(2))
    rng = np.random.default_rng(7)
    generated = orthonmf.factorize(X, 3, random_state=rng)
    state = rng.bit_generator.state
    assert numbers(first.certificate) == numbers(second.certificate)
    assert second.certify(csr_array(X), "tight").lower_bound == pytest.approx(
        first.certificate.lower_bound, rel=1e-9
    )
    assert generated.certificate.ratio > 1
    assert rng.bit_generator.state == state


def test_what_a_full_rank_fit_has_proven_itself_is_kept():
    X = some_matrix(shape=(6, 9))
    free = fitted(X, 6, orthogonal="both", certificate=None, algorithm="paper")
    more = fitted(X, 6, orthogonal="both", algorithm="paper")
    assert free.certificate.method == "a packing of pairs"
    assert pickle.loads(pickle.dumps(more)).certificate.ratio == free.certificate.ratio
    assert more.certificate.ratio <= free.certificate.ratio


# Data that changed


def turn_over(X):  # rows keep their lengths
    X[:] = X[:, ::-1].copy()


def swap_two(X):  # in one row, which keeps its length
    X[17, [2, 3]] = X[17, [3, 2]]


def change_one(X):
    X[17, 3] *= 1.0 + 1e-6


def put_nan(X):
    X[5, 5] = np.nan


CHANGES = [turn_over, swap_two, change_one, put_nan]


@pytest.mark.parametrize("orthogonal", SETTINGS)
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_changed_data_are_refused(orthogonal, change):
    X = some_matrix()
    before = X.copy()
    result = fitted(X, orthogonal=orthogonal)
    change(X)
    said = "X contains NaN" if change is put_nan else "the error of the result on X"
    for _ in range(2):
        with pytest.raises(SourceChangedError, match=f"(?s){said}.*fit again, or call certify"):
            result.certificate  # noqa: B018
    assert result.certify(before).ratio > 1
    X[:] = before
    assert result.certificate.ratio > 1


def test_a_change_that_leaves_the_error_as_it_is_makes_a_claim_about_what_was_read():
    """Rows are mirrored: nothing of X is where it was, and all that is said is still so."""
    X = np.array([[3.0, 1.0, 1.0], [6.0, 2.0, 2.0], [1.0, 5.0, 5.0], [2.0, 1.0, 3.0]])
    result = fitted(X, 2)
    X[:, [1, 2]] = X[:, [2, 1]]
    try:
        certificate = result.certificate
    except SourceChangedError:
        return
    error = exact_error(X, result.loadings, result.components) / exact_total(X)
    assert certificate.lower_bound <= smallest_error(X, 2, "samples") / exact_total(X)
    assert certificate.lower_bound * certificate.ratio >= error


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
@pytest.mark.parametrize("power", [-500, 140])
def test_the_same_data_are_known_in_any_units(orthogonal, power):
    X = np.ldexp(some_matrix(), power)
    result = fitted(X, orthogonal=orthogonal, sample_weight=np.geomspace(1e-3, 1e3, 40))
    assert result.certificate.ratio > 1
    X[7] *= 2.0
    again = fitted(X, orthogonal=orthogonal)
    X[7] /= 2.0
    with pytest.raises(SourceChangedError, match="the error of the result on X"):
        again.certificate  # noqa: B018


@pytest.mark.parametrize(
    ("orthogonal", "dtype"), zip(SETTINGS, (np.float64, np.float32, np.float64), strict=True)
)
def test_the_same_numbers_in_another_container_are_the_same_data(orthogonal, dtype):
    X = some_matrix(shape=(300, 40)).astype(dtype)
    X[X < 0.5] = 0
    result = fitted(X, orthogonal=orthogonal)
    wanted = result.certificate.ratio
    for other in (csr_array(X), np.asfortranarray(X), X.tolist(), X.astype(np.float64)):
        assert result.certify(other).ratio == pytest.approx(wanted, rel=1e-4)


def test_other_data_are_refused():
    result = fitted(some_matrix(), certificate=None)
    with pytest.raises(InvalidInputError, match=r"shape \(40, 11\).*shape \(40, 12\) was fitted"):
        result.certify(some_matrix(shape=(40, 11)))
    with pytest.raises(SourceChangedError, match="the error of the result on X"):
        result.certify(some_matrix(seed=1))
    with pytest.raises(InvalidInputError, match="method must be one of 'svd', 'tight'; got None"):
        result.certify(some_matrix(), method=None)
    assert result.certificate.ratio is None
    zero = fitted(np.zeros((4, 3)))
    assert zero.certify(np.zeros((4, 3))).optimal
    with pytest.raises(SourceChangedError, match="the error of the result on X"):
        zero.certify(np.ones((4, 3)))


def test_a_file_that_was_closed_is_told(tmp_path):
    h5py = pytest.importorskip("h5py")
    X = some_matrix()
    with h5py.File(tmp_path / "X.h5", "w") as file:
        file["X"] = X
        result = fitted(file["X"])
        looked = fitted(file["X"])
        wanted = looked.certificate
    assert looked.certificate is wanted
    with pytest.raises(SourceChangedError, match=r"X can no longer be read.*or call certify"):
        result.certificate  # noqa: B018
    with h5py.File(tmp_path / "X.h5") as file:
        assert result.certify(file["X"]).ratio == wanted.ratio


# Threads, processes, signals


def test_threads_that_look_at_the_same_time_compute_one():
    X, n_threads = some_matrix(), 4
    result, model = fitted(X), orthonmf.OrthogonalNMF(3, random_state=0).fit(X)
    waiting = threading.Barrier(n_threads)
    seen = [[], []]

    def look():
        waiting.wait()
        seen[0].append(result.certificate)
        seen[1].append(model.certificate_)

    threads = [threading.Thread(target=look) for _ in range(n_threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for certificates in seen:
        assert len(certificates) == n_threads
        assert all(certificate is certificates[0] for certificate in certificates)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_a_look_that_fails_may_be_repeated(error):
    X = some_matrix()
    result = fitted(X)

    def fail(step, _):
        raise error

    with listening(fail), pytest.raises(error):
        result.certificate  # noqa: B018
    assert result.evidence.settled is None
    assert result.certificate.ratio == fitted(X).certificate.ratio


BEGIN = """
import os, signal, sys, threading, time
import numpy as np
import orthonmf

rng = np.random.default_rng(0)
"""


def start(code, *args):
    """A process that runs some code after these lines, its output to be read."""
    command = [sys.executable, "-u", "-c", BEGIN + code, *map(str, args)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


LOOK = """
X = rng.random((400, 250))
result = orthonmf.factorize(
    X, 6, orthogonal=sys.argv[1], certificate="tight", certificate_seconds=1e6, random_state=0
)
print("looking", flush=True)
certificate = result.certificate
signal.signal(signal.SIGINT, signal.SIG_IGN)  # one that comes too late says nothing
print(certificate.ratio, certificate, flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("orthogonal", "delay"),
    [("samples", 0.1), ("both", 1.5)],
)
def test_one_interrupt_at_any_time_keeps_what_was_found(orthogonal, delay):
    process = start(LOOK, orthogonal)
    assert process.stdout.readline() == "looking\n"
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=120)
    assert process.returncode == 0, error
    ratio, said = out.split(" ", 1)
    assert float(ratio) > 1
    assert "interrupted" in said or delay > 0.1  # unless it was done, on a fast machine


@pytest.mark.slow
def test_a_second_interrupt_ends_it():
    process = start(LOOK, "both")
    assert process.stdout.readline() == "looking\n"
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
        time.sleep(0.002)  # what the first one leaves to do must not be done before the second
    _, told = process.communicate()
    assert "KeyboardInterrupt" in told


@pytest.mark.parametrize("store", ["array", "csr"])
def test_a_memory_map_whose_file_was_cut_is_refused_before_it_is_read(tmp_path, store):
    """In a process of its own: reading beyond the end of a file kills it."""
    code = """
from scipy.sparse import csr_array
place, store = sys.argv[1:]
X = rng.random((2000, 40))
np.save(place, X.ravel())
mapped = np.load(place, mmap_mode="r")
if store == "csr":
    indices, starts = np.tile(np.arange(40), 2000), np.arange(2001) * 40
    given = csr_array((mapped, indices, starts), X.shape, copy=False)
else:
    given = mapped.reshape(X.shape)
result = orthonmf.factorize(given, 3, random_state=0)
np.save(place, X[:5].ravel())
try:
    result.certificate
except orthonmf.errors.SourceChangedError as error:
    print("told:", error)
try:
    orthonmf.factorize(given, 3, random_state=0)
except orthonmf.OrthoNMFError as error:
    print("and by a fit:", error)
print(result.certify(X).ratio > 1)
"""
    process = start(code, tmp_path / "X.npy", store)
    out, error = process.communicate(timeout=100)
    assert process.returncode == 0, (process.returncode, error)
    assert out.startswith("told: the file of the memory map X holds")
    assert "and by a fit: the file of the memory map X holds" in out
    assert out.endswith("True\n")


# What follows from bounds and an error


@pytest.mark.parametrize("orthogonal", SETTINGS)
@pytest.mark.parametrize("method", ["svd", "tight"])
def test_error_and_bound_of_a_certificate_enclose_those_of_exact_arithmetic(orthogonal, method):
    data = np.round(SMALL[:4, :3], 2)
    result = fitted(data, 2, orthogonal=orthogonal)
    proven = prove(as_matrix(data), result, method, seconds=0.2)
    total = exact_total(data)
    error = exact_error(data, result.loadings, result.components) / total
    least = smallest_error(data, 2, orthogonal) / total
    assert proven.lower_bound <= least <= error <= proven.upper_bound
    assert proven.ratio * least >= error
    assert proven.upper_bound == pytest.approx(float(error), rel=1e-9)
    assert not proven.reason
