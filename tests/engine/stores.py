"""Rows that lie elsewhere: read by slices, or from a file."""

import numpy as np


class Slices:
    """The least that can be fitted: a shape, a dtype and slices of rows, which are noted."""

    def __init__(self, array):
        self.array, self.shape, self.dtype, self.read = array, array.shape, array.dtype, []

    def __getitem__(self, rows):
        self.read.append((rows.start, rows.stop))
        return self.array[rows].copy()


def mapped(array, folder):
    """A memory map that may be written to."""
    np.save(folder / "x.npy", array)
    return np.load(folder / "x.npy", mmap_mode="r+")
