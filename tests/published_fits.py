"""Fits by the published algorithm with a fixed seed, for tests of what holds of every fit."""

import warnings

import orthonmf


def fit(X, k=3, **options):
    return orthonmf.factorize(X, k, **{"algorithm": "paper", "random_state": 0, **options})


def quiet_fit(X, k=3, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", orthonmf.FewerComponentsWarning)
        return fit(X, k, **options)
