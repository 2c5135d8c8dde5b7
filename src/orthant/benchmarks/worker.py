"""The process that measures: one job as JSON on stdin, one answer as JSON on stdout.

``python -m orthant.benchmarks.worker``
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from orthant.benchmarks.fits import time_fits
from orthant.benchmarks.growth import time_sizes
from orthant.benchmarks.measuring import SkippedError
from orthant.benchmarks.memory import peak_of_fit
from orthant.benchmarks.phases import time_phases
from orthant.benchmarks.places import time_place
from orthant.benchmarks.sweep import time_sweep

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
    order = json.load(sys.stdin)
    try:
        answer = JOBS[order["job"]](**order["arguments"])
    except SkippedError as error:
        answer = {"skipped": str(error)}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
