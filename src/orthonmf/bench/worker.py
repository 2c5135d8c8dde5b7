"""The process that measures: one job as JSON on stdin, one answer as JSON on stdout.

``python -m orthonmf.bench.worker``
"""

from __future__ import annotations

import json
import sys
from importlib import import_module

from orthonmf.baselines.plugins import load_plugins
from orthonmf.bench.data import Data
from orthonmf.bench.measuring import SkippedError

# The module and the function of every job; only what is measured is imported.
JOBS = {
    "fits": ("fits", "time_fits"),
    "sweep": ("sweep", "time_sweep"),
    "sizes": ("growth", "time_sizes"),
    "peak": ("memory", "peak_of_fit"),
    "phases": ("phases", "time_phases"),
    "place": ("places", "time_place"),
    "certificates": ("certificates", "time_certificates"),
    "gpu sweeps": ("gpu", "time_gpu_sweeps"),
    "gpu fits": ("gpu", "time_gpu_fits"),
    "gpu stream": ("gpu", "time_gpu_stream"),
}


def main() -> None:
    """Do one job."""
    # A matrix travels as its description.
    order = json.load(sys.stdin, object_hook=lambda one: Data(**one) if "kind" in one else one)
    load_plugins()
    module, function = JOBS[order["job"]]
    job = getattr(import_module(f"orthonmf.bench.{module}"), function)
    try:
        answer = job(**order["arguments"])
    except SkippedError as error:
        answer = {"skipped": str(error)}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
