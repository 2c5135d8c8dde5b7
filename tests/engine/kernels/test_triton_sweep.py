"""The fused kernels with small tiles, interpreted: borders, weights, ties, bad entries."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.slow
@pytest.mark.skipif(
    find_spec("triton") is None or find_spec("torch") is None,
    reason="triton or torch is not installed, so no kernel can be interpreted",
)
def test_every_kernel_does_with_other_tiles_what_float64_does():
    # The variable must be set before the kernels are imported: a process of their own.
    done = subprocess.run(
        [sys.executable, str(HERE / "interpreted_sweep.py")],
        env={**os.environ, "TRITON_INTERPRET": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("is right") == 6
