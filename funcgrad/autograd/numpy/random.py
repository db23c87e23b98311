"""NumPy's own random numbers, which are constants."""

from numpy.random import *  # noqa: F403
