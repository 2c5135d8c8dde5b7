"""What the operating system says about memory; imports nothing, to be asked under a limit."""

from __future__ import annotations

from pathlib import Path

STATUS, MEMINFO = Path("/proc/self/status"), Path("/proc/meminfo")


def system_bytes(name: str, path: Path = STATUS) -> int:
    """Bytes that the system reports under a name: VmRSS resident now, VmHWM at the peak."""
    for line in path.read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise OSError(f"{path} has no {name}")
