"""Weighted k-means of the normalised rows, written against Points."""
