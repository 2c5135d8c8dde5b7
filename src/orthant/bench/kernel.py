"""What the kernel tells about memory; imports nothing, so that it can be asked under a limit."""

from __future__ import annotations

from pathlib import Path

STATUS, MEMINFO = Path("/proc/self/status"), Path("/proc/meminfo")


def kernel_bytes(name: str, path: Path = STATUS) -> int:
    """Bytes that the kernel reports under a name: VmRSS resident now, VmHWM at the peak."""
    for line in path.read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise OSError(f"{path} has no {name}")
