"""How fast and how small: ratios against other programs, all measured in one run."""
