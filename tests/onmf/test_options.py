"""Options: the same defaults at every door, and nothing shared between fits."""

import inspect
from dataclasses import FrozenInstanceError

import pytest

import orthonmf
from orthonmf.kmeans.subroutines import SUBROUTINES
from orthonmf.onmf.algorithms import INITS, NAMES, SETTINGS
from orthonmf.onmf.options import DEFAULTS
from tests.onmf.small_points import some_options


def test_the_doors_agree_on_defaults_and_documents_on_names():
    for door in (orthonmf.factorize, orthonmf.OrthogonalNMF):
        parameters = inspect.signature(door).parameters
        assert {name: parameters[name].default for name in DEFAULTS} == DEFAULTS
    for name in (*NAMES, *SETTINGS, *INITS, *SUBROUTINES):
        assert f'"{name}"' in orthonmf.factorize.__doc__
    for name in (*NAMES, *SETTINGS):
        assert f'"{name}"' in orthonmf.OrthogonalNMF.__doc__


def test_options_stay_as_they_are_and_every_fit_has_a_checkpoint_of_its_own():
    one, other = some_options(3), some_options(3)
    assert one.checkpoint is not other.checkpoint
    assert not one.checkpoint.next_step().finished
    assert (one.n_groups, one.relaxation_seconds) == (0, 0.0)
    with pytest.raises(FrozenInstanceError):
        one.tol = 1.0
