"""The search over both sides: disjoint blocks."""
