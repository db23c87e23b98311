"""Integrals over a stretch that begins at each element, by Gauss and Legendre's rule."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..algebra import concrete_namespace
from ..core import aval_of
from .arithmetic import absolute
from .select import stop_gradient
from .structural import expand_dims, sum

NODES = 64


@functools.cache
def _legendre() -> tuple[Any, Any]:
    """The nodes in (0, 1) and the weights."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    return (nodes + 1) / 2, weights / 2


def as_column(x: Any) -> Any:
    """`x` with an axis of length 1 at the end, unless it has no axes.

    >>> as_column(np.ones(3)).shape
    (3, 1)
    """
    return x if aval_of(x).ndim == 0 else expand_dims(x, axis=(x.ndim,))


def integral_from(start: Any, width: Any, f: Callable[[Any], Any]) -> Any:
    """Of `f` over the distance `width`, which is held constant, from `start` on.

    >>> float(integral_from(np.array(1.0), np.array(2.0), lambda x: x * x).round(6))
    8.666667
    """
    width = stop_gradient(width)
    nodes, weights = map(concrete_namespace(width).asarray, _legendre())
    y = f(as_column(start) + as_column(width) * nodes) * weights
    return sum(y, axis=(y.ndim - 1,)) * absolute(width)


def integral_between(start: Any, end: Any, f: Callable[[Any], Any]) -> Any:
    """Of `f` from `start` to `end`, both of which move.

    >>> float(integral_between(np.array(1.0), np.array(3.0), lambda x: x * x).round(6))
    8.666667
    """
    width = end - start
    nodes, weights = map(concrete_namespace(width).asarray, _legendre())
    y = f(as_column(start) + as_column(width) * nodes) * weights
    return sum(y, axis=(y.ndim - 1,)) * width
