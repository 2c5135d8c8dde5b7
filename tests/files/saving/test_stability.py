"""A Stability in a file: back in every bit, and nothing that contradicts itself."""

from dataclasses import fields

import numpy as np
import pytest

import orthonmf
from orthonmf import load, save
from orthonmf.errors import InvalidInputError
from tests.files.saving.test_save_and_load import SETTINGS, factorized, parts_of, put_together


def stability_of(orthogonal="both", resample="coordinates"):
    result, X = factorized(orthogonal)
    return result.refit(X, 3, resample, random_state=0)


@pytest.mark.parametrize("resample", ["coordinates", None])
@pytest.mark.parametrize("orthogonal", SETTINGS)
def test_it_comes_back_equal_in_every_bit(tmp_path, orthogonal, resample):
    stability = stability_of(orthogonal, resample)
    save(stability, tmp_path / "stability.npz")
    again = load(tmp_path / "stability.npz")
    assert type(again) is orthonmf.Stability
    assert repr(again) == repr(stability)
    for side in ("samples", "features"):
        one, other = getattr(stability, side), getattr(again, side)
        assert (one is None) == (other is None)
        for field in fields(one) if one is not None else ():
            np.testing.assert_array_equal(getattr(one, field.name), getattr(other, field.name))
    assert (again.n_refits, again.resample, again.random_state) == (3, resample, 0)


def more_votes(arrays):
    arrays["samples_counts"] += 1


def votes_of_none(arrays):
    arrays["samples_counts"][4, 0] = 1  # a row without entries


def large_share(arrays):
    arrays["features_jaccard"] += 1.0


def other_size(arrays):
    arrays["features_counts"] = arrays["features_counts"][:, :1]


@pytest.mark.parametrize("damage", [more_votes, votes_of_none, large_share, other_size])
def test_arrays_that_contradict_each_other_are_refused(tmp_path, damage):
    path = tmp_path / "stability.npz"
    save(stability_of(), path)
    header, arrays = parts_of(path)
    damage(arrays)
    put_together(path, header, arrays)
    with pytest.raises(InvalidInputError, match="is damaged"):
        load(path)


@pytest.mark.parametrize(
    ("name", "value"),
    [("n_refits", 0), ("resample", "rows"), ("random_state", -1), ("samples", {"agreement": 2})],
)
def test_values_that_no_refits_have_are_refused(tmp_path, name, value):
    path = tmp_path / "stability.npz"
    save(stability_of(), path)
    header, arrays = parts_of(path)
    header["content"][name] = value
    put_together(path, header, arrays)
    with pytest.raises(InvalidInputError, match="is damaged"):
        load(path)
