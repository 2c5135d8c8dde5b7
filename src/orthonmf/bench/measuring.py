"""The protocol: a fresh process for every job, so that nobody inherits another's threads."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, TypeVar

from orthonmf.errors import OrthoNMFError

WORKER = "orthonmf.bench.worker"
T = TypeVar("T")


class MeasurementError(OrthoNMFError):
    """A process that measures has failed."""


class SkippedError(OrthoNMFError):
    """A measurement that cannot be made here, and why."""


def clock(work: Callable[[], T], timer: Callable[[], float] = time.perf_counter) -> tuple[T, float]:
    """What a piece of work returns, and the seconds it took."""
    started = timer()
    found = work()
    return found, timer() - started


def measure(job: str, **arguments: Any) -> dict[str, Any]:
    """Run a job of the worker in a process of its own and return what it found.

    Raises `SkippedError` when the job says why it cannot run here, and `MeasurementError`, with
    the last line it wrote, when the process ends without an answer.
    """
    done = subprocess.run(
        [sys.executable, "-m", WORKER],
        input=json.dumps({"job": job, "arguments": arguments}, default=asdict),
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or [f"it ended with code {done.returncode}"]
        raise MeasurementError(f"the process that measures {job} failed: {said[-1]}")
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    if "skipped" in answer:
        raise SkippedError(answer["skipped"])
    return answer
