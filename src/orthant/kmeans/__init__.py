"""Weighted k-means of the normalized rows, written against Points."""
