"""Dask arrays as sources and Dask clusters as executors; dask is imported nowhere else."""
