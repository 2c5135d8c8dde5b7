"""The one door: what users bring is checked here, once."""
