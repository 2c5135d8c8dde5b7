"""Values and arrays are handed out as they were written, or refused with their name."""

import json
import math

import numpy as np
import pytest

from orthonmf.certificate import Certificate, Promise
from orthonmf.errors import InvalidInputError
from orthonmf.files.saving.content import Content, Packed, plain, unplain


def content(arrays=None, **values):
    return Content(Packed("some.npz", {"content": values}, arrays or {}))


@pytest.mark.parametrize(
    ("read", "value", "wanted"),
    [
        (Content.number, 2, 2.0),
        (Content.number, 0.0, 0.0),
        (Content.numbers, [1, 0.5], (1.0, 0.5)),
        (Content.numbers, [], ()),
        (Content.count, 0, 0),
        (Content.sizes, 3, 3),
        (Content.sizes, [3, 0], (3, 0)),
        (Content.text, "", ""),
        (Content.texts, ["a", ""], ("a", "")),
    ],
)
def test_good_values_come_as_what_they_stand_for(read, value, wanted):
    found = read(content(one=value), "one")
    assert found == wanted
    assert type(found) is type(wanted)


@pytest.mark.parametrize(
    ("read", "value"),
    [
        (Content.number, True),
        (Content.number, -1e-300),
        (Content.number, math.nan),
        (Content.number, math.inf),
        (Content.number, None),
        (Content.numbers, 1.0),
        (Content.numbers, [1.0, True]),
        (Content.numbers, [1.0, -1.0]),
        (Content.count, 1.0),
        (Content.count, False),
        (Content.count, -1),
        (Content.sizes, -1),
        (Content.sizes, [1]),
        (Content.sizes, [1, 2, 3]),
        (Content.sizes, [1, -2]),
        (Content.sizes, [1, 2.0]),
        (Content.sizes, [True, 2]),
        (Content.text, None),
        (Content.texts, "ab"),
        (Content.texts, ["a", 1]),
        (Content.inner, []),
    ],
)
def test_values_of_another_kind_are_refused_with_their_name(read, value):
    with pytest.raises(InvalidInputError, match=r"some\.npz is damaged: one"):
        read(content(one=value), "one")
    with pytest.raises(InvalidInputError, match="it lacks 'one'"):
        read(content(), "one")


def test_names_are_as_many_as_there_are_things_or_none_at_all():
    assert content(one=["a", "b"]).names("one", 2) == ("a", "b")
    assert content(one=None).names("one", 2) is None
    assert content().names("one", 2) is None
    with pytest.raises(InvalidInputError, match="holds 2 names for 3"):
        content(one=["a", "b"]).names("one", 3)
    assert content(one=["a", 1, 2.5]).scalars("one", 3) == ["a", 1, 2.5]
    assert content(one=None).scalars("one", 3) is None
    for wrong in (["a"], ["a", None, "b"], ["a", [1], "b"]):
        with pytest.raises(InvalidInputError, match="does not hold 3 texts or numbers"):
            content(one=wrong).scalars("one", 3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_amounts_keep_their_dtype_and_fit_their_shape(dtype):
    array = np.array([[0.0, 2.0], [1.0, 3.0], [0.0, 0.0]], dtype=dtype)
    held = content({"one": array})
    for shape in ((3, 2), (None, 2), (3, None), (None, None)):
        np.testing.assert_array_equal(held.amounts("one", shape), array)
        assert held.amounts("one", shape).dtype == dtype
    for shape in ((2, 2), (3,), (3, 2, 1), (None, 3)):
        with pytest.raises(InvalidInputError, match="one has shape"):
            held.amounts("one", shape)


@pytest.mark.parametrize("wrong", [np.float16, np.int64, np.bool_, np.complex128])
def test_amounts_are_of_two_dtypes_alone(wrong):
    with pytest.raises(InvalidInputError, match="dtype"):
        content({"one": np.ones(3, dtype=wrong)}).amounts("one", (3,))


@pytest.mark.parametrize("value", [np.nan, np.inf, -1.0])
def test_amounts_are_finite_and_not_negative(value):
    with pytest.raises(InvalidInputError, match="NaN, infinite or negative"):
        content({"one": np.array([0.0, value])}).amounts("one", (2,))


def test_labels_lie_between_the_lowest_and_the_number_of_groups():
    held = content({"one": np.array([-1, 0, 2], dtype=np.int32), "none": np.zeros(0, dtype=int)})
    assert held.labels("one", 3, 3).tolist() == [-1, 0, 2]
    assert held.labels("one", None, 3).dtype == np.int32
    assert held.labels("none", 0, 0).size == 0
    for size, k, lowest in ((3, 2, -1), (3, 3, 0), (2, 3, -1)):
        with pytest.raises(InvalidInputError, match="one h"):
            held.labels("one", size, k, lowest)
    for wrong in (np.ones(3), np.ones(3, dtype=np.uint8), np.ones((3, 1), dtype=int)):
        with pytest.raises(InvalidInputError, match="one has shape"):
            content({"one": wrong}).labels("one", 3, 3)


@pytest.mark.parametrize(("dtype", "off"), [(np.float32, 1e-3), (np.float64, 1e-6)])
def test_components_are_of_length_one_up_to_the_rounding_of_their_dtype(dtype, off):
    rows = np.array([[0.6, 0.8], [1.0, 0.0]], dtype=dtype)
    assert content({"components": rows}).components() is not None
    assert content({"components": np.zeros((0, 4))}).components().shape == (0, 4)
    with pytest.raises(InvalidInputError, match="not of length 1"):
        content({"components": rows * dtype(1 + off)}).components()


def test_a_setting_is_one_of_three():
    for one in ("samples", "features", "both"):
        assert content(orthogonal=one).read_setting() == one
    with pytest.raises(InvalidInputError, match="orthogonal is 'rows'"):
        content(orthogonal="rows").read_setting()


def test_certificates_and_promises_come_back_from_json():
    certificate = Certificate(0.25, 1.5, "a bound", 18.0, "expected", seconds=0.1, upper_bound=0.3)
    promise = Promise(18.0, "expected", "")
    text = json.dumps({"certificate": plain(certificate), "promise": plain(promise)})
    held = content(**json.loads(text))
    assert held.certificate("certificate") == certificate
    assert held.promise("promise") == promise
    # Older files have the promise in the certificate alone.
    assert content(certificate=plain(certificate)).promise("promise") == promise
    assert content(promise=plain(Promise(reason="why"))).promise("promise") == Promise(reason="why")


@pytest.mark.parametrize(
    "value",
    [None, True, 3, 0.1, "text", [1, [2, "a"]], {"a": {"b": None}}, math.inf, -math.inf],
)
def test_plain_values_come_back_through_json(value):
    assert unplain(json.loads(json.dumps(plain(value), allow_nan=False))) == value


def test_numbers_of_numpy_are_plain_nan_is_kept_and_code_is_refused():
    assert type(plain(np.float64(0.5))) is float
    assert type(plain(np.int32(3))) is int
    assert plain((1, np.bool_(True))) == [1, True]
    assert math.isnan(unplain(json.loads(json.dumps(plain(np.nan), allow_nan=False))))
    for value in (print, object(), np.ones(2), {1, 2}):
        with pytest.raises(TypeError, match="not a plain value"):
            plain(value)


@pytest.mark.parametrize("given", [None, [], "text", 3])
def test_a_header_without_content_is_refused(given):
    with pytest.raises(InvalidInputError, match="it has no content"):
        Content(Packed("some.npz", {"content": given}, {}))


def test_an_array_is_known_by_its_name():
    held = content({"one": np.ones(2)}, two=2)
    assert held.has_array("one")
    assert not held.has_array("two")
    assert held.items() == {"two": 2}
