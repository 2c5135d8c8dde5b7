"""``certify``: how good a partition is that someone else found."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from numbers import Complex, Real
from typing import Any, cast

import numpy as np

from orthonmf.certificate import CERTIFICATE_SECONDS, Promise
from orthonmf.engine.executors import one_blas_thread
from orthonmf.engine.losses import FROBENIUS, LOSSES
from orthonmf.engine.matrix import Matrix
from orthonmf.errors import InvalidInputError, MissingEntryError
from orthonmf.evidence import Pending
from orthonmf.factorization import Factorization
from orthonmf.inputs.data import Data
from orthonmf.inputs.names import names_of
from orthonmf.inputs.parameters import (
    as_certificate,
    as_choice,
    as_count,
    as_sizes,
    as_weights,
)
from orthonmf.onmf.options import Options
from orthonmf.onmf.refit import refit_labels
from orthonmf.typing import Array

# Texts that mean no group: a negative number, and what missing labels become as texts.
NUMBER = re.compile(r"-\d+(\.\d*)?(e[+-]?\d+)?", re.IGNORECASE)
NO_GROUP = ("", "nan", "NaN", "<NA>")
COMPLETE = (
    "nothing is proven about a matrix with missing entries: impute them, for instance with "
    "sklearn.impute.SimpleImputer"
)
NO_BLOCKS = (
    "disjoint blocks have an infinite Kullback-Leibler divergence as soon as anything lies outside "
    "of them: give n_components=(k, l), two numbers, for a core between the groups of both sides"
)
GIVEN = Promise(reason="the labels were given, not found")


def certify(
    X: Any,
    labels: Any = None,
    feature_labels: Any = None,
    *,
    n_components: int | tuple[int, int] | None = None,
    beta_loss: str = FROBENIUS,
    sample_weight: Any = None,
    feature_weight: Any = None,
    method: str = "tight",
    seconds: float = CERTIFICATE_SECONDS,
    n_jobs: int | None = None,
    max_memory: int | str | None = None,
) -> Factorization:
    """Say how far a partition can be from the best one, whoever found it.

    The scales are fitted to the labels, which gives the smallest error that the partition allows,
    and the error is compared with what no partition into as many groups can go below.

    Parameters
    ----------
    X
        (n, m) non-negative matrix, as for :func:`orthonmf.factorize`; without missing values.
    labels
        (n,) the group of every row, integers or texts; missing (None, NaN, NA), masked, negative
        and empty ones are in no group. Alone, the components may share features: the setting
        "samples".
    feature_labels
        (m,) the same for the columns. Alone, the setting "features". With ``labels``, rows and
        columns of the same label are a block, and all else is zero: the setting "both".
    n_components
        How many groups were allowed; by default as many different ones as the labels of either
        side name. Two numbers say that groups of rows and groups of columns are two partitions,
        with a core between them: then labels of the two sides have nothing to do with each other,
        and the scales are those that taking turns between the sides ends with.
    beta_loss
        "frobenius" or "kullback-leibler". Under the latter every row and column that holds
        something must be in a group, and labels of both sides need two numbers: a core.
    sample_weight, feature_weight, n_jobs, max_memory
        As for :func:`orthonmf.factorize`.
    method
        Which certificate: "tight", or "svd", which is quick and weaker.
    seconds
        What the search of a tight certificate may take.

    Returns
    -------
    Factorization
        With the same groups, its ``certificate`` computed. A row whose product with its
        component is zero has label -1. Components are ordered by what they capture.

    Examples
    --------
    >>> import numpy as np
    >>> import orthonmf
    >>> X = np.kron(np.eye(2), np.ones((3, 4))) + np.random.default_rng(0).random((6, 8)) / 5
    >>> good = orthonmf.certify(X, ["a", "a", "a", "b", "b", "b"])
    >>> poor = orthonmf.certify(X, ["a", "b", "a", "b", "a", "b"])
    >>> good.certificate.ratio < 1.01, poor.certificate.ratio > 2
    (True, True)
    """
    if labels is None and feature_labels is None:
        raise InvalidInputError("give labels, feature_labels, or both: the partition to judge")
    orthogonal = "samples" if feature_labels is None else "features" if labels is None else "both"
    as_choice(beta_loss, tuple(LOSSES), "beta_loss")
    name, limit = as_certificate(method, seconds, beta_loss, "method")
    if beta_loss != FROBENIUS and orthogonal == "both" and not _two_numbers(n_components):
        raise InvalidInputError(NO_BLOCKS)
    with one_blas_thread():
        started = time.perf_counter()
        data = Data(X, sample_weight, feature_weight, None, n_jobs, max_memory)
        try:
            matrix = data.read()
        except MissingEntryError as error:
            raise InvalidInputError(error.problem, COMPLETE) from None
        n, m = matrix.shape
        sides = [read_labels(labels, n, "labels"), read_labels(feature_labels, m, "feature_labels")]
        fitted = _refit(matrix, sides, orthogonal, n_components, beta_loss)
        weights = as_weights(feature_weight, m, "feature_weight")
        taken = time.perf_counter() - started
        rows, columns = names_of(X)
        result = replace(
            fitted,
            feature_weight=weights,
            promise=GIVEN,
            sample_names=rows,
            feature_names=columns,
            seconds=taken,
        )
    result.evidence.compute(result, Pending(data, str(name), seconds=limit))
    return result


def _two_numbers(n_components: Any) -> bool:
    return isinstance(n_components, tuple | list)


def _refit(
    matrix: Matrix,
    sides: list[list[str] | None],
    orthogonal: str,
    n_components: Any,
    beta_loss: str,
) -> Factorization:
    """Groups of one side, of both with a core between them, or blocks: a label means the same."""
    named = [_named(labels) for labels in sides]
    names, n_groups = named, len(named[1])
    asked: Any
    if _two_numbers(n_components):
        asked = as_sizes(n_components, orthogonal)
        for used, most, side in zip(named, asked, ("rows", "columns"), strict=True):
            _refuse_too_many(len(used), most, f"the number of groups of {side}")
    else:
        # A block needs rows and columns, but a group that only one side names was asked for, too.
        given = [used for used, labels in zip(named, sides, strict=True) if labels is not None]
        shared = [name for name in given[0] if all(name in other for other in given)]
        names, n_groups, n_named = [shared, shared], 0, len(set().union(*given))
        asked = n_named if n_components is None else as_count(n_components, "n_components")
        _refuse_too_many(n_named, asked, "n_components")
        asked = max(1, asked)
    options = Options(
        asked=asked,
        n_components=len(names[0]),
        n_groups=n_groups,
        orthogonal=orthogonal,
        beta_loss=beta_loss,
        rng=np.random.default_rng(0),
    )
    rows, columns = (
        None if labels is None else _number(labels, used)
        for labels, used in zip(sides, names, strict=True)
    )
    return refit_labels(matrix, rows, columns, options)


def _refuse_too_many(named: int, allowed: int, what: str) -> None:
    if allowed < named:
        raise InvalidInputError(f"the labels name {named} groups, but {what} is {allowed}")


def read_labels(given: Any, count: int, name: str) -> list[str] | None:
    """Labels as texts, empty for rows or columns in no group; None where none were given.

    No group is meant by what is missing (None, NaN, NA), masked, negative or empty, whatever
    holds it. Whole numbers are the same labels as integers, floats and objects.
    """
    if given is None:
        return None
    array = np.ma.getdata(given) if np.ma.isMaskedArray(given) else np.asarray(given)
    if array.shape != (count,):
        raise InvalidInputError(f"{name} must hold {count:,} labels, not shape {array.shape}")
    if array.dtype.kind == "S":
        array = np.char.decode(array, "utf-8", "replace")
    masked = np.ma.getmaskarray(given) if np.ma.isMaskedArray(given) else np.zeros(count, bool)
    if array.dtype.kind not in "iubU":
        from pandas import isna  # slow to import: only for labels that may be missing

        masked = masked | isna(array)
    labels = zip(range(count), array.astype(object).tolist(), masked.tolist(), strict=True)
    return ["" if gone else _as_name(label, f"{name}[{i}]") for i, label, gone in labels]


def _as_name(label: Any, place: str) -> str:
    """One label that is there as a text, empty where it is negative; what is neither is refused.

    A text may have come from a file or from an array of texts, where a number or NaN is one too.
    """
    if isinstance(label, str):
        number = NUMBER.fullmatch(label.strip())
        return "" if number or label.strip() in NO_GROUP else label
    if isinstance(label, Complex):  # every number is one
        if not isinstance(label, Real) or not float(label).is_integer():
            raise InvalidInputError(f"{place} is {label}; labels are integers or texts")
        return "" if float(label) < 0 else str(int(cast(float, label)))
    return str(label)


def _named(labels: list[str] | None) -> list[str]:
    """Names of the groups of one side, in order of appearance."""
    return list(dict.fromkeys(filter(None, labels or ())))


def _number(labels: list[str], names: list[str]) -> Array:
    """The number of every label's group, -1 for none."""
    numbers = {name: number for number, name in enumerate(names)}
    return np.array([numbers.get(label, -1) for label in labels], dtype=np.int32)
