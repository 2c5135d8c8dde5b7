"""Factorization: a file for every theorem, the search, and the way to the result."""
