"""What autograd brings beside derivatives: flat vectors, optimizers, fixed points."""

from . import fixed_points, optimizers
from .flatten import flatten, flatten_func
from .tracers import const_graph

__all__ = ["const_graph", "fixed_points", "flatten", "flatten_func", "optimizers"]
