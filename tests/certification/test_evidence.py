"""Certificates are computed when they are looked at, once, and the data are let go then."""

import copy
import gc
import pickle
import subprocess
import sys
import threading
import weakref
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.utils import estimator_html_repr

import orthonmf
from orthonmf.bounds import table, tight
from orthonmf.certificate import CERTIFICATES
from orthonmf.certification import certify
from orthonmf.errors import SourceChangedError, TooLargeError
from orthonmf.progress import listening
from tests.quick_cases import mostly_slow

SETTINGS = ["samples", "features", "both"]


def some_matrix(seed=0, shape=(40, 12)):
    """Three blocks and much noise: all components are in use in every setting."""
    blocks = np.arange(shape[0])[:, None] % 3 == np.arange(shape[1]) % 3
    return np.random.default_rng(seed).exponential(size=shape) * (1 + 2 * blocks)


def fitted(X, k=3, **options):
    return orthonmf.factorize(X, k, random_state=0, **options)


def numbers(certificate):
    return replace(certificate, seconds=0.0)


@pytest.fixture
def computed(monkeypatch):
    """How often a certificate was computed."""
    calls = []
    compute = certify.certify

    def counted(matrix, result, method, seconds):
        calls.append(method)
        return compute(matrix, result, method)

    monkeypatch.setattr(certify, "certify", counted)
    return calls


@pytest.mark.slow
def test_a_default_fit_does_not_even_import_the_bounds():
    code = (
        "import sys, numpy, orthonmf\n"
        "X = numpy.random.default_rng(0).random((30, 20))\n"
        "result = orthonmf.factorize(X, 8, random_state=0)\n"
        "orthonmf.OrthogonalNMF(8, random_state=0).fit(X)\n"
        "heavy = ('orthonmf.bounds', 'orthonmf.certification.certify')\n"
        "assert not [name for name in sys.modules if name.startswith(heavy)]\n"
        "assert result.certificate.ratio\n"
        "assert 'orthonmf.bounds.table' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_certificate_that_may_be_asked_for_has_bounds():
    assert set(table.BOUNDS) == set(CERTIFICATES) - {None}


@pytest.mark.parametrize("orthogonal", SETTINGS)
@pytest.mark.parametrize("method", mostly_slow(["svd", "tight"], quick=1))
def test_it_is_computed_once_and_is_the_one_asked_for(orthogonal, method, computed):
    result = fitted(some_matrix(), orthogonal=orthogonal, certificate=method)
    assert computed == []
    first = result.certificate
    assert computed == [method]
    assert first.ratio >= 1
    assert first.seconds > 0
    assert result.certificate is first
    assert computed == [method]


def test_nothing_else_computes_one(tmp_path, computed):
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
    assert "components_" in estimator_html_repr(model)
    assert "certificate_" not in dir(model)
    assert model._repr_mimebundle_()
    clone(model)
    model.transform(X)
    model.score(X)
    replace(result, n_sweeps=3)
    assert computed == []
    assert model.certificate_.ratio > 1
    assert "certificate_" in dir(model)
    assert "certificate_" in estimator_html_repr(model)
    assert computed == ["svd"]


def test_a_grid_search_computes_none(computed):
    search = GridSearchCV(
        orthonmf.OrthogonalNMF(random_state=0), {"n_components": [2, 3]}, cv=2, n_jobs=1
    ).fit(some_matrix())
    assert computed == []
    assert search.best_estimator_.certificate_.ratio > 1
    assert computed == ["svd"]


@pytest.mark.parametrize("orthogonal", SETTINGS)
def test_the_result_holds_the_object_of_the_caller_and_lets_it_go(orthogonal):
    X, weights = some_matrix(), np.arange(1.0, 41.0)
    held = weakref.ref(X), weakref.ref(weights)
    result = fitted(X, orthogonal=orthogonal, sample_weight=weights)
    assert result.evidence.held.data.X is X
    assert result.evidence.held.data.sample_weight is weights
    del X, weights
    assert held[0]() is not None
    assert result.certificate.ratio > 1
    gc.collect()
    assert [one() for one in held] == [None, None]


@pytest.mark.parametrize("how", ["forgotten", "none", "pickled", "model", "missing", "zero"])
def test_data_are_held_for_nothing_but_a_certificate(how):
    X = some_matrix()
    if how == "missing":
        X[0, 0] = np.nan
    held = weakref.ref(X)
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
        assert not isinstance(kept._proof, orthonmf.Factorization)
    elif how == "missing":
        kept = fitted(X, missing_values=np.nan)
    else:
        X[:] = 0
        with pytest.warns(orthonmf.FewerComponentsWarning):
            kept = fitted(X)
    del X
    assert held() is None


def test_a_result_without_data_says_how_to_get_a_certificate():
    X = some_matrix()
    result = fitted(X, init="lines")
    again = pickle.loads(pickle.dumps(result))
    assert "certify(X, method='svd')" in again.certificate.reason
    assert again.certificate.ratio is None
    assert again.certificate.a_priori_ratio == again.promise.ratio == result.promise.ratio
    found = again.certify(X)
    assert numbers(found) == numbers(result.certificate)
    assert again.certificate is found
    assert again.certify(X, method="tight").ratio <= found.ratio
    assert "dual" in again.certificate.method or again.certificate.ratio == found.ratio
    after = pickle.loads(pickle.dumps(result))
    assert after.certificate == result.certificate


def test_a_model_without_data_computes_a_certificate_from_them():
    X, weights = some_matrix(), np.arange(1.0, 41.0)
    for orthogonal in SETTINGS:
        model = orthonmf.OrthogonalNMF(3, orthogonal=orthogonal, random_state=0)
        model.fit(X, sample_weight=weights, feature_weight=np.arange(1.0, 13.0))
        again = pickle.loads(pickle.dumps(model))
        assert "certify(X, method='svd')" in str(again.certificate_)
        with pytest.raises(SourceChangedError, match="sample_weight must be given again"):
            again.certify(X)
        found = again.certify(X, sample_weight=weights)
        assert again.certificate_ is found
        assert numbers(found) == numbers(model.certificate_)
        again.set_params(n_components=1)  # the claim is about as many components as there are
        assert again.certify(X, sample_weight=weights).lower_bound == found.lower_bound


def test_none_computes_nothing_and_says_what_was_promised(computed):
    result = fitted(some_matrix(), certificate=None, init="lines")
    assert result.certificate.ratio is None
    assert result.certificate.a_priori_ratio == result.promise.ratio > 1
    assert computed == []
    assert result.certify(some_matrix()).ratio > 1


def test_both_the_proof_and_the_promise_are_said():
    result = fitted(some_matrix(), init="lines")
    said = str(result.certificate)
    assert "; proven by " in said
    assert "; the algorithm promises at most " in said
    assert said.endswith(" times (on average over seeds)")
    alone = str(replace(result.certificate, a_priori_ratio=None))
    assert said.startswith(f"{alone} (always); ")


def test_threads_that_look_at_the_same_time_compute_one(computed):
    X, n_threads = some_matrix(), 6
    result, model = fitted(X), orthonmf.OrthogonalNMF(3, random_state=0).fit(X)
    waiting = threading.Barrier(n_threads)
    found = [[], []]

    def look():
        waiting.wait()
        found[0].append(result.certificate)
        found[1].append(model.certificate_)

    threads = [threading.Thread(target=look) for _ in range(n_threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert computed == ["svd", "svd"]
    for one in found:
        assert len(one) == n_threads
        assert all(certificate is one[0] for certificate in one)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_a_look_that_is_interrupted_may_be_repeated(error):
    X = some_matrix()
    result = fitted(X)

    def interrupt(step, _):
        raise error

    with listening(interrupt), pytest.raises(error):
        result.certificate  # noqa: B018
    assert result.evidence.settled is None
    assert result.certificate.ratio == fitted(X).certificate.ratio


def test_a_certificate_that_is_too_large_is_refused_when_it_is_looked_at(monkeypatch):
    monkeypatch.setattr(certify, "GRAM_COPIES", 10**18)
    result = fitted(some_matrix())
    with pytest.raises(TooLargeError, match="the certificate takes about"):
        result.certificate  # noqa: B018
    monkeypatch.setattr(certify, "GRAM_COPIES", 7)
    assert result.certificate.ratio > 1


def test_copies_share_what_is_held_and_deep_copies_hold_nothing():
    result = fitted(some_matrix())
    shallow, deep = copy.copy(result), copy.deepcopy(result)
    assert shallow.certificate is result.certificate
    assert deep.certificate.ratio is None
    np.testing.assert_array_equal(deep.components, result.components)


def test_the_same_data_give_the_same_certificate_whenever_it_is_computed(monkeypatch):
    monkeypatch.setattr(tight, "LARGEST_SIDE", 15)  # fewer than there are points
    monkeypatch.setattr(tight, "BATCH", 15)
    X = some_matrix()
    first, second = (fitted(X, certificate="tight") for _ in range(2))
    rng = np.random.default_rng(7)
    generated = orthonmf.factorize(X, 3, certificate="tight", random_state=rng)
    state = rng.bit_generator.state
    assert numbers(first.certificate) == numbers(second.certificate)
    assert numbers(second.certify(csr_array(X), "tight")).lower_bound == pytest.approx(
        first.certificate.lower_bound, rel=1e-9
    )
    assert generated.certificate.ratio > 1
    assert rng.bit_generator.state == state


@pytest.mark.filterwarnings("ignore::orthonmf.FewerComponentsWarning")
def test_what_a_full_rank_fit_has_proven_itself_is_kept():
    X = some_matrix(shape=(6, 9))
    free = fitted(X, 6, orthogonal="both", certificate=None, algorithm="paper")
    more = fitted(X, 6, orthogonal="both", algorithm="paper")
    assert free.evidence.settled.method == "a packing of pairs"
    assert pickle.loads(pickle.dumps(more)).certificate.ratio == free.certificate.ratio
    assert more.certificate.ratio <= free.certificate.ratio
