"""``jax.experimental.ode``: `funcgrad.scipy.integrate.odeint` with JAX's arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...scipy import integrate


def odeint(
    func: Callable[..., Any],
    y0: Any,
    t: Any,
    *args: Any,
    rtol: float = 1.4e-8,
    atol: float = 1.4e-8,
    mxstep: float = np.inf,
    hmax: float = np.inf,
) -> Any:
    """``y(t[i])`` with ``dy/dt = func(y, t, *args)`` and ``y(t[0]) = y0``, a tree.

    Shapes: leaves ``(*a) -> (n, *a)`` for ``t: (n)``.   Dtypes: as `integrate.odeint`.
    Derivative: that of the steps taken, by `y0`, `t` and `args`.
    Raises: as `integrate.odeint`.
    Source: JAX, ``jax.experimental.ode.odeint``.

    >>> odeint(lambda y, t, k: -k * y, 1.0, np.array([0.0, 2.0]), 0.5).round(6).tolist()
    [1.0, 0.367879]
    """

    def rate(state: Any, t: Any, *args: Any) -> Any:
        return {"y": func(state["y"], t, *args)}  # a tree, as a number alone would have an axis

    found = integrate.odeint(
        rate, {"y": y0}, t, args, rtol=rtol, atol=atol, mxstep=mxstep, hmax=hmax
    )
    return found["y"]
