"""The steps of the paper: pure functions on small arrays, one file each."""
