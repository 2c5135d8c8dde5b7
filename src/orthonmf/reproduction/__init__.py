"""The experiments of the paper: what they are, how they are run, what came out."""
