"""Minima: `minimize`, `minimize_scalar`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ... import numpy as fnp
from ...core import Aval, aval_of
from ...errors import ArgumentError, ShapeError, where
from ...transforms.arguments import require_callable
from ...transforms.derivatives import grad, hessian
from .._arrays import host_only
from .._programs import Programs, on_host, tracing
from .constrained import Conditions, Constraint, constraints_of, limits_of, with_slopes
from .implicit import (
    FLOAT,
    count,
    extras,
    flag,
    free_of,
    implicit,
    in_precision,
    is_solution,
    negative_slope,
    plain,
    point,
    refuse,
    require_constants,
    said,
    scipy,
    where_free,
)

_WITHOUT_GRADIENT = ("nelder-mead", "powell", "cobyla", "cobyqa")
_WITH_HESSIAN = ("newton-cg", "dogleg", "trust-ncg", "trust-krylov", "trust-exact")
_ON_BOUNDS = ("l-bfgs-b", "tnc", "slsqp", "powell", "nelder-mead")


@host_only
def minimize(
    fun: Callable[..., Any],
    x0: Any,
    args: Any = (),
    method: str | None = None,
    jac: Any = None,
    hess: Any = None,
    hessp: Any = None,
    bounds: Any = None,
    constraints: Any = (),
    tol: float | None = None,
    callback: Any = None,
    options: Any = None,
) -> Any:
    """An `x` near `x0` at which ``fun(x, *args)`` is least.

    SciPy finds it with funcgrad's gradient, and Hessian where the method takes one (a `jac` or `hess`
    of your own is used as it is): BFGS, or L-BFGS-B with `bounds`, SLSQP with `constraints`, unless
    `method` names another of SciPy's. In compiled programs it runs when they do, under `vmap` for one
    example after another. Under a transform the result has the fields ``x``, ``fun``, ``jac``,
    ``success``, ``status``, ``message``, ``nit``, ``nfev``.

    Shapes: ``x0: (n), fun: (n) -> ()``.   Dtypes: real floating; integers give float64.
    Derivative: that of the minimum, ``-H^-1 d(grad f)/dargs`` with the Hessian H, to any order; also by
    what `fun` closes over; none by `x0`. An element on a bound stays there. It is as exact as the
    minimum, so lower `tol`, and nan where the solver ends elsewhere. Under constraints those of Karush,
    Kuhn and Tucker's equations, also by what constraints close over; constraints without a force are as
    if they were not there.
    Raises: LinAlgError: the Hessian is singular, or constraints depend on each other. ShapeError: `fun`
    gives no number. ArgumentError: no constraint, and under a transform `hessp`, `callback`, and
    methods whose minimum is near a bound.
    ConcretizationError: `fun` branches on traced values.
    Source: Nocedal & Wright, "Numerical Optimization", Springer 2006; Krantz & Parks, "The Implicit
    Function Theorem", Birkhäuser 2002; SciPy reference, ``scipy.optimize.minimize``.

    >>> import funcgrad
    >>> loss = lambda x, c: (x[0] - c) ** 4 + (x[0] - c) ** 2 + (x[1] - x[0] ** 2) ** 2
    >>> at = lambda c: minimize(loss, np.zeros(2), (c,), tol=1e-10).x
    >>> at(2.0).round(6).tolist(), funcgrad.jacrev(at)(2.0).round(6).tolist()
    ([2.0, 4.0], [1.0, 4.0])
    >>> on_line = lambda c: {"type": "eq", "fun": lambda x: x[0] + x[1] - c}
    >>> nearest = lambda c: minimize(lambda x: x @ x, np.zeros(2), constraints=on_line(c)).x
    >>> funcgrad.jacrev(nearest)(1.0).round(6).tolist()
    [0.5, 0.5]
    """
    require_callable("minimize", fun)
    bound_by = constraints_of("minimize", constraints)
    solver, further = scipy("minimize").minimize, extras(args)
    x0 = point("minimize", "x0", x0)
    usual = "slsqp" if bound_by else "l-bfgs-b" if bounds is not None else "bfgs"
    kind = "own" if callable(method) else (method or usual).lower()

    def f(x: Any) -> Any:
        found = fun(x, *further)
        return number_of(found[0] if jac is True else found)

    given = {"jac": jac, "hess": hess}
    own = {k: (lambda x, g=g: g(x, *further)) for k, g in given.items() if callable(g)}

    def solve(f: Any, own: dict[str, Any], x0: Any, **more: Any) -> Any:
        slopes = dict(own)
        if kind not in _WITHOUT_GRADIENT and "jac" not in slopes:
            slopes["jac"] = grad(f)
        if kind in _WITH_HESSIAN and "hess" not in slopes and "hessp" not in more:
            slopes["hess"] = hessian(f)
        return solver(
            f, x0, method=method, bounds=bounds, tol=tol, options=options, **slopes, **more
        )

    exact = kind not in _WITHOUT_GRADIENT and "jac" not in own
    if not tracing():
        more: dict[str, Any] = {"callback": callback}
        if bound_by:
            more["constraints"] = with_slopes(bound_by, exact=exact)
        if hessp is not None:
            more["hessp"] = lambda x, p: hessp(x, p, *further)
        return in_precision(solve(f, own, x0, **more), x0)
    refuse("minimize", "under transforms", hessp=hessp, callback=callback)
    require_constants("minimize", bounds=bounds, tol=tol, options=options)
    if bound_by:
        return _constrained_minimum("minimize", f, own, x0, solve, bounds, bound_by, exact)
    if bounds is not None and kind not in _ON_BOUNDS:
        raise ArgumentError(
            f"minimize: method={method!r} ends near bounds and not on them, so the minimum has no "
            f"derivative; need one of {', '.join(_ON_BOUNDS)}{where()}"
        )
    return traced_minimum("minimize", f, own, x0, solve, bounds)


def number_of(y: Any) -> Any:
    """An array with one element as a number, as SciPy takes it."""
    return y.reshape(()) if getattr(y, "shape", ()) and y.size == 1 else y


def traced_minimum(name: str, f: Any, own: dict[str, Any], x0: Any, solve: Any, bounds: Any) -> Any:
    """The minimum that ``solve(f, own, x0)`` finds on the host, with its derivatives."""
    program = Programs([f, *own.values()], [aval_of(x0)])
    value = program.run[0]
    _require_number(name, program.out_avals[0])
    messages: list[str] = []
    low, high = _limits(name, bounds, aval_of(x0).shape[0])

    def compute(x0: Any, *held: Any) -> list[Any]:
        f, *rest = [(lambda x, r=r: r(*held, x)) for r in program.run]
        found = solve(f, dict(zip(own, rest, strict=True)), x0)
        messages.append(found.message)
        free = _free(f, found.x, low, high)
        is_least = is_solution(found.success, found.x, lambda v: residual(free, *held, v))
        numbers = [found.success, found.get("status", 0), found.get("nit", 0), found.nfev]
        return [found.x, free, is_least, *numbers]

    gradient = _gradient(value)
    residual = where_free(gradient)
    types = [aval_of(x0), flag(aval_of(x0).shape), flag(), flag(), count(), count(), count()]
    x, free, is_least, *numbers = on_host(name, compute, [x0, *program.held], types)
    if bounds is None:
        x = implicit(name, x, program.held, gradient, found=is_least)
    else:
        x = implicit(name, x, [free, *program.held], residual, found=is_least)
    return _result(value, program.held, x, messages, numbers)


def _constrained_minimum(
    name: str,
    f: Any,
    own: dict[str, Any],
    x0: Any,
    solve: Any,
    bounds: Any,
    constraints: Sequence[Constraint],
    exact: bool,
) -> Any:
    """As `traced_minimum`, under constraints; NOTE [Active] in constrained.py."""
    dtype, x0 = aval_of(x0).dtype, fnp.asarray(x0, FLOAT)
    n, count_of = aval_of(x0).shape[0], len(constraints)
    given = [c.jac for c in constraints if c.jac is not None]
    functions = [f, *(c.fun for c in constraints), *given, *own.values()]
    program = Programs(functions, [aval_of(x0)])
    _require_number(name, program.out_avals[0])
    values = program.run[1 : 1 + count_of]
    low, high = limits_of(name, constraints, program.out_avals[1 : 1 + count_of])
    conditions = Conditions(program.run[0], values, low, high, _limits(name, bounds, n), n)
    messages: list[str] = []

    def compute(x0: Any, *held: Any) -> list[Any]:
        f, *rest = [(lambda x, r=r: r(*held, x)) for r in program.run]
        jacs, slopes = iter(rest[count_of:]), rest[count_of + len(given) :]
        there = [
            replace(c, fun=g, jac=None if c.jac is None else next(jacs))
            for c, g in zip(constraints, rest, strict=False)
        ]
        found = solve(
            f,
            dict(zip(own, slopes, strict=True)),
            x0,
            constraints=with_slopes(there, exact=exact),
        )
        messages.append(found.message)
        active, bound, m = conditions.active(held, x0, found.x)
        z = np.concatenate([found.x, m])
        is_least = is_solution(False, z, lambda v: conditions.residual(active, bound, *held, v))
        numbers = [found.success, found.get("status", 0), found.get("nit", 0), found.nfev]
        return [z, active, bound, is_least, *numbers]

    rows = (n + len(low),)
    types = [Aval((n + rows[0],), FLOAT), flag(rows), Aval(rows, FLOAT), flag(), flag()]
    z, active, bound, is_least, *numbers = on_host(
        name, compute, [x0, *program.held], [*types, count(), count(), count()]
    )
    held = [active, bound, *program.held]
    z = implicit(name, z, held, conditions.residual, found=is_least)
    x = fnp.asarray(z[:n], dtype)
    return _result(program.run[0], program.held, x, messages, numbers)


def _require_number(name: str, aval: Aval) -> None:
    if aval.shape:
        raise ShapeError(f"{name}: the function gives {aval}; need a number{where()}")


def _result(
    value: Callable[..., Any], held: Sequence[Any], x: Any, messages: Any, numbers: Any
) -> Any:
    success, status, nit, nfev = map(plain, numbers)
    return scipy("minimize").OptimizeResult(
        x=x,
        fun=value(*held, x),
        jac=_gradient(value)(*held, x),
        success=success,
        status=status,
        message=said(messages),
        nit=nit,
        nfev=nfev,
    )


def _limits(name: str, bounds: Any, n: int) -> tuple[Any, Any]:
    """SciPy's bounds, an object or pairs, as two rows."""
    if bounds is None:
        return -np.inf, np.inf
    if hasattr(bounds, "lb"):
        return bounds.lb, bounds.ub
    pairs: Sequence[Any] = list(bounds)
    if len(pairs) != n:
        raise ShapeError(f"{name}: {len(pairs)} bounds for {n} elements of x0{where()}")
    low = [-np.inf if a is None else a for a, _ in pairs]
    return low, [np.inf if b is None else b for _, b in pairs]


def _gradient(value: Callable[..., Any]) -> Callable[..., Any]:
    """The gradient by the last argument, which is 0 at a minimum."""
    return lambda *held_and_x: grad(lambda v: value(*held_and_x[:-1], v))(held_and_x[-1])


def _free(f: Callable[..., Any], x: Any, low: Any, high: Any) -> Any:
    """Which elements of the minimum are on no bound."""
    slope, bend = (grad(f)(x), hessian(f)(x)) if _bounded(low, high) else (x * 0.0, x * 0.0)
    return free_of(x, slope, np.diagonal(bend) if bend.ndim > 1 else bend, low, high)


def _bounded(low: Any, high: Any) -> bool:
    return bool(np.isfinite(low).any() or np.isfinite(high).any())


@host_only
def minimize_scalar(
    fun: Callable[..., Any],
    bracket: Any = None,
    bounds: Any = None,
    args: Any = (),
    method: str | None = None,
    tol: float | None = None,
    options: Any = None,
) -> Any:
    """An `x`, one number, at which ``fun(x, *args)`` is least.

    As `minimize` in everything else; `bounds` are where to look, and a minimum at one of them has the
    derivative 0.

    Shapes: scalars.   Dtypes: real; gives float64.
    Derivative: ``-(d2f/dx dargs) / (d2f/dx2)`` at the minimum, to any order.
    Raises: as `minimize`.
    Source: SciPy reference, ``scipy.optimize.minimize_scalar``.

    >>> import funcgrad
    >>> at = lambda c: minimize_scalar(lambda x: np.cosh(x - c) + 0.5 * x * x).x
    >>> float(round(at(0.0), 6)), float(funcgrad.grad(at)(0.0).round(6))
    (0.0, 0.5)
    """
    require_callable("minimize_scalar", fun)
    solver, further = scipy("minimize_scalar").minimize_scalar, extras(args)
    require_constants("minimize_scalar", bracket=bracket, bounds=bounds, tol=tol, options=options)
    low, high = (-np.inf, np.inf) if bounds is None else map(float, bounds)

    def f(x: Any) -> Any:
        return number_of(fun(x, *further))

    def solve(f: Any) -> Any:
        return solver(f, bracket, bounds, method=method, tol=tol, options=options)

    if not tracing():
        return solve(f)
    program = Programs([f], [Aval((), FLOAT)])
    value, messages = program.run[0], []
    _require_number("minimize_scalar", program.out_avals[0])

    def compute(*held: Any) -> list[Any]:
        found = solve(lambda x: float(value(*held, np.float64(x))))
        messages.append(found.message)
        x = np.float64(found.x)
        free = _free(lambda x: value(*held, x), x, low, high)
        is_least = is_solution(found.success, x, lambda v: residual(free, *held, v), negative_slope)
        return [x, free, is_least, found.success, found.get("nit", 0), found.nfev]

    residual = where_free(_gradient(value))
    types = [Aval((), FLOAT), flag(), flag(), flag(), count(), count()]
    x, free, is_least, *numbers = on_host("minimize_scalar", compute, program.held, types)
    success, nit, nfev = map(plain, numbers)
    held = [free, *program.held]
    x = implicit("minimize_scalar", x, held, residual, negative_slope, found=is_least)
    return scipy("minimize_scalar").OptimizeResult(
        x=x,
        fun=fnp.asarray(value(*program.held, x)),
        success=success,
        message=said(messages),
        nit=nit,
        nfev=nfev,
    )
