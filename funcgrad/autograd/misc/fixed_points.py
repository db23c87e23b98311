"""Fixed points, with derivatives by what the function depends on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import numpy as fnp
from ... import tree
from ..core import make_jvp, make_vjp
from ..extend import defjvp, defvjp, primitive
from ..vspaces import vspace

Map = Callable[[Any], Any]


@primitive
def fixed_point(
    f: Callable[[Any], Map], a: Any, x0: Any, distance: Callable[[Any, Any], Any], tol: float
) -> Any:
    """x with ``f(a)(x) = x``, by steps from `x0` until two are within `tol`, as `distance` measures.

    Derivative: ``(1 - df/dx)^-1 df/da``, by steps of the same kind; none by `x0`.
    Raises: nothing where the steps do not come to rest: they go on.
    Source: Christianson, "Reverse accumulation and attractive fixed points", Optimization Methods and
    Software 3 (1994).

    >>> import numpy as np
    >>> from funcgrad.autograd import grad
    >>> def mean(a):
    ...     return lambda x: 0.5 * (x + a / x)
    >>> def root(a):
    ...     return fixed_point(mean, a, 1.0, lambda x, y: np.abs(x - y), 1e-9)
    >>> print(f"{root(9.0):.6f} {grad(root)(9.0):.6f} {grad(grad(root))(9.0):.6f}")
    3.000000 0.166667 -0.009259
    """
    step = f(a)
    last, x = x0, step(x0)
    while fnp.any(distance(x, last) > tol):
        last, x = x, step(x)
    return x


def _pullback(ans: Any, f: Any, a: Any, x0: Any, distance: Any, tol: float) -> Map:
    def settled(given: Any) -> Map:
        a, x, g = given
        return lambda w: _sum(make_vjp(f(a), x)[0](w), g)

    def pulled(g: Any) -> Any:
        w = fixed_point(settled, (a, ans, g), vspace(ans).zeros(), distance, tol)
        return make_vjp(lambda a: f(a)(ans), a)[0](w)

    return pulled


def _pushforward(g: Any, ans: Any, f: Any, a: Any, x0: Any, distance: Any, tol: float) -> Any:
    def settled(given: Any) -> Map:
        a, x, moved = given
        return lambda dot: _sum(make_jvp(f(a), x)(dot)[1], moved)

    moved = make_jvp(lambda a: f(a)(ans), a)(g)[1]
    return fixed_point(settled, (a, ans, moved), vspace(ans).zeros(), distance, tol)


def _sum(x: Any, y: Any) -> Any:
    return tree.map(lambda a, b: a + b, x, y)


defvjp(fixed_point, None, _pullback, None)
defjvp(fixed_point, None, _pushforward, None)
