"""Where results come from: versions, processor, threads; kept next to them."""

from __future__ import annotations

import json
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info

from orthonmf.engine.executors import available_cores
from orthonmf.errors import InvalidInputError
from orthonmf.files.whole_files import replacing
from orthonmf.version import __version__

ENVIRONMENT = "environment.json"
PACKAGES = ("numpy", "scipy", "scikit-learn")
THREADS_PER_RUN = 1  # every method has one core: one BLAS thread, and n_jobs=1 for ours


def describe_machine() -> dict[str, Any]:
    """Processor, cores and versions: plain values for JSON."""
    blas = [library for library in threadpool_info() if library.get("user_api") == "blas"]
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        # Ours is that of the code that runs: what is installed may be an older checkout's.
        "orthonmf": __version__,
        **{name: version(name) for name in PACKAGES},
        "blas": sorted(
            {f"{one['internal_api']} {one.get('version') or ''}".strip() for one in blas}
        ),
        "platform": f"{platform.system()} {platform.machine()}",
        "cpu": _processor(),
        "cores": available_cores(),
    }


def environment(jobs: int = 1) -> dict[str, Any]:
    """What a reader needs to judge the times: plain values for JSON."""
    how = {"threads_per_run": THREADS_PER_RUN, "jobs": jobs, "timed": jobs == 1}
    return {**describe_machine(), **how}


def record_environment(folder: Path, jobs: int) -> None:
    """Keep the environment in the folder: another sitting, unless it equals the last one."""
    path = folder / ENVIRONMENT
    sittings = read_sittings(path) if path.exists() else []
    now = environment(jobs)
    if sittings and {**sittings[-1], "date": None} == {**now, "date": None}:
        return
    with replacing(path, encoding="utf-8") as file:
        json.dump({"sittings": [*sittings, now]}, file, indent=2)
        file.write("\n")


def read_sittings(path: Path) -> list[dict[str, Any]]:
    """The environments of all sittings, oldest first."""
    try:
        sittings = json.loads(path.read_text(encoding="utf-8"))["sittings"]
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidInputError(
            f"{path}: this is no record of the environment ({error}); move the file away"
        ) from error
    return sittings


def _processor() -> str:
    """The name of the processor as its maker gives it, where the system tells."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
