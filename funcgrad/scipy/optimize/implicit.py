"""What the solvers share: SciPy behind them, the implicit function theorem in front of them.

NOTE [Solvers] SciPy finds the values. Where nothing is traced it is called as it is, with derivatives
by funcgrad. Where something is, the user's function is recorded once as a program of ``x`` and of what
it closes over; the solver runs that when the values are known, and its result depends on them as the
implicit function theorem says, to any order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import numpy as fnp
from ... import tree
from ...core import Aval, Tracer, aval_of
from ...errors import ArgumentError, ShapeError, where
from ...indexing import known
from ...numpy._arguments import array_of, converted
from ...ops.from_scipy import scipy_package
from ...ops.select import stop_gradient
from ...transforms.derivatives import jacfwd
from ...transforms.jvp import jvp
from ...transforms.vjp import vjp
from .._programs import directional, with_tangent

Function = Callable[..., Any]

LATER = "The solver runs when the program does; see success."
INT, BOOL, FLOAT = (np.dtype(d) for d in (np.int64, np.bool_, np.float64))


def scipy(name: str) -> Any:
    """SciPy's `scipy.optimize`, for the function `name`."""
    return scipy_package("optimize", name)


def extras(args: Any) -> tuple[Any, ...]:
    """The further arguments of a user's function: SciPy takes a single one without a tuple."""
    return args if isinstance(args, tuple) else (args,)


def point(name: str, what: str, x: Any, *, rank: int | None = 1) -> Any:
    """A start as a floating array, of `rank` axes unless that is None; a number has one axis."""
    x = array_of(x)
    x = x if aval_of(x).dtype.kind in "fc" else converted(x, FLOAT)
    x = fnp.atleast_1d(x) if rank == 1 else x
    if rank is not None and x.ndim != rank:
        raise ShapeError(
            f"{name}: {what} has shape {list(x.shape)}; need {'a row' if rank else 'a number'}"
            f"{where()}"
        )
    return x


def refuse(name: str, why: str, **options: Any) -> None:
    """Raise for an option that is given."""
    for option, value in options.items():
        if value is not None and not (isinstance(value, tuple | list | int) and not value):
            raise ArgumentError(f"{name}: {option}= is not supported {why}{where()}")


def require_constants(name: str, **options: Any) -> None:
    """Raise for an option of a solver that depends on a traced value."""
    for option, value in options.items():
        parts = [value.lb, value.ub] if hasattr(value, "lb") else [value]
        if any(isinstance(x, Tracer) for x in tree.leaves(parts)):
            raise ArgumentError(
                f"{name}: {option}= is traced; the solver needs a constant, and there is no derivative "
                f"by it{where()}"
            )


def flag(size: Any = ()) -> Aval:
    return Aval(size, BOOL)


def count() -> Aval:
    return Aval((), INT)


def plain(x: Any) -> Any:
    """A count or a flag as Python's, where it is known."""
    value = known(x)
    return x if value is None or np.ndim(value) else value.item()


def negative_slope(f: Function, x: Any, dot: Any, *, transposed: bool = False) -> Any:
    """``-(df/dx)^-1 dot`` for an `f` that works element by element, which is its own transpose."""
    return dot * (-1.0 / jvp(f, (x,), (fnp.ones_like(x),))[1])


def negative_solve(f: Function, x: Any, dot: Any, *, transposed: bool = False) -> Any:
    """``-(df/dx)^-1 dot`` with the whole Jacobian, or with its transpose."""
    size = aval_of(x).size
    holomorphic = aval_of(x).dtype.kind == "c"
    matrix = fnp.reshape(jacfwd(f, holomorphic=holomorphic)(x), (size, size))
    matrix = fnp.transpose(matrix) if transposed else matrix
    found = fnp.linalg.solve(matrix, fnp.reshape(dot, (size,)))
    return -fnp.reshape(found, aval_of(x).shape)


def implicit(
    name: str,
    x: Any,
    held: Sequence[Any],
    residual: Function,
    solve: Function = negative_solve,
    *,
    found: Any,
) -> Any:
    """`x`, where ``residual(*held, x)`` is 0, with the derivatives by `held` that follow.

    They are nan where `found` says that it is not 0.
    """

    def at(held: Sequence[Any]) -> Function:
        return lambda v: residual(*held[1:], v)

    def tangent(y: Any, held: Sequence[Any], dots: Sequence[Any]) -> Any:
        dot = directional(lambda *h: at(h)(y), held, dots)
        return None if dot is None else _known(held[0], y) * solve(at(held), y, dot)

    def pullback(y: Any, held: Sequence[Any], places: Sequence[int], ct: Any) -> Any:
        def of_moving(*values: Any) -> Any:
            full = list(held)
            for i, v in zip(places, values, strict=True):
                full[i] = v
            return at(full)(y)

        dual = solve(at(held), y, ct * _known(held[0], y), transposed=True)
        return vjp(of_moving, *(held[i] for i in places))[1](dual)

    return with_tangent(name, x, [found, *held], tangent, pullback)


def _known(found: Any, x: Any) -> Any:
    """A factor for derivatives: 1, and nan where no solution was found."""
    return fnp.where(found, 1.0, np.nan).astype(_real(x))


def _real(x: Any) -> np.dtype[Any]:
    """The precision of `x`."""
    return np.finfo(aval_of(x).dtype).dtype


def is_solution(success: Any, x: Any, residual: Function, solve: Function = negative_solve) -> Any:
    """Whether a solver's `x` is a zero of `residual`, on the host.

    Solvers also report no success where rounding errors stop them, at the solution. There Newton's
    step is small.
    """
    if np.all(success):
        return success
    try:
        step = np.absolute(solve(residual, x, residual(x)))
    except np.linalg.LinAlgError:
        return success
    near = step <= float(np.finfo(_real(x)).eps) ** 0.25 * (1.0 + np.absolute(x))
    return np.logical_or(success, near if solve is negative_slope else np.all(near))


def where_free(gradient: Function) -> Function:
    """A gradient that has to be 0 where `free`; elsewhere x stays where it is, on a bound."""

    def residual(free: Any, *held_and_x: Any) -> Any:
        x = held_and_x[-1]
        return fnp.where(free, gradient(*held_and_x), x - stop_gradient(x))

    return residual


def free_of(x: Any, slope: Any, bend: Any, low: Any, high: Any) -> Any:
    """Which elements are on no bound: Newton's step for each of them alone stays inside.

    Solvers end near a bound and not always on it.
    """
    gap = np.where(slope > 0, x - low, high - x)
    inner = np.abs(slope) <= np.abs(bend) * np.where(np.isinf(gap), 0.0, gap)
    return np.isinf(gap) | inner


def in_precision(found: Any, x0: Any) -> Any:
    """SciPy's result with `x` in the dtype of the start, as it is under transforms."""
    found.x = found.x.astype(aval_of(x0).dtype)
    return found


def said(messages: Sequence[str]) -> str:
    """What the solver said, if it has run, once."""
    return messages[0] if len(messages) == 1 else LATER
