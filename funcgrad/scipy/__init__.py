"""SciPy functions."""
