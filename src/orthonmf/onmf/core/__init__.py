"""Three factors: groups of both sides, and a core between them."""
