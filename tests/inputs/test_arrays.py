"""Arrays of objects and frames: numbers come through, everything else is refused with its place."""

import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import orthonmf
from orthonmf.errors import InvalidInputError, InvalidTypeError, OrthoNMFError
from orthonmf.inputs.arrays import as_array
from orthonmf.inputs.data import as_matrix

polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")

FRAMES = {"pandas": pd.DataFrame, "polars": polars.DataFrame, "pyarrow": pyarrow.table}
DAY = datetime.datetime(2020, 1, 1)
NO_NUMBERS = {
    "dates": [DAY, DAY],
    "times": [DAY.time(), DAY.time()],
    "durations": [datetime.timedelta(1), datetime.timedelta(2)],
    "numeric text": ["1", "2"],
    "text": ["a", "b"],
}


@pytest.mark.parametrize("others", [{}, {"x": [1, 2], "y": [1.5, 2.5]}])
@pytest.mark.parametrize("content", NO_NUMBERS)
@pytest.mark.parametrize("kind", FRAMES)
def test_a_column_that_holds_no_numbers_is_named(kind, content, others):
    frame = FRAMES[kind]({**others, "when, what": NO_NUMBERS[content]})
    with pytest.raises(InvalidInputError, match=r"text|dates or durations") as caught:
        as_matrix(frame)
    assert "column 'when, what'" in str(caught.value)
    assert "drop the column" in str(caught.value)


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([DAY, None]),
        pd.Series([DAY, DAY]).dt.tz_localize("UTC"),
        pd.Series([DAY, DAY]).dt.to_period("D"),
        pd.Series(["1", "2"], dtype="string"),
        pd.Series(["1", "2"], dtype="category"),
        pd.Series([1.0, "2"], dtype=object),
        pd.Series([1 + 2j, 1j]),
        pd.Series([np.timedelta64(5, "s"), 1], dtype=object),
    ],
)
def test_every_way_pandas_keeps_them_is_seen(column):
    with pytest.raises(OrthoNMFError, match="column 'odd'"):
        as_matrix(pd.DataFrame({"x": [1.0, 2.0], "odd": column}))


def test_two_columns_of_one_name_are_two_columns():
    frame = pd.DataFrame([[1.0, "a"], [2.0, "b"]], columns=["x", "x"])
    with pytest.raises(InvalidInputError, match="text in column 'x', row 0: 'a'"):
        as_matrix(frame)
    frame = pd.DataFrame([[1, 2], [3, 4]], columns=["x", "x"], dtype="Int64")
    np.testing.assert_array_equal(as_array(frame), [[1, 2], [3, 4]])


@pytest.mark.parametrize("kind", FRAMES)
def test_numbers_of_any_type_come_through_with_gaps_as_nan(kind):
    frame = FRAMES[kind]({"a": [1, None, 3], "b": [0.5, 1.5, None], "c": [True, False, True]})
    np.testing.assert_array_equal(as_array(frame), [[1, 0.5, 1], [np.nan, 1.5, 0], [3, np.nan, 1]])
    with pytest.raises(InvalidInputError, match=r"NaN.*X\[1, 0\]"):
        as_matrix(frame)


def test_pandas_columns_that_can_hold_na_come_through():
    frame = pd.DataFrame(
        {"a": pd.array([1, None], "Int64"), "b": pd.array([True, None], "boolean")}
    )
    np.testing.assert_array_equal(as_array(frame), [[1, 1], [np.nan, np.nan]])
    frame["c"] = pd.Series([Decimal("0.5"), Decimal(2)])
    np.testing.assert_array_equal(as_array(frame)[:, 2], [0.5, 2])


def test_a_frame_of_plain_numbers_gives_its_own_array():
    values = np.random.default_rng(0).random((5, 3))
    assert np.shares_memory(as_array(pd.DataFrame(values, copy=False)), values)


ATTRIBUTES = sorted({*dir(pd.DataFrame), *dir(polars.DataFrame), *dir(pyarrow.Table), "dtype"})


@pytest.mark.parametrize("kind", FRAMES)
def test_a_column_may_have_the_name_of_any_attribute(kind):
    X = np.random.default_rng(0).random((8, len(ATTRIBUTES)))
    frame = FRAMES[kind](dict(zip(ATTRIBUTES, X.T, strict=True)))
    np.testing.assert_array_equal(as_array(frame), X)
    assert orthonmf.factorize(frame, 2, random_state=0).feature_names == tuple(ATTRIBUTES)


@pytest.mark.parametrize("kind", FRAMES)
def test_every_door_takes_a_frame_with_a_column_called_dtype(kind, tmp_path):
    X = np.random.default_rng(0).random((8, 3))
    frame = FRAMES[kind](dict(zip(("dtype", "shape", "columns"), X.T, strict=True)))
    model = orthonmf.OrthogonalNMF(2, random_state=0).fit(frame)
    np.testing.assert_array_equal(model.transform(frame), model.transform(frame))
    result = orthonmf.certify(frame, model.labels_, method="svd")
    orthonmf.write_report(result, frame, tmp_path / "page.html")
    orthonmf.select_n_components(frame, [2], n_repetitions=1)
    result.plot(frame)
    graph = FRAMES[kind]({"dtype": [1, 0, 1], "columns": [0, 1, 1], "index": [1, 1, 0]})
    assert orthonmf.BipartiteCorrelationClustering().fit(graph).row_labels_.shape == (3,)


def objects(value):
    array = np.full((3, 2), 1.0, dtype=object)
    array[2, 1] = value
    return array


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (pd.NA, InvalidInputError, r"NaN at X\[2, 1\]: <NA>.*missing_values=numpy\.nan"),
        (None, InvalidInputError, r"NaN at X\[2, 1\]: None.*impute"),
        (10**400, InvalidInputError, r"too large for float64 at X\[2, 1\].*bits; divide"),
        (Fraction(10**400), InvalidInputError, r"too large for float64 at X\[2, 1\]"),
        ("7", InvalidTypeError, r"text at X\[2, 1\]: '7'; convert"),
        (b"7", InvalidTypeError, r"text at X\[2, 1\]"),
        (DAY, InvalidTypeError, r"dates or durations at X\[2, 1\]"),
        (pd.NaT, InvalidTypeError, r"dates or durations at X\[2, 1\]"),
        (np.timedelta64(5, "s"), InvalidTypeError, r"dates or durations at X\[2, 1\]"),
        (1j, InvalidTypeError, r"at X\[2, 1\]: argument must be"),
        ({"a": 1}, InvalidTypeError, r"at X\[2, 1\]: argument must be"),
    ],
)
def test_an_object_that_is_no_number_is_named_with_its_place(value, error, message):
    with pytest.raises(error, match=message) as caught:
        as_matrix(objects(value))
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("value", [3, 2.5, True, np.float32(2), Decimal("0.5"), Fraction(1, 4)])
def test_numbers_kept_as_objects_come_through(value):
    assert as_array(objects(value))[2, 1] == float(value)


@pytest.mark.parametrize(
    "thing",
    [{"a": [1.0]}, {1, 2}, (i for i in range(3)), len, object(), pd.DataFrame, np.ndarray],
)
def test_what_holds_no_matrix_is_named(thing):
    with pytest.raises(InvalidTypeError, match="which holds no matrix; pass an array"):
        as_matrix(thing)


def test_a_lazy_frame_is_named():
    with pytest.raises(InvalidTypeError, match=r"X is a LazyFrame.*X\.collect"):
        as_matrix(polars.LazyFrame({"a": [1.0]}))
