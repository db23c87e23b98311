"""scipy.special under its names (being written)."""
