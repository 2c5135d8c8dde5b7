"""What commands do about certificates: compute them, time them, and lose no fit over them."""

import pickle

import numpy as np

import orthonmf
from orthonmf.bounds import table
from orthonmf.cli.certificates import prove, times_of


def fitted(**options):
    return orthonmf.factorize(
        np.random.default_rng(0).random((20, 8)), 2, random_state=0, **options
    )


def test_both_times_are_named():
    proven = prove(fitted())
    assert proven.evidence.settled.ratio > 1
    fit, proof = times_of(proven).split(", ")
    assert fit.startswith("the fit took ")
    assert proof.startswith("the certificate ")
    assert times_of(prove(fitted(certificate=None))).count(" s") == 1


def test_a_fit_is_kept_when_there_is_no_room_for_its_certificate(monkeypatch):
    monkeypatch.setattr(table, "GRAM_COPIES", 10**18)
    result = fitted()
    proven = prove(result)
    assert proven.components is result.components
    assert "the certificate takes about" in str(proven.certificate)
    assert pickle.loads(pickle.dumps(proven)).certificate == proven.certificate
