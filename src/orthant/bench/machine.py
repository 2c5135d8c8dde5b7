"""The machine that figures come from, without which they mean nothing."""

from __future__ import annotations

import os
from typing import Any

from orthant.reproduction.environment import environment

ABOUT_THE_MACHINE = (
    "date",
    "python",
    "orthant",
    "numpy",
    "scipy",
    "scikit-learn",
    "blas",
    "platform",
    "cpu",
    "cores",
)


def machine() -> dict[str, Any]:
    """Processor, cores, versions, and how busy the machine was; plain values for JSON."""
    everything = environment()
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    return {**{name: everything[name] for name in ABOUT_THE_MACHINE}, "load": load}
