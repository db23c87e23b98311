"""Differences: `approx_fprime`, `check_grad`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import numpy as fnp
from ...core import aval_of
from ...errors import ArgumentError, where
from ...numpy._arguments import array_of
from ...transforms.arguments import require_callable
from .._arrays import host_only
from .implicit import point

_EPSILON = float(np.sqrt(np.finfo(float).eps))


@host_only
def approx_fprime(xk: Any, f: Callable[..., Any], epsilon: Any = _EPSILON, *args: Any) -> Any:
    """``(f(x + epsilon e_i, *args) - f(x, *args)) / epsilon`` for every unit vector.

    Shapes: ``xk: (n), f: (n) -> () or (m)`` gives ``(n)`` or ``(m, n)``.   Dtypes: floating.
    Derivative: that of the differences.
    Raises: ShapeError: `xk` is no row.
    Source: SciPy reference, ``scipy.optimize.approx_fprime``.

    >>> approx_fprime(np.array([1.0, 2.0]), lambda x: x[0] * x[1]).round(6).tolist()
    [2.0, 1.0]
    """
    require_callable("approx_fprime", f)
    x = point("approx_fprime", "xk", xk)
    steps = fnp.broadcast_to(array_of(epsilon), x.shape)
    first = array_of(f(x, *args))
    units = np.eye(x.shape[0], dtype=aval_of(x).dtype)
    columns = [
        (array_of(f(x + steps[i] * units[i], *args)) - first) / steps[i] for i in range(x.shape[0])
    ]
    return fnp.stack(columns, axis=-1)


@host_only
def check_grad(
    func: Callable[..., Any],
    grad: Callable[..., Any],
    x0: Any,
    *args: Any,
    epsilon: Any = _EPSILON,
    direction: str = "all",
    rng: Any = None,
) -> Any:
    """How far `grad` is from differences of `func` at `x0`: the norm of the difference.

    Shapes: ``x0: (n) -> ()``.   Dtypes: floating.
    Derivative: that of the norm.
    Raises: ArgumentError: another direction than "all"; funcgrad.testing.check_grads has many.
    Source: SciPy reference, ``scipy.optimize.check_grad``.

    >>> float(check_grad(np.prod, lambda x: x[::-1], np.array([1.0, 2.0])).round(6))
    0.0
    """
    if direction != "all" or rng is not None:
        raise ArgumentError(
            f"check_grad: direction={direction!r}; need 'all', without rng{where()}"
        )
    difference = array_of(grad(x0, *args)) - approx_fprime(x0, func, epsilon, *args)
    return fnp.sqrt(fnp.sum(fnp.square(fnp.absolute(difference))))
