"""Weighted k-means of the normalized points, written against Points."""
