"""Parameters: numbers, choices, sizes, weights and generators, each checked once."""

from __future__ import annotations

import math
import numbers
import operator
import re
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np

from orthonmf.certificate import CERTIFICATE_SECONDS, CERTIFICATES
from orthonmf.errors import InvalidInputError, InvalidTypeError
from orthonmf.inputs.tensors import as_host_array
from orthonmf.typing import REAL, Array

UNDER_EVERY_LOSS = ("svd", "tight", None)  # the certificates that are not a user's own
ALIKE = 0.5  # share of letters in common, from which on one name may have been meant for another
UNITS = {"": 1, "B": 1}
for _power, _letter in enumerate("KMGT", start=1):
    UNITS |= {_letter: 1000**_power, f"{_letter}B": 1000**_power}
    UNITS |= {f"{_letter}I": 1024**_power, f"{_letter}IB": 1024**_power}


def as_choice(value: Any, choices: tuple[Any, ...], name: str) -> Any:
    """One of the given choices."""
    if not any(
        value is choice or (isinstance(value, str) and value == choice) for choice in choices
    ):
        listed = ", ".join(repr(choice) for choice in choices)
        meant = name_nearest(value, choices)
        raise InvalidInputError(f"{name} must be one of {listed}; got {value!r}{meant}")
    return value


def name_nearest(value: Any, choices: Iterable[Any]) -> str:
    """Which choice may have been meant, for the end of a message; empty if none is near."""
    names = [choice for choice in choices if isinstance(choice, str)]
    if not isinstance(value, str) or not value.strip():
        return ""
    wanted = value.strip().lower().replace("_", "-")
    nearest = [name for name in names if name.startswith(wanted) or wanted in name.split("-")]
    if len(nearest) != 1:
        nearest = get_close_matches(wanted, names, n=1, cutoff=ALIKE)
    return f"; did you mean {nearest[0]}?" if nearest else ""


def as_certificate(
    value: Any, seconds: Any, beta_loss: str, name: str = "certificate"
) -> tuple[str | None, float]:
    """The name of a certificate that there is under a loss, and the seconds it may take.

    None, for none, is a ``certificate`` but no ``method``.
    """
    limit_name = "certificate_seconds" if name == "certificate" else "seconds"
    choices = [kind for kind in CERTIFICATES if kind is not None or name == "certificate"]
    as_choice(value, tuple(choices), name)
    if value not in UNDER_EVERY_LOSS:
        from orthonmf.bounds.table import bounds_of  # most fits need no bounds

        bounds_of(value, beta_loss)
    limit = as_tolerance(seconds, limit_name)
    if value != "tight" and limit != CERTIFICATE_SECONDS:
        raise InvalidInputError(
            f"{limit_name}={seconds!r} would be ignored with {name}={value!r}; leave it out, or "
            f"use {name}='tight'"
        )
    return value, limit


def as_count(value: Any, name: str, least: int = 1) -> int:
    """An integer of at least ``least``; booleans and fractions are refused."""
    wanted = "a positive integer" if least == 1 else f"an integer of at least {least}"
    refusal = f"{name} must be {wanted}, got"
    if isinstance(value, bool | np.bool_):
        raise InvalidTypeError(f"{refusal} {value!r}")
    try:
        count = operator.index(value)
    except TypeError as error:
        raise InvalidTypeError(f"{refusal} {value!r}") from error
    if count < least:
        raise InvalidInputError(f"{refusal} {count}")
    return count


def as_sizes(n_components: Any, orthogonal: str) -> int | tuple[int, int]:
    """A number of components, or for both the numbers of groups of rows and of columns."""
    if not isinstance(n_components, tuple | list):
        return as_count(n_components, "n_components")
    if len(n_components) != 2:
        raise InvalidInputError(
            "n_components must be a positive integer or two of them, (groups of rows, groups of "
            f"columns); got {n_components!r}"
        )
    if orthogonal != "both":
        raise InvalidInputError(
            f"n_components={tuple(n_components)!r} needs orthogonal='both', which groups rows and "
            f"columns; with orthogonal={orthogonal!r} give one number"
        )
    rows, columns = (as_count(size, "n_components") for size in n_components)
    return rows, columns


def as_n_init(n_init: Any) -> int | str:
    """A positive integer, or "auto"."""
    if isinstance(n_init, str):
        return as_choice(n_init, ("auto",), "n_init") or "auto"
    return as_count(n_init, "n_init")


def as_n_jobs(n_jobs: Any) -> int | None:
    """None (all cores) or a positive integer; -1 also means all cores, as in scikit-learn."""
    if n_jobs is None or n_jobs == -1:
        return None
    return as_count(n_jobs, "n_jobs")


def as_tolerance(tol: Any, name: str = "tol") -> float:
    """A finite non-negative number."""
    if isinstance(tol, bool) or not isinstance(tol, numbers.Real):
        raise InvalidTypeError(f"{name} must be a number, got {tol!r}")
    number = float(tol)
    if not (math.isfinite(number) and number >= 0):
        raise InvalidInputError(f"{name} must be finite and not negative, got {tol!r}")
    return number


def as_bytes(size: Any, name: str = "max_memory") -> int | None:
    """A number of bytes from a number or a text; None stays None.

    "1G" and "1GB" are 10^9 bytes, "1Gi" and "1GiB" are 2^30.
    """
    if size is None:
        return None
    if isinstance(size, str):
        parts = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*([A-Za-z]*)\s*", size)
        if parts is None or parts[2].upper() not in UNITS:
            raise InvalidInputError(
                f"{name} must be a number of bytes or a text like '1GB' or '500 MiB'; got {size!r}"
            )
        size = int(float(parts[1]) * UNITS[parts[2].upper()])
    return as_count(size, name)


def as_weights(weights: Any, n: int, name: str) -> Array | None:
    """Finite non-negative weights (n,) in float64, at least one of them positive.

    One number is the weight of all; a tensor may lie on a device.
    """
    if weights is None:
        return None
    if isinstance(weights, numbers.Real):
        weights = np.full(n, float(weights))
    try:
        array = as_host_array(weights)
    except (ValueError, TypeError, RuntimeError) as error:
        raise InvalidInputError(f"{name} cannot be read as {n} numbers: {error}") from error
    if np.ma.is_masked(weights):
        raise InvalidInputError(f"{name} is masked in places; give those rows or columns weight 0")
    if array.dtype.kind not in REAL or array.ndim != 1 or len(array) != n:
        raise InvalidInputError(
            f"{name} must hold {n} real numbers in one dimension; got shape {array.shape} of "
            f"dtype {array.dtype}"
        )
    array = array.astype(np.float64)
    check_amounts(array, name)
    if not array.any():
        raise InvalidInputError(f"{name} is zero everywhere; at least one weight must be positive")
    return array


def check_amounts(array: Array, name: str) -> None:
    """Refuse numbers of any shape that are not finite or negative, and name the first."""
    bad = ~(np.isfinite(array) & (array >= 0))
    if bad.any():
        place = ", ".join(str(number) for number in np.argwhere(bad)[0])
        raise InvalidInputError(
            f"{name} must be finite and non-negative; {name}[{place}] = {array[bad][0]}"
        )


def may_be_missing(missing_values: Any) -> bool:
    """Whether NaN stands for a missing entry; None (never) and NaN are the two choices."""
    if missing_values is None:
        return False
    if isinstance(missing_values, numbers.Real) and math.isnan(missing_values):
        return True
    raise InvalidInputError(f"missing_values must be None or numpy.nan; got {missing_values!r}")


def draw_seed() -> int:
    """A seed that nobody chose, short enough to be typed."""
    return int(np.random.SeedSequence().generate_state(1)[0])


def as_seed(random_state: Any) -> int | None:
    """The seed that an integer is; for None one that is drawn now; None for other sources."""
    if random_state is None:
        return draw_seed()
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        return int(random_state)
    return None


def as_entropy(random_state: Any) -> int:
    """A seed, or the number that another source gives to draw random ones from."""
    generator = as_generator(random_state)  # refuses negative seeds
    seed = as_seed(random_state)
    return int(generator.integers(2**63)) if seed is None else seed


def as_path(path: Any, name: str) -> Path:
    """Where a file is or will be."""
    try:
        return Path(path)
    except TypeError as error:
        raise InvalidTypeError(f"{name} must be the name of a file, got {path!r}") from error


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
