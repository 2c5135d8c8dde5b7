"""Earlier methods, each as strong as its authors meant it, behind one function.

``BASELINES`` holds a `Baseline` for every name.

>>> from orthonmf import baselines
>>> "onmf-a" in baselines.BASELINES
True
>>> baselines.BASELINES["em-onmf"].exact
True
"""

from orthonmf.baselines.harden import harden
from orthonmf.baselines.interface import Baseline, BaselineResult, Hardened, History, Iterate
from orthonmf.baselines.registry import BASELINES, solve

__all__ = [
    "BASELINES",
    "Baseline",
    "BaselineResult",
    "Hardened",
    "History",
    "Iterate",
    "harden",
    "solve",
]
