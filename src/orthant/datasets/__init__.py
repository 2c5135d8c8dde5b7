"""Data to try things on: planted solutions as in the paper's experiments, and sets of UCI."""

from orthant.datasets.planted import Planted, make_planted
from orthant.datasets.uci import UciSet, load_uci

__all__ = ["Planted", "UciSet", "load_uci", "make_planted"]
