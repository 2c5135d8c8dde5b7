"""How one block of rows is computed; `interface.py` says all that a kernel must provide."""
