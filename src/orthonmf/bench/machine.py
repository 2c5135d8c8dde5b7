"""The machine that figures come from, without which they mean nothing."""

from __future__ import annotations

import os
from typing import Any

from orthonmf.reproduction.environment import describe_machine


def machine() -> dict[str, Any]:
    """Processor, cores, versions, and how busy the machine was; plain values for JSON."""
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    return {**describe_machine(), "load": load}
