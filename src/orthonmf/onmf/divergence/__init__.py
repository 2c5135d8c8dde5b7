"""Groups of rows, of columns, or of both, under the Kullback-Leibler divergence."""
