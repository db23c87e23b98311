"""Solutions that a user's solver finds, with the derivatives of the equations that they solve.

What the equations close over is found by recording them; the solver sees it as constants, and may
branch and loop as it likes. A solver that closes over traced values itself is recorded, too: when a
derivative is asked for these values are no longer traced by the same transform.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from .. import numpy as fnp
from .. import tree
from ..core import Aval, Tracer, aval_of
from ..errors import ArgumentError, ShapeError, where
from ..flatten_util import ravel_pytree
from ..numpy._arguments import array_of, is_array
from ..ops.select import stop_gradient
from ..scipy._programs import Programs, directional, tracing, with_tangent
from ..transforms.arguments import is_bound
from ..transforms.jvp import jvp
from ..transforms.linearize import linear_transpose
from ..transforms.vjp import vjp

Function = Callable[..., Any]


def _floating(name: str, what: str, x: Any) -> Any:
    if not (is_array(x) or isinstance(x, float | int | complex | np.generic)):
        raise ArgumentError(
            f"lax.{name}: {what} is {type(x).__name__}; need an array, or a tree of arrays{where()}"
        )
    x = array_of(x)
    return x if aval_of(x).dtype.kind in "fc" else fnp.astype(x, np.float64)


@dataclass(frozen=True)
class _Packed:
    """A tree of arrays as one vector, and functions of trees as functions of vectors.

    A single array stays as it is; it has no `parts`, the function that makes the tree of a vector.
    """

    name: str
    treedef: Any
    aval: Aval
    parts: Function | None

    def unravel(self, x: Any) -> Any:
        return x if self.parts is None else self.parts(x)

    def ravel(self, pytree: Any) -> Any:
        if self.parts is None:
            return array_of(pytree)
        found = tree.structure(pytree)
        if found != self.treedef:
            raise ArgumentError(
                f"lax.{self.name}: found the tree {found}; need that of the first argument, "
                f"{self.treedef}{where()}"
            )
        return ravel_pytree(pytree)[0]

    def function(self, f: Function) -> Function:
        """The user's function of trees, for vectors."""

        def packed(x: Any) -> Any:
            y = self.ravel(f(self.unravel(x)))
            if aval_of(y).shape != self.aval.shape:
                raise ShapeError(
                    f"lax.{self.name}: the function gives {aval_of(y)} for {self.aval}; need the same "
                    f"shape{where()}"
                )
            return y

        return packed

    def unpacked(self, f: Function) -> Function:
        """A function of vectors, for the user's solver."""
        return f if self.parts is None else lambda x: self.unravel(f(self.ravel(x)))

    def solver(self, solve: Function, has_aux: bool = False) -> Function:
        """The user's solver, ``solve(f, y)`` of trees, for vectors; `aux` is left out."""

        def packed(f: Function, y: Any) -> Any:
            found = solve(self.unpacked(f), self.unravel(y))
            return self.ravel(found[0] if has_aux else found)

        return packed


def _packed(name: str, what: str, pytree: Any) -> tuple[_Packed, Any]:
    """The vector of a tree, and what is known of the tree."""
    leaves, treedef = tree.flatten(pytree)
    leaves = [_floating(name, what, x) for x in leaves]
    if treedef == tree.structure(0):
        return _Packed(name, treedef, aval_of(leaves[0]), None), leaves[0]
    x, unravel = ravel_pytree(tree.unflatten(treedef, leaves))
    return _Packed(name, treedef, aval_of(x), unravel), x


class _Equation:
    """A function of vectors as a program, with what it closes over apart: `held`."""

    def __init__(self, f: Function, aval: Aval) -> None:
        programs = Programs([f], [aval])
        (self.run,), self.held = programs.run, list(programs.held)

    def at(self, held: Sequence[Any]) -> Function:
        return lambda x: self.run(*held[: len(self.held)], x)

    def solution(self, packed: _Packed, solve: Function, y: Any, has_aux: bool) -> tuple[Any, Any]:
        """A constant and `aux`, by the user's solver, called as it is."""
        f = self.at(list(map(stop_gradient, self.held)))
        found = solve(packed.unpacked(f), packed.unravel(stop_gradient(y)))
        x, aux = found if has_aux else (found, None)
        return stop_gradient(packed.ravel(x)), aux


def _is_traced(f: Any) -> bool:
    """Whether a function closes over traced values."""
    waiting, seen = [f], set()
    while waiting:
        x = waiting.pop()
        if isinstance(x, Tracer):
            return True
        if id(x) in seen:
            continue
        seen.add(id(x))
        if isinstance(x, FunctionType):
            waiting += [c.cell_contents for c in x.__closure__ or () if is_bound(c)]
            waiting += [*(x.__defaults__ or ()), *(x.__kwdefaults__ or {}).values()]
        elif isinstance(x, MethodType):
            waiting += [x.__func__, x.__self__]
        elif isinstance(x, functools.partial):
            waiting += [x.func, *x.args, *x.keywords.values()]
        elif isinstance(x, list | tuple | dict):
            waiting += tree.leaves(x)
        elif not isinstance(x, type | ModuleType):
            waiting += getattr(x, "__dict__", {}).values()
    return False


def custom_root(
    f: Function, initial_guess: Any, solve: Function, tangent_solve: Function, has_aux: bool = False
) -> Any:
    """``solve(f, initial_guess)``, a root of `f`, with derivatives by what `f` closes over.

    ``tangent_solve(g, y)`` gives x with ``g(x) = y`` for a linear `g`, and is linear in y. With
    `has_aux` `solve` gives ``(root, aux)``, and so does this; `aux` has no derivative.

    Shapes: those of the guess, an array or a tree of arrays.   Dtypes: floating, complex.
    Derivative: ``-(df/dx)^-1 df``, by the implicit function theorem, to any order; none by the guess.
    Raises: ArgumentError: the guess holds what is no array, or `f` gives another tree. ShapeError:
    `f` gives another shape.
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
    packed, guess = _packed("custom_root", "initial_guess", initial_guess)
    guess = stop_gradient(guess)
    if not tracing():
        return solve(f, packed.unravel(guess))
    function, solver = packed.function(f), packed.solver(tangent_solve)
    equation = _Equation(function, packed.aval)
    x, aux = equation.solution(packed, solve, guess, has_aux)
    n, held, steps = len(equation.held), equation.held, None
    if _is_traced(tangent_solve):
        steps = Programs(
            [lambda x, right: solver(lambda t: jvp(function, (x,), (t,))[1], right)],
            [packed.aval] * 2,
        )
        held = [*held, *steps.held]

    def tangent(y: Any, held: Any, dots: Any) -> Any:
        right = directional(lambda *h: equation.run(*h, y), held[:n], dots[:n])
        if right is None:
            return None
        if steps is not None:
            return -steps.run[0](*held[n:], y, right)
        return -solver(lambda t: jvp(equation.at(held), (y,), (t,))[1], right)

    root = packed.unravel(with_tangent("custom_root", x, held, tangent))
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

    Shapes: those of `b`, an array or a tree of arrays.   Dtypes: floating, complex.
    Derivative: ``A^-1 (db - dA x)``, to any order.
    Raises: ArgumentError: `b` holds what is no array, `matvec` gives another tree, or a gradient needs
    `transpose_solve`, which is missing. ShapeError: `matvec` gives another shape.
    Source: JAX, ``jax.lax.custom_linear_solve``.

    >>> import funcgrad
    >>> def solved(a):
    ...     return custom_linear_solve(
    ...         lambda x: a * x, 6.0, lambda f, b: b / f(1.0), symmetric=True
    ...     )
    >>> [float(y) for y in (solved(2.0), funcgrad.grad(solved)(2.0))]
    [3.0, -1.5]
    """
    packed, vector = _packed("custom_linear_solve", "b", b)
    if not tracing():
        return solve(matvec, packed.unravel(vector))
    equation = _Equation(packed.function(matvec), packed.aval)
    x, aux = equation.solution(packed, solve, vector, has_aux)
    first, second = packed.solver(solve, has_aux), None
    if transpose_solve is not None:
        second = packed.solver(transpose_solve, has_aux)
    solved = packed.unravel(_linear_solution(x, equation, vector, first, second, symmetric))
    return (solved, aux) if has_aux else solved


def _linear(
    matvec: Function, b: Any, first: Function, second: Function | None, symmetric: bool
) -> Any:
    """``first(matvec, b)``, for vectors."""
    if not tracing():
        return first(matvec, b)
    equation = _Equation(matvec, aval_of(b))
    x = stop_gradient(first(equation.at(list(map(stop_gradient, equation.held))), stop_gradient(b)))
    return _linear_solution(x, equation, b, first, second, symmetric)


class _Solver:
    """``solve(f, y)``, recorded for `f` if it closes over traced values, which then join `held`."""

    def __init__(self, solve: Function, f: Function, y: Any, held: list[Any]) -> None:
        self.solve, self.start, self.program = solve, len(held), None
        if _is_traced(solve):
            self.program = Programs([lambda y: solve(f, y)], [aval_of(y)])
            held += self.program.held

    def at(self, held: Sequence[Any]) -> Function:
        if self.program is None:
            return self.solve
        (run,), own = self.program.run, held[self.start :][: len(self.program.held)]
        return lambda f, y: run(*own, y)


def _linear_solution(
    x: Any,
    equation: _Equation,
    b: Any,
    first: Function,
    second: Function | None,
    symmetric: bool,
) -> Any:
    """`x`, which solves the equation for `b`, with its derivatives; all of them vectors."""

    aval = aval_of(x)  # all that is needed, also when the trace of `x` has ended

    def flipped(f: Function) -> Function:
        return f if symmetric else lambda z: linear_transpose(f, aval)(z)[0]

    matvec = equation.at(equation.held)
    held = [b, *equation.held]
    forth = _Solver(first, matvec, b, held)
    back = forth if symmetric else None
    if second is not None and not symmetric:
        back = _Solver(second, flipped(matvec), b, held)

    def tangent(y: Any, held: Any, dots: Any) -> Any:
        right, n = dots[0], len(equation.held) + 1
        moved = directional(lambda *h: equation.run(*h, y), held[1:n], dots[1:n])
        if moved is not None:
            right = -moved if right is None else right - moved
        if right is None:
            return None
        other = None if back is None else back.at(held)
        return _linear(equation.at(held[1:]), right, forth.at(held), other, symmetric)

    def pullback(y: Any, held: Any, places: Any, ct: Any) -> Any:
        if back is None:
            raise ArgumentError(
                "lax.custom_linear_solve: a gradient needs transpose_solve=, or "
                f"symmetric=True{where()}"
            )
        matvec = equation.at(held[1:])
        dual = _linear(flipped(matvec), ct, back.at(held), forth.at(held), symmetric)

        def residual(*values: Any) -> Any:
            full = list(held)
            for i, v in zip(places, values, strict=True):
                full[i] = v
            return full[0] - equation.at(full[1:])(y)

        return vjp(residual, *(held[i] for i in places))[1](dual)

    return with_tangent("custom_linear_solve", x, held, tangent, pullback, linear=0)
