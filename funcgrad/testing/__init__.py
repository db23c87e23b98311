"""Testing gradients: of this library, and of your own functions.

`check_grads` and `check_all` look at a function at a point, in ways that must agree.

>>> import numpy as np
>>> from funcgrad.testing import check_all
>>> print(check_all(lambda x: np.abs(x).sum(), (np.array([1.0, 0.0]),), only=["numerical"]))
gradients of <lambda>: all right
  numerical  passed: at a kink: between the slopes of its two sides
  near a kink: absolute at <doctest ...: margin 0
"""

from .report import GradientError, Outcome, Report
from .run import check_all, check_grads

__all__ = ["GradientError", "Outcome", "Report", "check_all", "check_grads"]
