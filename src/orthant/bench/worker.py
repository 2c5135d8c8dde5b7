"""The process that measures: one job as JSON on stdin, one answer as JSON on stdout.

``python -m orthant.bench.worker``
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from orthant.bench.data import Data
from orthant.bench.fits import time_fits
from orthant.bench.growth import time_sizes
from orthant.bench.measuring import SkippedError
from orthant.bench.memory import peak_of_fit
from orthant.bench.phases import time_phases
from orthant.bench.places import time_place
from orthant.bench.sweep import time_sweep

JOBS: dict[str, Callable[..., dict[str, Any]]] = {
    "fits": time_fits,
    "sweep": time_sweep,
    "sizes": time_sizes,
    "peak": peak_of_fit,
    "phases": time_phases,
    "place": time_place,
}


def main() -> None:
    """Do one job."""
    # A matrix travels as its description.
    order = json.load(sys.stdin, object_hook=lambda one: Data(**one) if "kind" in one else one)
    try:
        answer = JOBS[order["job"]](**order["arguments"])
    except SkippedError as error:
        answer = {"skipped": str(error)}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
