"""Systems of equations: `root`, `fsolve`, `fixed_point`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import numpy as fnp
from ...core import Aval, aval_of
from ...errors import ShapeError, where
from ...numpy._arguments import array_of
from ...transforms.arguments import require_callable
from ...transforms.derivatives import jacfwd
from .._arrays import host_only
from .._programs import Programs, on_host, tracing
from .implicit import (
    count,
    extras,
    flag,
    implicit,
    in_precision,
    is_solution,
    plain,
    point,
    refuse,
    require_constants,
    said,
    scipy,
)

_WITH_JACOBIAN = ("hybr", "lm")


@host_only
def root(
    fun: Callable[..., Any],
    x0: Any,
    args: Any = (),
    method: str = "hybr",
    jac: Any = None,
    tol: float | None = None,
    callback: Any = None,
    options: Any = None,
) -> Any:
    """An `x` near `x0` with ``fun(x, *args) = 0``, as many equations as unknowns.

    SciPy finds it with funcgrad's Jacobian ("hybr" and "lm"; a `jac` of your own is used as it is), in
    compiled programs when they run, under `vmap` for one example after another. The result has the
    fields ``x``, ``fun``, ``success``, ``status``, ``message``, ``nfev``.

    Shapes: ``x0: (n), fun: (n) -> (n)``.   Dtypes: real floating; integers give float64.
    Derivative: ``-(df/dx)^-1 df/dargs`` at the root, to any order; also by what `fun` closes over; none
    by `x0`. It is nan where the solver ends elsewhere.
    Raises: LinAlgError: the Jacobian is singular at the root. ShapeError: `fun` gives another shape.
    ArgumentError: `callback` under a transform. ConcretizationError: `fun` branches on traced values.
    Source: Krantz & Parks, "The Implicit Function Theorem", Birkhäuser 2002; SciPy reference,
    ``scipy.optimize.root``.

    >>> import funcgrad
    >>> f = lambda x, c: [x[0] + x[1] - c, x[0] - x[1] ** 3]
    >>> at = lambda c: root(f, [1.0, 1.0], (c,)).x
    >>> at(10.0).round(6).tolist(), funcgrad.jacfwd(at)(10.0).round(6).tolist()
    ([8.0, 2.0], [0.923077, 0.076923])
    """
    require_callable("root", fun)
    solver, further = scipy("root").root, extras(args)
    x0 = point("root", "x0", x0)

    def f(x: Any) -> Any:
        found = fun(x, *further)
        return fnp.atleast_1d(array_of(found[0] if jac is True else found))

    given = [lambda x: jac(x, *further)] if callable(jac) else []
    own = method in _WITH_JACOBIAN and not given

    def solve(f: Any, slopes: Sequence[Any], x0: Any, callback: Any = None) -> Any:
        slope = slopes[0] if slopes else jacfwd(f) if own else None
        return solver(f, x0, method=method, jac=slope, tol=tol, callback=callback, options=options)

    if not tracing():
        return in_precision(solve(f, given, x0, callback), x0)
    refuse("root", "under transforms", callback=callback)
    require_constants("root", tol=tol, options=options)
    program = Programs([f, *given], [aval_of(x0)])
    _require_square("root", program.out_avals[0], x0)
    messages: list[str] = []

    def compute(x0: Any, *held: Any) -> list[Any]:
        found = solve(*_at(program, held), x0)
        messages.append(found.message)
        is_root = is_solution(found.success, found.x, _at(program, held)[0])
        status = found.get("status", not found.success)
        return [found.x, is_root, found.success, status, found.nfev]

    types = [aval_of(x0), flag(), flag(), count(), count()]
    x, is_root, success, status, nfev = on_host("root", compute, [x0, *program.held], types)
    x = implicit("root", x, program.held, program.run[0], found=is_root)
    return scipy("root").OptimizeResult(
        x=x,
        fun=program.run[0](*program.held, x),
        success=plain(success),
        status=plain(status),
        message=said(messages),
        nfev=plain(nfev),
        method=method,
    )


def _at(program: Programs, held: Sequence[Any]) -> tuple[Any, list[Any]]:
    """The function and those given with it, for known values of what they close over."""
    first, *rest = [(lambda x, r=r: r(*held, x)) for r in program.run]
    return first, rest


def _require_square(name: str, found: Aval, x0: Any) -> None:
    if found.shape != aval_of(x0).shape:
        raise ShapeError(
            f"{name}: the function gives shape {list(found.shape)} for x of shape "
            f"{list(aval_of(x0).shape)}; need the same{where()}"
        )


@host_only
def fsolve(
    func: Callable[..., Any],
    x0: Any,
    args: Any = (),
    fprime: Callable[..., Any] | None = None,
    full_output: bool = False,
    col_deriv: bool = False,
    xtol: float = 1.49012e-8,
    maxfev: int = 0,
    band: tuple[int, int] | None = None,
    epsfcn: float | None = None,
    factor: float = 100,
    diag: Any = None,
) -> Any:
    """The `x` of ``root(func, x0, args, jac=fprime)``, under SciPy's older name.

    `full_output`: ``(x, {"nfev", "fvec"}, status, message)``. `col_deriv`: `fprime` gives the transpose
    of the Jacobian. The rest are options of "hybr". Where there is no convergence, a RuntimeWarning
    says why, unless `full_output` does.

    Shapes: ``x0: (n), func: (n) -> (n)``.   Dtypes: real floating; integers give float64.
    Derivative: that of `root`.
    Raises: as `root`.
    Source: as `root`; SciPy reference, ``scipy.optimize.fsolve``.

    >>> import funcgrad
    >>> at = lambda c: fsolve(lambda x: [x[0] ** 2 - c * x[1], x[1] - 4.0], [1.0, 1.0])[0]
    >>> at(1.0).round(6), funcgrad.grad(at)(1.0).round(6)
    (np.float64(2.0), np.float64(1.0))
    """
    require_callable("fsolve", func)

    def by_rows(x: Any, *rest: Any) -> Any:
        return fnp.transpose(array_of(fprime(x, *rest)))  # type: ignore[misc]

    options = {"xtol": xtol, "maxfev": maxfev, "band": band, "eps": epsfcn, "factor": factor}
    jac = by_rows if fprime is not None and col_deriv else fprime
    found = root(func, x0, args, jac=jac, options={**options, "diag": diag})
    if full_output:
        return found.x, {"nfev": found.nfev, "fvec": found.fun}, found.status, found.message
    if not tracing() and not found.success:
        warnings.warn(found.message, RuntimeWarning, stacklevel=2)
    return found.x


@host_only
def fixed_point(
    func: Callable[..., Any],
    x0: Any,
    args: Any = (),
    xtol: float = 1e-8,
    maxiter: int = 500,
    method: str = "del2",
) -> Any:
    """An `x` near `x0` with ``func(x, *args) = x``, by applying `func` again and again.

    As `root` in everything else.

    Shapes: ``x0: (*a) -> (*a)``, func the same.   Dtypes: real floating; integers give float64.
    Derivative: ``(1 - df/dx)^-1 df/dargs`` at the fixed point, to any order; none by `x0`.
    Raises: RuntimeError: from SciPy, if there is no convergence. LinAlgError: ``1 - df/dx`` is
    singular.
    Source: as `root`; SciPy reference, ``scipy.optimize.fixed_point``.

    >>> import funcgrad
    >>> at = lambda c: fixed_point(lambda x: np.cos(c * x), 0.5)
    >>> float(round(at(1.0), 6)), float(funcgrad.grad(at)(1.0).round(6))
    (0.739085, -0.297474)
    """
    require_callable("fixed_point", func)
    solver, further = scipy("fixed_point").fixed_point, extras(args)
    x0 = point("fixed_point", "x0", x0, rank=None)

    def f(x: Any) -> Any:
        return array_of(func(x, *further))

    def solve(f: Any, x0: Any) -> Any:
        return solver(f, x0, xtol=xtol, maxiter=maxiter, method=method)

    if not tracing():
        return solve(f, x0)[()]
    require_constants("fixed_point", xtol=xtol, maxiter=maxiter)
    program = Programs([f], [aval_of(x0)])
    _require_square("fixed_point", program.out_avals[0], x0)

    def compute(x0: Any, *held: Any) -> list[Any]:
        return [solve(_at(program, held)[0], np.asarray(x0))]

    def residual(*held_and_x: Any) -> Any:
        return program.run[0](*held_and_x) - held_and_x[-1]

    (x,) = on_host("fixed_point", compute, [x0, *program.held], [aval_of(x0)])
    return implicit("fixed_point", x, program.held, residual, found=True)
