"""Pullbacks of functions that broadcast their operands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...algebra import sum_to
from ...core import aval_of


def unbroadcast_f(target: Any, f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """``g -> f(g)``, summed to the shape of `target` over the axes along which that was repeated.

    >>> import numpy as np
    >>> from funcgrad.autograd import grad
    >>> from funcgrad.autograd.extend import defvjp, primitive
    >>> scaled = primitive(np.multiply)
    >>> defvjp(scaled, lambda ans, a, x: unbroadcast_f(a, lambda g: g * x), argnums=(0,))
    >>> float(grad(lambda a: np.sum(scaled(a, np.ones(3))))(2.0))
    3.0
    """
    shape = aval_of(target).shape
    return lambda g: sum_to(f(g), shape)
