"""Bipartite correlation clustering: a graph in, clusters and a lower bound out (Lemma 1)."""
