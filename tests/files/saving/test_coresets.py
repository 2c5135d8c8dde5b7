"""The rows kept by partial_fit, as plain values and arrays and as rows again."""

import json

import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf.errors import InvalidInputError
from orthonmf.files.saving.content import Content, Packed
from orthonmf.files.saving.coresets import pack_coreset, unpack_coreset
from orthonmf.onmf.coreset import Coreset

ROWS = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 0.5], [0.0, 3.0, 0.0]])
KEY = (2**63 - 1, 5)


def kept(form=np.asarray, dtype=np.float64):
    return Coreset(form(ROWS.astype(dtype)), np.array([1.0, 2.5, 1.0]), 40, 3, KEY)


def packed(coreset):
    """The header, as JSON gives it back, and the arrays of a coreset."""
    values, arrays = pack_coreset(coreset)
    return json.loads(json.dumps({"coreset": values})), arrays


def unpacked(values, arrays, n_features=3):
    return unpack_coreset(Content(Packed("kept.npz", {"content": values}, arrays)), n_features)


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_weights_counts_and_the_key_come_back_as_they_were(form, dtype):
    coreset = kept(form, dtype)
    again = unpacked(*packed(coreset))
    assert type(again.rows) is type(coreset.rows)
    assert again.rows.dtype == dtype
    dense = again.rows if form is np.asarray else again.rows.toarray()
    np.testing.assert_array_equal(dense, ROWS)
    np.testing.assert_array_equal(again.weights, coreset.weights)
    assert (again.n_seen, again.n_reductions, again.key) == (40, 3, KEY)


def test_no_coreset_is_nothing_and_older_files_do_not_speak_of_it():
    assert pack_coreset(None) == (None, {})
    assert unpacked({"coreset": None}, {}) is None
    assert unpacked({}, {}) is None


def set_array(name, value):
    return lambda values, arrays: arrays.update({name: value(arrays[name])})


def set_value(**changed):
    return lambda values, arrays: values["coreset"].update(changed)


@pytest.mark.parametrize(
    ("form", "change"),
    [
        (csr_array, set_array("coreset_indices", lambda found: found + 10**6)),
        (csr_array, set_array("coreset_indices", lambda found: found - 1)),
        (csr_array, set_array("coreset_indices", lambda found: found.astype(float))),
        (csr_array, set_array("coreset_indptr", lambda found: found[::-1])),
        (csr_array, set_array("coreset_indptr", lambda found: found[:-1])),
        (csr_array, set_array("coreset_data", lambda found: -found)),
        (csr_array, set_array("coreset_data", lambda found: found[1:])),
        (np.asarray, set_array("coreset_rows", lambda found: found[:, 1:])),
        (np.asarray, set_array("coreset_rows", lambda found: found[None])),
        (np.asarray, set_array("coreset_rows", lambda found: found * np.inf)),
        (np.asarray, set_array("coreset_weights", lambda found: found * np.nan)),
        (np.asarray, set_array("coreset_weights", lambda found: found[1:])),
        (np.asarray, set_array("coreset_weights", lambda found: -found)),
        (np.asarray, set_array("coreset_weights", lambda found: 0 * found)),
        (np.asarray, set_value(n_seen=-1)),
        (np.asarray, set_value(n_reductions=1.5)),
        (np.asarray, set_value(key=["a"])),
        (np.asarray, set_value(key=["-1"])),
        (np.asarray, set_value(key=["1" * 20])),
        (np.asarray, set_value(key=[3])),
        (np.asarray, set_value(key=["\u0663"])),  # a digit, but not one of ours
        (np.asarray, lambda values, arrays: values.update(coreset=[1])),
        (np.asarray, lambda values, arrays: values["coreset"].pop("n_seen")),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_damaged_coresets_are_refused(form, change):
    values, arrays = packed(kept(form))
    change(values, arrays)
    with pytest.raises(InvalidInputError, match="is damaged"):
        unpacked(values, arrays)


def test_rows_of_another_number_of_features_are_refused():
    for form in (np.asarray, csr_array):
        with pytest.raises(InvalidInputError, match="is damaged"):
            unpacked(*packed(kept(form)), n_features=2)
