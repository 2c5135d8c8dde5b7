"""The search over both sides: disjoint blocks.

What differs from one side is `split_by_energy` in `descent.py`: no two directions share a column.
"""
