"""Lower bounds on the error of every solution, one file each."""
