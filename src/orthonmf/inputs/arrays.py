"""From what people hold numbers in (arrays, lists, frames, objects) to an array of real numbers.

Nothing is guessed: text, dates and durations are refused with their place even where NumPy would
make numbers of them.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from mmap import mmap
from typing import Any

import narwhals as nw
import numpy as np

from orthonmf.errors import InvalidInputError, InvalidTypeError, SourceChangedError
from orthonmf.typing import REAL, Array

LONGEST_SHOWN = 40
# Types whose every value is a number; others are looked at one by one.
PLAIN_NUMBERS = frozenset((int, float, bool, np.bool_, Decimal, Fraction))
PLAIN_NUMBERS |= {np.dtype(code).type for code in np.typecodes["AllInteger"] + "efd"}
DATES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)
Where = Callable[[tuple[int, ...]], str]  # how a message says where a position is


def as_array(X: Any) -> Array:
    """An (n, m) array of real numbers; its entries are not checked."""
    if isinstance(X, np.matrix):
        raise InvalidTypeError("np.matrix is not supported; convert X with numpy.asarray(X)")
    if isinstance(X, np.ma.MaskedArray):
        if np.ma.is_masked(X):
            where = tuple(int(i) for i in np.argwhere(np.ma.getmaskarray(X))[0])
            raise InvalidInputError(
                f"X is a masked array with {int(np.ma.count_masked(X))} masked entries, the first "
                f"at X[{where[0]}, {where[1]}]; fill them, for instance with X.filled(0)"
            )
        X = X.data
    array = X if is_plain(X) else _as_real_array(X)
    check_dimensions(array.shape)
    refuse_cut_map(array)
    return array


def refuse_cut_map(array: Any) -> None:
    """Refuse a memory map whose file was cut since: reading beyond its end kills the process.

    A file that is cut while it is read cannot be protected from.
    """
    base = array
    while isinstance(base, np.ndarray):
        base = base.base
    if not isinstance(base, mmap):
        return
    try:
        size = base.size()
    except OSError:  # it has no file
        return
    if size < len(base):
        raise SourceChangedError(
            f"the file of the memory map X holds {size:,} bytes now, fewer than the {len(base):,} "
            "that were mapped: it was cut or replaced; map it again, or read it into memory"
        )


def is_plain(X: Any) -> bool:
    """Whether X is an array of NumPy, and none of its subclasses, that holds plain numbers."""
    return type(X) is np.ndarray and X.dtype.type in PLAIN_NUMBERS


def _as_real_array(X: Any) -> Array:
    """An array of real numbers of at most 64 bits, of any number of dimensions."""
    if X is None or isinstance(X, str | bytes):
        raise InvalidInputError(f"Expected a 2-D matrix, got {_show(X)}")
    frame = None if isinstance(X, np.ndarray) else as_frame(X)
    if frame is not None:
        return _from_frame(frame, column_names(X, frame))
    try:
        array = X if isinstance(X, np.ndarray) else np.asarray(X)
    except (ValueError, TypeError, OverflowError, RuntimeError) as error:
        raise InvalidInputError(f"X cannot be read as a matrix: {error}") from error
    if array.ndim == 0 and array.dtype.kind == "O":
        lazy = " (X.collect())" if nw.dependencies.is_polars_lazyframe(X) else ""
        raise InvalidTypeError(
            f"X is a {type(X).__name__}, which holds no matrix; pass an array, a frame{lazy}, a "
            "list of rows or a sparse matrix"
        )
    if array.dtype.kind == "O":
        return _from_objects(array, lambda place: f"at X[{', '.join(map(str, place))}]")
    refuse_dtype(array.dtype)
    return array


def check_dimensions(shape: tuple[int, ...]) -> None:
    """Refuse what is not a matrix with rows and columns."""
    if len(shape) != 2:
        raise InvalidInputError(
            f"Expected a 2-D matrix, got {len(shape)} dimension(s). Reshape your data with "
            "X.reshape(-1, 1) if it is one feature, X.reshape(1, -1) if it is one sample"
        )
    for count, name in zip(shape, ("sample", "feature"), strict=True):
        if count == 0:
            # In scikit-learn's words.
            raise InvalidInputError(
                f"Found array with 0 {name}(s) (shape={shape}) while a minimum of 1 is required."
            )


def refuse_dtype(dtype: np.dtype, where: str = "") -> None:
    """Refuse a dtype that holds no real numbers of at most 64 bits."""
    kind, place = dtype.kind, f" {where}" if where else ""
    if kind == "c":
        raise InvalidInputError(
            f"Complex data not supported: X is complex{place}; take the real part or the modulus"
        )
    if kind in "UST":
        raise InvalidTypeError(
            f"X holds text{place}; convert it to numbers first, numerals with X.astype(float), "
            "documents with sklearn.feature_extraction.text.TfidfVectorizer"
        )
    if kind in "mM":
        raise InvalidTypeError(
            f"X holds dates or durations{place}; they are not non-negative amounts"
        )
    if kind not in REAL:
        raise InvalidTypeError(f"X has dtype {dtype}{place}, which holds no real numbers")
    if kind == "f" and dtype.itemsize > 8:
        raise InvalidTypeError(
            f"X has dtype {dtype}{place}; computations run in float64, so convert it knowingly "
            "with X.astype(numpy.float64)"
        )


def _from_objects(array: Array, where: Where, *, may_miss: bool = False) -> Array:
    """Numbers kept as Python objects, in float64; with ``may_miss`` None and NA become NaN."""
    if PLAIN_NUMBERS.issuperset(map(type, array.flat)):
        with suppress(OverflowError):
            return array.astype(np.float64)
    numbers = np.empty(array.shape)
    for place, value in np.ndenumerate(array):
        numbers[place] = _number(value, place, where, may_miss)
    return numbers


def _number(value: Any, place: tuple[int, ...], where: Where, may_miss: bool) -> float:
    """A value in float64, or the error that says why it is none."""
    if value is None or type(value).__name__ == "NAType":  # pandas.NA, pandas not imported
        if may_miss:
            return np.nan
        raise InvalidInputError(
            f"Input X contains NaN {where(place)}: {value}; impute it, or write numpy.nan there "
            "and pass missing_values=numpy.nan"
        )
    for types, dtype in ((str | bytes, "U"), (DATES, "M8[s]")):
        if isinstance(value, types):
            refuse_dtype(np.dtype(dtype), f"{where(place)}: {_show(value)}")
    try:
        return float(value)
    except OverflowError:
        raise InvalidInputError(
            f"X holds a number too large for float64 {where(place)}: {_show(value)}; "
            "divide X by a power of ten first"
        ) from None
    except (TypeError, ValueError) as error:
        # scikit-learn's wording for the same offense, so that users recognize it.
        raise InvalidTypeError(
            f"X cannot be read as numbers {where(place)}: argument must be {error}"
        ) from error


def _show(value: Any) -> str:
    """A value in a message, cut where it is long; numbers of many digits are not written out."""
    if isinstance(value, int) and value.bit_length() > 4 * LONGEST_SHOWN:
        return f"an integer of {value.bit_length()} bits"
    text = repr(value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 3]}..."


def as_frame(X: Any) -> nw.DataFrame[Any] | None:
    """A frame of pandas, polars, Arrow and their like, columns by name; None for all else.

    Frames are known by their class: a pandas frame asked for an attribute it does not have answers
    with the column of that name. Where two columns have one name they are numbered instead.
    """
    if not nw.dependencies.is_into_dataframe(X):
        return None
    try:
        return nw.from_native(X, eager_only=True)
    except nw.exceptions.DuplicateError:  # pandas alone has such frames
        return nw.from_native(X.set_axis(range(X.shape[1]), axis=1), eager_only=True)


def column_names(X: Any, frame: nw.DataFrame[Any]) -> Sequence[Any]:
    """The names of the columns of X, which ``frame`` holds; two may be the same."""
    return X.columns if nw.dependencies.is_pandas_like_dataframe(X) else frame.columns


def _from_frame(frame: nw.DataFrame[Any], names: Sequence[Any]) -> Array:
    """All columns side by side; missing values are NaN.

    A frame of plain numbers gives its own array. Otherwise columns are converted one by one:
    as a whole a frame would make numbers of text and of dates.
    """
    if all(dtype.is_numeric() for dtype in frame.schema.values()):
        array = frame.to_numpy()
        if array.dtype.kind in REAL:
            return array
    columns = [_from_column(name, frame[:, place].to_numpy()) for place, name in enumerate(names)]
    return np.stack(columns, axis=1) if columns else np.zeros(frame.shape)


def _from_column(name: Any, values: Array) -> Array:
    """One column of numbers; what is none is refused by the name of the column."""
    column_is = f"in column {_show(name)}"
    try:
        if values.dtype.kind == "O":
            return _from_objects(values, lambda row: f"{column_is}, row {row[0]}", may_miss=True)
        refuse_dtype(values.dtype, column_is)
    except InvalidTypeError as error:
        raise InvalidInputError(f"{error}; drop the column, or make numbers of it") from error
    return values
