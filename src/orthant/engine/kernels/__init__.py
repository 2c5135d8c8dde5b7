"""How one block of rows is computed."""
