"""What commands do about certificates: compute them, time them, and lose no fit over them."""

import pickle

import numpy as np

import orthonmf
from orthonmf.bounds import table
from orthonmf.cli.certificates import prove


def fitted(**options):
    return orthonmf.factorize(
        np.random.default_rng(0).random((20, 8)), 2, random_state=0, **options
    )


def test_a_fit_is_kept_when_there_is_no_room_for_its_certificate(monkeypatch):
    monkeypatch.setattr(table, "GRAM_COPIES", 10**18)
    result = fitted()
    proven = prove(result)
    assert proven.components is result.components
    assert "the certificate takes about" in str(proven.certificate)
    assert pickle.loads(pickle.dumps(proven)).certificate == proven.certificate
