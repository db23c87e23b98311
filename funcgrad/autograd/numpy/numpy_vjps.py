"""Sums of cotangents over the axes along which an operand was broadcast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import numpy as fnp
from ...core import aval_of


def unbroadcast(x: Any, shape: tuple[int, ...]) -> Any:
    """The transpose of ``broadcast_to``: `x` summed to a shape.

    >>> import numpy as np
    >>> unbroadcast(np.ones((2, 3)), (3,))
    array([2., 2., 2.])
    """
    extra = fnp.ndim(x) - len(shape)
    found = fnp.sum(x, axis=tuple(range(extra)))
    ones = tuple(i for i, n in enumerate(shape) if n == 1)
    return fnp.reshape(fnp.sum(found, axis=ones), shape)


def unbroadcast_f(target: Any, f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """``g -> f(g)``, summed to the shape of `target`: pullbacks of functions that broadcast.

    >>> import numpy as np
    >>> from funcgrad.autograd import grad
    >>> from funcgrad.autograd.extend import defvjp, primitive
    >>> scaled = primitive(np.multiply)
    >>> defvjp(scaled, lambda ans, a, x: unbroadcast_f(a, lambda g: g * x), argnums=(0,))
    >>> float(grad(lambda a: np.sum(scaled(a, np.ones(3))))(2.0))
    3.0
    """
    shape = aval_of(target).shape
    return lambda g: unbroadcast(f(g), shape)
