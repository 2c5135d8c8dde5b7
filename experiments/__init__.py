"""The paper's experiments, run again: its data, methods and claims. `make reproduce`."""
