"""Data to try things on: planted solutions as in the paper's experiments, and sets of UCI.

>>> from orthonmf import datasets
>>> datasets.make_planted(5, 4, 2, noise=0.1, random_state=0).X.shape
(5, 4)
"""

from orthonmf.datasets.planted import Planted, make_planted
from orthonmf.datasets.uci import UciSet, load_uci

__all__ = ["Planted", "UciSet", "load_uci", "make_planted"]
