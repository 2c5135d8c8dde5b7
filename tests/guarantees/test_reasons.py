"""Where nothing is promised it is said why, and which option would promise something."""

import numpy as np
import pytest

import orthonmf
from orthonmf.datasets import make_planted

DENSE = make_planted(700, 12, 3, 0.5, random_state=0).X
HOLES = np.where(np.arange(DENSE.size).reshape(DENSE.shape) % 50 == 7, np.nan, DENSE)
PAPER = {"algorithm": "paper"}


@pytest.mark.parametrize(
    ("X", "options", "why", "instead"),
    [
        (DENSE, {"init": "k-means||"}, "in rounds", {"init": "lines"}),
        (DENSE, {"init": "k-means||"}, "always holds", {"init": "local-search"}),
        (DENSE, {"init": DENSE[:3]}, "given, not drawn", {"init": "lines"}),
        (DENSE, {**PAPER, "kmeans": "k-means||"}, "in rounds", PAPER),
        (DENSE, {"beta_loss": "kullback-leibler"}, "divergence", {"beta_loss": "frobenius"}),
    ],
)
def test_the_reason_names_an_option_that_promises_something(X, options, why, instead):
    result = orthonmf.factorize(X, 3, certificate=None, random_state=0, **options)
    assert result.promise.ratio is None
    assert why in result.promise.reason
    assert why in str(result.certificate)
    for name, value in instead.items():
        assert f"{name}={value!r}" in result.promise.reason
    promised = orthonmf.factorize(X, 3, certificate=None, random_state=0, **instead)
    assert promised.promise.ratio is not None


@pytest.mark.parametrize(
    ("X", "options", "why"),
    [
        (DENSE.astype(np.float32), {}, "float64"),
        (HOLES, {"missing_values": np.nan}, "impute them"),
        (np.kron(np.eye(3), np.ones((4, 2))), {}, "level of rounding"),
    ],
)
def test_the_reason_names_what_the_data_lack(X, options, why):
    result = orthonmf.factorize(X, 3, certificate=None, random_state=0, **options)
    assert result.promise.ratio is None
    assert why in result.promise.reason


@pytest.mark.parametrize("init", ["auto", "k-means||"])
def test_a_certificate_says_it_next_to_what_is_proven(init):
    result = orthonmf.factorize(DENSE, 3, init=init, random_state=0)
    said = "the algorithm promises" if init == "auto" else "nothing is promised: directions were"
    assert said in str(result.certificate)
    assert "proven by its singular values" in str(result.certificate)
