"""Where figures come from: versions, processor, threads; without them times mean nothing."""

from __future__ import annotations

import hashlib
import platform
import re
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import joblib
from threadpoolctl import threadpool_info

import orthonmf

PACKAGES = ("numpy", "scipy", "scikit-learn")


def machine() -> dict[str, Any]:
    """Processor, cores and versions: plain values for JSON."""
    blas = [pool for pool in threadpool_info() if pool.get("user_api") == "blas"]
    names = {f"{pool['internal_api']} {pool.get('version') or ''}".strip() for pool in blas}
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        # Ours is that of the code that runs: what is installed may be an older checkout's.
        "orthonmf": orthonmf.__version__,
        "commit": _commit(),
        "code": _digest(),
        **{name: version(name) for name in PACKAGES},
        "blas": sorted(names),
        "platform": f"{platform.system()} {platform.machine()}",
        "cpu": _processor(),
        "cores": joblib.cpu_count(),
    }


def in_words(facts: dict[str, Any]) -> str:
    """The machine and the versions in one line."""
    packages = ", ".join(f"{name} {facts[name]}" for name in ("python", *PACKAGES))
    commit = f" (commit {facts['commit']})" if facts.get("commit") else ""
    return (
        f"{facts['cpu']}, {facts['cores']} cores; orthonmf {facts['orthonmf']}{commit}, "
        f"{packages}, {', '.join(facts['blas'])}"
    )


def _commit() -> str:
    """The commit of this checkout, and whether it was changed since; empty where none is told."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=9", "--exclude=*"]
    try:
        return subprocess.check_output(
            command, cwd=Path(__file__).parent, text=True, stderr=subprocess.DEVNULL
        ).strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def _digest() -> str:
    """A few digits that change with the code of the library or with what measures it."""
    code = hashlib.sha256(Path(__file__).with_name("measuring.py").read_bytes())
    for path in sorted(Path(orthonmf.__file__).parent.rglob("*.py")):
        code.update(path.read_bytes())
    return code.hexdigest()[:12]


def _processor() -> str:
    """The name of the processor as its maker gives it, where the system tells."""
    path = Path("/proc/cpuinfo")
    cpuinfo = path.read_text(errors="replace") if path.exists() else ""
    named = re.search(r"^model name\s*:\s*(.*)$", cpuinfo, re.MULTILINE)
    return named[1] if named else platform.processor() or platform.machine()
