"""Packings of bad squares: lower bounds on the disagreements of every clustering.

A 2 x 2 submatrix with exactly three ones costs every clustering at least one disagreement: if the
three edges are kept, all four vertices are together, and the missing edge is wrong. Squares
that share no entry add up. Everything is counted in integers, so nothing is rounded.

Entry (i, h) of an (n, m) matrix has the number ``i * m + h``, its key. A packing is a (p, 4) array
of the keys of p squares.
"""
