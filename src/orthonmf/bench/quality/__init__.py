"""How good the default call is: gaps to the best values known, over sets, settings, k and seeds."""
