"""From a run to its row: the data, the method, the measures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from orthant.measures import (
    non_orthogonality,
    reconstruction_error,
    recovery_error,
    relative_squared_error,
)
from orthant.reproduction.data import Data, data_of, method_generator
from orthant.reproduction.definition import PLANTED, Run
from orthant.reproduction.methods import Found, OutOfTimeError, run_method
from orthant.reproduction.rows import FAILED, NOT_MEASURED, Row


def measure(run: Run, data_home: Path | None = None, *, alone: bool = True) -> Row:
    """Carry out a run and measure what it leaves; a method that raises gives a row that says so.

    ``alone`` tells that nothing else runs at the same time; otherwise no time is recorded.
    """
    row = Row(*run.key, serial=int(alone))
    try:
        data = data_of(run, data_home)
    except Exception as error:  # whatever keeps a real set away; the others can still be measured
        if run.setting.dataset == PLANTED:
            raise
        return replace(row, stop_reason=NOT_MEASURED + _describe(error))
    row = replace(row, planted_error=data.planted_error)
    try:
        generator = method_generator(run)
        found = run_method(run.method, data.X, run.setting, generator, run.time_limit)
        return _fill(row, data, found)
    except OutOfTimeError as error:
        seconds = error.seconds if alone else None
        return replace(row, seconds=seconds, stop_reason="time_limit")
    except Exception as error:
        return replace(row, stop_reason=FAILED + _describe(error))


def _fill(row: Row, data: Data, found: Found) -> Row:
    M = data.X.T
    truth = data.M_truth
    return replace(
        row,
        recovery_error=None if truth is None else recovery_error(truth, found.left, found.W),
        reconstruction_error=reconstruction_error(M, found.left, found.W),
        relative_squared_error=relative_squared_error(M, found.left, found.W),
        non_orthogonality=non_orthogonality(found.W),
        column_non_orthogonality=non_orthogonality(found.A.T),
        seconds=found.seconds if row.serial else None,
        iterations=found.iterations,
        stop_reason=found.stop_reason,
        published_error=found.published_error,
    )


def _describe(error: Exception) -> str:
    """The message of an error in one line."""
    return " ".join(str(error).split()) or type(error).__name__
