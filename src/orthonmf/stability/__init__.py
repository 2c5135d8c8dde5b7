"""Would I get these groups again? Fits under random weights, and how they vote."""
