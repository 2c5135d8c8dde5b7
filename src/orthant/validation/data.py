"""The one door: raw input is checked here, once, and becomes a Matrix that code may trust."""

from __future__ import annotations

import math
import numbers
import operator
import re
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from orthant.engine.dask.chunks import is_dask_array
from orthant.engine.dask.source import DaskSource
from orthant.engine.executors import executor_for
from orthant.engine.masked import FilledSource, MaskedMatrix, has_missing
from orthant.engine.matrix import Matrix
from orthant.engine.scan import scan
from orthant.engine.sources import ArraySource, CsrSource, SlicedSource, Source
from orthant.errors import InvalidInputError, InvalidTypeError
from orthant.numerics.arrays import Array
from orthant.validation.conversion import as_real_array, refuse_dtype
from orthant.validation.sparse_structure import checked_csr


def as_matrix(
    X: Any,
    *,
    sample_weight: Any = None,
    feature_weight: Any = None,
    missing_values: Any = None,
    n_jobs: int | None = None,
    max_memory: int | str | None = None,
    columns: bool = False,
) -> Matrix:
    """Check a non-negative matrix and its weights, and make it ready for passes.

    ``columns`` says that lengths of columns will be needed: then no further read is spent on them.
    With ``missing_values=numpy.nan`` the result is a MaskedMatrix when any entry is NaN.

    Raises
    ------
    InvalidInputError, InvalidTypeError
        Naming the first offending position and what to do about it.
    """
    source = as_source(X)
    row_weights = as_weights(sample_weight, source.shape[0], "sample_weight")
    column_weights = as_weights(feature_weight, source.shape[1], "feature_weight")
    executor = executor_for(source, as_n_jobs(n_jobs), as_bytes(max_memory))
    masked = may_be_missing(missing_values) and has_missing(source, executor)
    values = FilledSource(source) if masked else source
    scanned = scan(values, executor, row_weights, column_weights, columns)
    if scanned.offense is not None:
        raise InvalidInputError(_offense_message(*scanned.offense))
    kind = MaskedMatrix if masked else Matrix
    return kind(source, executor, scanned)


def may_be_missing(missing_values: Any) -> bool:
    """Whether NaN stands for a missing entry; None (never) and NaN are the two choices."""
    if missing_values is None:
        return False
    if isinstance(missing_values, numbers.Real) and math.isnan(missing_values):
        return True
    raise InvalidInputError(f"missing_values must be None or numpy.nan; got {missing_values!r}")


def as_source(X: Any) -> Source:
    """A source for whatever holds a matrix; its structure is checked, its entries are not."""
    if issparse(X):
        return CsrSource(as_csr(X))
    if is_of_dask(X):
        return _dask_source(X)
    if is_sliceable(X):
        check_dimensions(X.shape)
        refuse_dtype(X.dtype)
        return SlicedSource(X)
    return ArraySource(as_array(X))


def is_of_dask(X: Any) -> bool:
    """Whether X is a collection of Dask; dask is not imported to find out."""
    return type(X).__module__.split(".")[0] == "dask"


def _dask_source(X: Any) -> DaskSource:
    if not is_dask_array(X):
        raise InvalidTypeError(
            f"X is a {type(X).__name__} of Dask, but a Dask array is needed; a dataframe becomes "
            "one with X.to_dask_array(lengths=True)"
        )
    check_dimensions(X.shape)
    refuse_dtype(X.dtype)
    return DaskSource(X, _checked_block)


def _checked_block(block: Any) -> Array | csr_array:
    """A block of a Dask array; what it holds is checked wherever it is computed."""
    if issparse(block):
        return as_csr(block)
    if isinstance(block, np.ndarray):
        return as_array(block)
    raise InvalidTypeError(
        f"blocks of X must be NumPy arrays or SciPy sparse ones; got {type(block).__name__}"
    )


def is_sliceable(X: Any) -> bool:
    """Whether X is stored elsewhere and gives slices of rows: it is not read as a whole then."""
    at_hand = isinstance(X, np.ndarray | np.generic) or hasattr(X, "__dlpack__")
    numeric = isinstance(getattr(X, "dtype", None), np.dtype)
    sized = isinstance(getattr(X, "shape", None), tuple)
    return numeric and sized and hasattr(X, "__getitem__") and not at_hand


def as_array(X: Any) -> Array:
    """An (n, m) array of real numbers; its entries are not checked."""
    if isinstance(X, np.matrix):
        raise InvalidTypeError("np.matrix is not supported; convert X with numpy.asarray(X)")
    if isinstance(X, np.ma.MaskedArray):
        if np.ma.is_masked(X):
            where = tuple(int(i) for i in np.argwhere(np.ma.getmaskarray(X))[0])
            raise InvalidInputError(
                f"X is a masked array with {int(np.ma.count_masked(X))} masked entries, the first "
                f"at {_place(*where)}; fill them, for instance with X.filled(0)"
            )
        X = X.data
    array = as_real_array(X)
    check_dimensions(array.shape)
    return array


def check_dimensions(shape: tuple[int, ...]) -> None:
    """Refuse what is not a matrix with rows and columns."""
    if len(shape) != 2:
        raise InvalidInputError(
            f"Expected a 2-D matrix, got {len(shape)} dimension(s). Reshape your data with "
            "X.reshape(-1, 1) if it is one feature, X.reshape(1, -1) if it is one sample"
        )
    check_shape(shape)


def as_csr(X: Any) -> csr_array:
    """A canonical-enough CSR array of a sparse matrix; the input is never modified.

    Structure comes before all else: a corrupt index would make every later step read foreign
    memory.
    """
    if X.ndim != 2:
        raise InvalidInputError(f"Expected a 2-D matrix, got {X.ndim} dimension(s)")
    check_shape(X.shape)
    refuse_dtype(X.dtype)
    rows = checked_csr(X)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def check_shape(shape: tuple[int, ...]) -> None:
    """Refuse a matrix without rows or without columns, in scikit-learn's words."""
    for count, name in zip(shape, ("sample", "feature"), strict=True):
        if count == 0:
            raise InvalidInputError(
                f"Found array with 0 {name}(s) (shape={shape}) while a minimum of 1 is required."
            )


def _offense_message(row: int, column: int, value: float) -> str:
    place = _place(row, column)
    if math.isnan(value):
        return (
            f"Input X contains NaN, the first at {place}. Pass missing_values=numpy.nan to leave "
            "missing entries out of the error (over samples or features), or impute them, for "
            "instance with sklearn.impute.SimpleImputer"
        )
    if math.isinf(value) and value > 0:
        return f"Input X contains infinity, the first at {place}. Cap or remove such values"
    return (
        f"Negative values in data: the first is {place} = {value:g}. The factorization needs a "
        "non-negative matrix; clip it with numpy.maximum(X, 0) or shift it to start at zero"
    )


def _place(row: int, column: int) -> str:
    return f"X[{row}, {column}]"


def as_weights(weights: Any, n: int, name: str) -> Array | None:
    """Finite non-negative weights (n,) in float64, at least one of them positive."""
    if weights is None:
        return None
    if isinstance(weights, numbers.Real):
        weights = np.full(n, float(weights))
    array = np.asarray(weights)
    if array.dtype.kind not in "biuf" or array.ndim != 1 or len(array) != n:
        raise InvalidInputError(
            f"{name} must hold {n} real numbers in one dimension; got shape {array.shape} of "
            f"dtype {array.dtype}"
        )
    array = array.astype(np.float64)
    bad = ~(np.isfinite(array) & (array >= 0))
    if bad.any():
        first = int(bad.argmax())
        raise InvalidInputError(
            f"{name} must be finite and non-negative; {name}[{first}] = {array[first]}"
        )
    if not array.any():
        raise InvalidInputError(f"{name} is zero everywhere; at least one weight must be positive")
    return array


def as_n_components(n_components: Any, name: str = "n_components") -> int:
    """A positive integer; booleans and fractions are refused."""
    if isinstance(n_components, bool | np.bool_):
        raise InvalidTypeError(f"{name} must be a positive integer, got {n_components!r}")
    try:
        count = operator.index(n_components)
    except TypeError as error:
        raise InvalidTypeError(
            f"{name} must be a positive integer, got {n_components!r}"
        ) from error
    if count < 1:
        raise InvalidInputError(f"{name} must be a positive integer, got {count}")
    return count


def as_directions(directions: Any, k: int, n_features: int) -> Array:
    """Up to k non-negative, non-zero rows of ``n_features`` finite numbers, in float64."""
    try:
        source = as_source(directions)
    except (InvalidInputError, InvalidTypeError) as error:
        raise type(error)(f"seeding cannot be used as directions: {error}") from error
    rows = source.rows(np.arange(source.shape[0]))
    if source.shape[0] > k or source.shape[1] != n_features:
        raise InvalidInputError(
            f"seeding must hold at most {k} rows of {n_features} numbers; got shape {source.shape}"
        )
    bad = ~(np.isfinite(rows) & (rows >= 0))
    if bad.any():
        row, column = (int(i) for i in np.argwhere(bad)[0])
        raise InvalidInputError(
            f"seeding must be finite and non-negative; seeding[{row}, {column}] = "
            f"{rows[row, column]}"
        )
    empty = np.flatnonzero(~rows.any(axis=1))
    if len(empty):
        raise InvalidInputError(f"seeding[{int(empty[0])}] is zero everywhere")
    return rows


def as_n_jobs(n_jobs: Any) -> int | None:
    """None (all cores) or a positive integer; -1 also means all cores, as in scikit-learn."""
    if n_jobs is None or n_jobs == -1:
        return None
    return as_n_components(n_jobs, "n_jobs")


UNITS = {"": 1, "B": 1}
for _power, _letter in enumerate("KMGT", start=1):
    UNITS |= {_letter: 1000**_power, f"{_letter}B": 1000**_power}
    UNITS |= {f"{_letter}I": 1024**_power, f"{_letter}IB": 1024**_power}


def as_bytes(size: Any, name: str = "max_memory") -> int | None:
    """A number of bytes from a number or a text; None stays None.

    "1G" and "1GB" are 10^9 bytes, "1Gi" and "1GiB" are 2^30.
    """
    if size is None:
        return None
    if isinstance(size, str):
        found = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*([A-Za-z]*)\s*", size)
        if found is None or found[2].upper() not in UNITS:
            raise InvalidInputError(
                f"{name} must be a number of bytes or a text like '1GB' or '500 MiB'; got {size!r}"
            )
        size = int(float(found[1]) * UNITS[found[2].upper()])
    return as_n_components(size, name)


def as_tolerance(tol: Any, name: str = "tol") -> float:
    """A finite non-negative number."""
    if isinstance(tol, bool) or not isinstance(tol, numbers.Real):
        raise InvalidTypeError(f"{name} must be a number, got {tol!r}")
    number = float(tol)
    if not (math.isfinite(number) and number >= 0):
        raise InvalidInputError(f"{name} must be finite and not negative, got {tol!r}")
    return number


def as_choice(value: Any, choices: tuple[Any, ...], name: str) -> Any:
    """One of the given choices."""
    if not any(
        value is choice or (isinstance(value, str) and value == choice) for choice in choices
    ):
        listed = ", ".join(repr(choice) for choice in choices)
        raise InvalidInputError(f"{name} must be one of {listed}; got {value!r}")
    return value


def as_generator(random_state: Any) -> np.random.Generator:
    """A NumPy generator from a seed, a Generator, a RandomState, a SeedSequence or None."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**31, size=4, dtype=np.int64))
    if random_state is np.random:
        return np.random.default_rng(np.random.randint(0, 2**31, size=4))  # noqa: NPY002
    if isinstance(random_state, bool | float | str):
        raise InvalidTypeError(f"random_state cannot be {random_state!r}; pass an integer seed")
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise InvalidTypeError(f"random_state cannot be {random_state!r}: {error}") from error
