"""Data to try things on: planted solutions as in the paper's experiments."""

from orthant.datasets.planted import Planted, make_planted

__all__ = ["Planted", "make_planted"]
