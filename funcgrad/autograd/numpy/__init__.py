"""``import autograd.numpy``: `funcgrad.numpy`, and the rest of NumPy as it is.

Thus `random`, `testing` and `ma` are NumPy's own, as they are with autograd.
"""

import typing as _typing

import numpy as _plain

from ... import numpy as _numpy
from ...numpy import vstack as row_stack
from ...ops.structural import diagonal_embed as _diagonal_embed
from . import numpy_boxes, numpy_vjps, random

__all__ = ["make_diagonal", "numpy_boxes", "numpy_vjps", "random", "row_stack"]


def make_diagonal(D: _typing.Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> _typing.Any:
    """Square matrices with the last axis of D on a diagonal, in the axes `axis1` and `axis2`.

    Shapes: ``(..., k) -> (..., n, n)`` with ``n = k + abs(offset)``, the two axes moved.
    Derivative: linear.

    >>> make_diagonal(_plain.array([1.0, 2.0]))
    array([[1., 0.],
           [0., 2.]])
    """
    *rows, k = _numpy.shape(D)
    n = k + abs(offset)
    at = {"axis1": len(rows), "axis2": len(rows) + 1}
    found = _diagonal_embed(D, shape=(*rows, n, n), offset=offset, **at)
    return _numpy.moveaxis(found, (-2, -1), (axis1, axis2))


if _typing.TYPE_CHECKING:
    from ...numpy import *  # noqa: F403
else:

    def __getattr__(name):
        return getattr(_numpy if hasattr(_numpy, name) else _plain, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_numpy), *dir(_plain)})
