"""Options: the same defaults at every door, and nothing shared between fits."""

import inspect

import orthonmf
from orthonmf.kmeans.subroutines import SUBROUTINES
from orthonmf.onmf.algorithms import INITS, NAMES, SETTINGS
from orthonmf.onmf.options import DEFAULTS


def test_the_doors_agree_on_defaults_and_documents_on_names():
    for door in (orthonmf.factorize, orthonmf.OrthogonalNMF):
        parameters = inspect.signature(door).parameters
        for name in DEFAULTS.keys() & parameters.keys() - {"n_init", "n_components", "checkpoint"}:
            assert parameters[name].default == DEFAULTS[name]
    for name in (*NAMES, *SETTINGS, *INITS, *SUBROUTINES):
        assert f'"{name}"' in orthonmf.factorize.__doc__
    for name in (*NAMES, *SETTINGS):
        assert f'"{name}"' in orthonmf.OrthogonalNMF.__doc__
