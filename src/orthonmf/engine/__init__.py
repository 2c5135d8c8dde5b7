"""Passes over the rows: the only code that sees all of them."""
