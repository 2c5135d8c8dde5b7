"""The search over one side, and the loop that every search shares."""
