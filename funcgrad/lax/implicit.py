"""Solutions that a user's solver finds, with the derivatives of the equations that they solve.

What the equations close over is found by recording them; the solver sees it as constants, and may
branch and loop as it likes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import numpy as fnp
from ..core import aval_of
from ..errors import ArgumentError, ShapeError, where
from ..numpy._arguments import array_of, is_array
from ..ops.select import stop_gradient
from ..scipy._programs import Programs, directional, tracing, with_tangent
from ..transforms.jvp import jvp
from ..transforms.linearize import linear_transpose
from ..transforms.vjp import vjp

Function = Callable[..., Any]


def _point(name: str, what: str, x: Any) -> Any:
    if not (is_array(x) or isinstance(x, float | int | complex | np.generic)):
        raise ArgumentError(
            f"lax.{name}: {what} is {type(x).__name__}; need one array, as fnp.concatenate makes of "
            f"several{where()}"
        )
    x = array_of(x)
    return x if aval_of(x).dtype.kind in "fc" else fnp.astype(x, np.float64)


def _recorded(name: str, f: Function, x: Any) -> tuple[Function, list[Any]]:
    """`f` as a function of what it closes over and of `x`, and the values of that."""
    program = Programs([f], [aval_of(x)])
    if program.out_avals[0].shape != aval_of(x).shape:
        raise ShapeError(
            f"lax.{name}: the function gives {program.out_avals[0]} for {aval_of(x)}; need the same "
            f"shape{where()}"
        )
    return program.run[0], list(program.held)


def _of(run: Function, held: Any) -> Function:
    return lambda x: run(*held, x)


def _solution(found: Any, has_aux: bool) -> tuple[Any, Any]:
    x, aux = found if has_aux else (found, None)
    return stop_gradient(array_of(x)), aux


def custom_root(
    f: Function, initial_guess: Any, solve: Function, tangent_solve: Function, has_aux: bool = False
) -> Any:
    """``solve(f, initial_guess)``, a root of `f`, with derivatives by what `f` closes over.

    ``tangent_solve(g, y)`` gives x with ``g(x) = y`` for a linear `g`, and is linear in y. With
    `has_aux` `solve` gives ``(root, aux)``, and so does this; `aux` has no derivative.

    Shapes: those of the guess, one array.   Dtypes: floating, complex.
    Derivative: ``-(df/dx)^-1 df``, by the implicit function theorem, to any order; none by the guess.
    Raises: ArgumentError: the guess is no array. ShapeError: `f` gives another shape.
    Source: JAX, ``jax.lax.custom_root``.

    >>> import funcgrad
    >>> def newton(f, x):
    ...     for _ in range(9):
    ...         x = x - f(x) / funcgrad.grad(f)(x)
    ...     return x
    >>> def root(a):
    ...     return custom_root(lambda x: x * x - a, 1.0, newton, lambda g, y: y / g(1.0))
    >>> [float(y.round(9)) for y in (root(9.0), funcgrad.grad(root)(9.0))]
    [3.0, 0.166666667]
    """
    guess = stop_gradient(_point("custom_root", "initial_guess", initial_guess))
    if not tracing():
        return solve(f, guess)
    run, held = _recorded("custom_root", f, guess)
    x, aux = _solution(solve(_of(run, list(map(stop_gradient, held))), guess), has_aux)

    def tangent(y: Any, held: Any, dots: Any) -> Any:
        right = directional(lambda *h: run(*h, y), held, dots)
        if right is None:
            return None
        return -tangent_solve(lambda t: jvp(_of(run, held), (y,), (t,))[1], right)

    root = with_tangent("custom_root", x, held, tangent)
    return (root, aux) if has_aux else root


def custom_linear_solve(
    matvec: Function,
    b: Any,
    solve: Function,
    transpose_solve: Function | None = None,
    symmetric: bool = False,
    has_aux: bool = False,
) -> Any:
    """``solve(matvec, b)``, the x with ``matvec(x) = b``, with derivatives by `b` and by `matvec`.

    Tangents are found by `solve`, cotangents by ``transpose_solve(vecmat, b)``, which solves with the
    transposed function; by `solve` if `symmetric`. With `has_aux` solvers give ``(x, aux)``, and so
    does this; `aux` has no derivative.

    Shapes: those of `b`, one array.   Dtypes: floating, complex.
    Derivative: ``A^-1 (db - dA x)``, to any order.
    Raises: ArgumentError: `b` is no array, or a gradient needs `transpose_solve`, which is missing.
    ShapeError: `matvec` gives another shape.
    Source: JAX, ``jax.lax.custom_linear_solve``.

    >>> import funcgrad
    >>> def solved(a):
    ...     return custom_linear_solve(
    ...         lambda x: a * x, 6.0, lambda f, b: b / f(1.0), symmetric=True
    ...     )
    >>> [float(y) for y in (solved(2.0), funcgrad.grad(solved)(2.0))]
    [3.0, -1.5]
    """
    name = "custom_linear_solve"
    b = _point(name, "b", b)
    if not tracing():
        return solve(matvec, b)
    run, held = _recorded(name, matvec, b)
    back = solve if symmetric else transpose_solve
    constants = _of(run, list(map(stop_gradient, held)))
    x, aux = _solution(solve(constants, stop_gradient(b)), has_aux)

    def again(f: Function, right: Any, first: Any, second: Any) -> Any:
        found = custom_linear_solve(f, right, first, second, symmetric, has_aux)
        return found[0] if has_aux else found

    def tangent(y: Any, among: Any, dots: Any) -> Any:
        right = dots[0]
        moved = directional(lambda *h: run(*h, y), among[1:], dots[1:])
        if moved is not None:
            right = -moved if right is None else right - moved
        return None if right is None else again(_of(run, among[1:]), right, solve, back)

    def pullback(y: Any, among: Any, places: Any, ct: Any) -> Any:
        if back is None:
            raise ArgumentError(
                f"lax.{name}: a gradient needs transpose_solve=, or symmetric=True{where()}"
            )
        f = _of(run, among[1:])
        flipped = f if symmetric else lambda z: linear_transpose(f, y)(z)[0]
        dual = again(flipped, ct, back, solve)

        def residual(*values: Any) -> Any:
            full = list(among)
            for i, v in zip(places, values, strict=True):
                full[i] = v
            return full[0] - run(*full[1:], y)

        return vjp(residual, *(among[i] for i in places))[1](dual)

    solved = with_tangent(name, x, [b, *held], tangent, pullback)
    return (solved, aux) if has_aux else solved
