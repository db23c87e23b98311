"""Roots of functions of one number: `root_scalar`, `newton`, and the methods that bracket."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import numpy as fnp
from ...core import Aval, aval_of
from ...errors import ArgumentError, where
from ...transforms.arguments import require_callable
from ...transforms.jvp import jvp
from .._arrays import host_only
from .._programs import Programs, on_host, tracing
from .._results import Result
from .implicit import (
    FLOAT,
    count,
    extras,
    flag,
    implicit,
    is_solution,
    negative_slope,
    plain,
    point,
    require_constants,
    scipy,
)

_XTOL = 2e-12
_RTOL = 4 * float(np.finfo(float).eps)


def _slope(f: Callable[..., Any]) -> Callable[..., Any]:
    """The derivative of a function that works element by element."""

    def slope(x: Any) -> Any:
        x = np.asarray(x)
        return jvp(f, (x,), (np.ones_like(x),))[1]

    return slope


def _found(
    name: str,
    f: Callable[..., Any],
    given: Sequence[Callable[..., Any] | None],
    starts: Sequence[Any],
    solve: Callable[..., Sequence[Any]],
    *,
    own_slope: bool,
    dtype: Any = FLOAT,
) -> list[Any]:
    """A root by ``solve(f, derivatives, *starts)``, and the counts that come with it.

    `given`: the user's derivatives, or None. The root has the shape of the first start.
    """

    def derivatives(f: Callable[..., Any], own: Sequence[Any]) -> list[Any]:
        return [_slope(f) if own_slope and not any(own) else own[0], own[1]]

    shape = aval_of(starts[0]).shape
    functions = [g for g in given if g is not None]
    program = Programs([f, *functions], [Aval(shape, dtype)])
    residual = program.run[0]

    def compute(*values: Any) -> list[Any]:
        xs, held = values[: len(starts)], values[len(starts) :]
        runs = iter(program.run[1:])
        own = [None if g is None else _on(next(runs), held) for g in given]
        g = _on(residual, held)
        x, *rest, converged = solve(g, derivatives(g, own), *xs)
        is_root = is_solution(converged, np.asarray(x, dtype), g, negative_slope)
        return [x, np.broadcast_to(is_root, shape), *rest, np.all(converged)]

    types = [Aval(shape, dtype), flag(shape), count(), count(), flag()]
    x, is_root, *counts = on_host(name, compute, [*starts, *program.held], types)
    x = implicit(name, x, program.held, residual, negative_slope, found=is_root)
    return [x, *map(plain, counts)]


def _on(run: Callable[..., Any], held: Sequence[Any]) -> Callable[..., Any]:
    return lambda x: run(*held, x)


@host_only
def root_scalar(
    f: Callable[..., Any],
    args: Any = (),
    method: str | None = None,
    bracket: Any = None,
    fprime: Any = None,
    fprime2: Any = None,
    x0: Any = None,
    x1: Any = None,
    xtol: float | None = None,
    rtol: float | None = None,
    maxiter: int | None = None,
    options: Any = None,
) -> Any:
    """An `x`, one number, with ``f(x, *args) = 0``.

    SciPy finds it, in compiled programs when they run, under `vmap` for one example after another. The
    result has the fields ``root``, ``converged``, ``iterations``, ``function_calls``. Newton's method
    takes funcgrad's derivative of `f` if `fprime` is not given.

    Shapes: scalars.   Dtypes: real; gives float64.
    Derivative: ``-(df/dargs) / (df/dx)`` at the root, to any order; also by what `f` closes over; none
    by `bracket`, `x0` and `x1`; nan where the solver ends elsewhere.
    Raises: ArgumentError: `f` is no function, or the choice of method. ValueError: from SciPy, for a
    bracket without a change of sign. ConcretizationError: `f` branches on values that are traced.
    Source: Krantz & Parks, "The Implicit Function Theorem", Birkhäuser 2002; SciPy reference,
    ``scipy.optimize.root_scalar``.

    >>> import funcgrad
    >>> root = lambda c: root_scalar(lambda x, c: x**3 - c, (c,), bracket=[0.0, 5.0]).root
    >>> float(round(root(8.0), 9)), float(funcgrad.grad(root)(8.0).round(9))
    (2.0, 0.083333333)
    """
    require_callable("root_scalar", f)
    solver = scipy("root_scalar").root_scalar
    further = extras(args)
    starts = [*(bracket if bracket is not None else ()), *(x for x in (x0, x1) if x is not None)]
    if not starts:
        raise ArgumentError(f"root_scalar: where to start? Give a bracket or x0{where()}")
    xs = [point("root_scalar", "a start", x, rank=0) for x in starts]
    if method is None and bracket is None and x1 is None and not fprime2:
        method = "newton"
    own_slope = method in ("newton", "halley") and not callable(fprime)

    def solve(f: Any, derivatives: Any, *xs: Any) -> Any:
        pair = [float(x) for x in xs[:2]] if bracket is not None else None
        rest = iter(map(float, xs[2:] if bracket is not None else xs))
        return solver(
            f,
            method=method,
            bracket=pair,
            fprime=derivatives[0],
            fprime2=derivatives[1],
            x0=None if x0 is None else next(rest),
            x1=None if x1 is None else next(rest),
            xtol=xtol,
            rtol=rtol,
            maxiter=maxiter,
            options=options,
        )

    given = [_with(g, further) if callable(g) else None for g in (fprime, fprime2)]
    g = _with(f, further)
    if fprime is True:
        g = _with(lambda x, *a: f(x, *a)[0], further)
    if not tracing():
        return solve(g, [_slope(g) if own_slope else given[0], given[1]], *xs)
    require_constants("root_scalar", xtol=xtol, rtol=rtol, maxiter=maxiter, options=options)

    def numbers(*parts: Any) -> list[Any]:
        r = solve(*parts)
        return [r.root, r.iterations, r.function_calls, r.converged]

    root, iterations, calls, converged = _found(
        "root_scalar", g, given, xs, numbers, own_slope=own_slope
    )
    return Result(
        converged=converged, function_calls=calls, iterations=iterations, root=root, method=method
    )


def _with(f: Callable[..., Any], further: tuple[Any, ...]) -> Callable[..., Any]:
    return lambda x: f(x, *further)


def _bracketed(
    name: str, f: Any, a: Any, b: Any, args: Any, full_output: bool, options: dict[str, Any]
) -> Any:
    """A root between `a` and `b` by SciPy's function `name`."""
    require_callable(name, f)
    xs = [point(name, what, x, rank=0) for what, x in (("a", a), ("b", b))]
    solver, g = getattr(scipy(name), name), _with(f, extras(args))
    if not tracing():
        x, about = solver(g, *map(float, xs), full_output=True, **options)
        return (x, about) if full_output else x
    require_constants(name, **options)

    def numbers(f: Any, _: Any, a: Any, b: Any) -> list[Any]:
        x, r = solver(f, float(a), float(b), full_output=True, **options)
        return [x, r.iterations, r.function_calls, r.converged]

    x, iterations, calls, converged = _found(name, g, (None, None), xs, numbers, own_slope=False)
    about = Result(
        converged=converged, function_calls=calls, iterations=iterations, root=x, method=name
    )
    return (x, about) if full_output else x


@host_only
def brentq(
    f: Callable[..., Any],
    a: Any,
    b: Any,
    args: Any = (),
    xtol: float = _XTOL,
    rtol: float = _RTOL,
    maxiter: int = 100,
    full_output: bool = False,
    disp: bool = True,
) -> Any:
    """An `x` between `a` and `b` with ``f(x, *args) = 0``, by Brent's method.

    As `root_scalar` in everything else.

    Shapes: scalars.   Dtypes: real; gives float64.
    Derivative: as `root_scalar`.
    Raises: ValueError: from SciPy, without a change of sign. RuntimeError: no convergence.
    Source: Brent, "Algorithms for Minimization Without Derivatives", 1973; SciPy reference,
    ``scipy.optimize.brentq``.

    >>> import funcgrad
    >>> root = lambda c: brentq(lambda x: x * x - c, 0.0, 9.0)
    >>> float(funcgrad.grad(root)(4.0).round(9))
    0.25
    """
    options = {"xtol": xtol, "rtol": rtol, "maxiter": maxiter, "disp": disp}
    return _bracketed("brentq", f, a, b, args, full_output, options)


@host_only
def bisect(
    f: Callable[..., Any],
    a: Any,
    b: Any,
    args: Any = (),
    xtol: float = _XTOL,
    rtol: float = _RTOL,
    maxiter: int = 100,
    full_output: bool = False,
    disp: bool = True,
) -> Any:
    """An `x` between `a` and `b` with ``f(x, *args) = 0``, by halving.

    As `root_scalar` in everything else.

    Shapes: scalars.   Dtypes: real; gives float64.
    Derivative: as `root_scalar`.
    Raises: ValueError: from SciPy, without a change of sign. RuntimeError: no convergence.
    Source: SciPy reference, ``scipy.optimize.bisect``.

    >>> float(round(bisect(lambda x: x * x - 4.0, 0.0, 9.0), 9))
    2.0
    """
    options = {"xtol": xtol, "rtol": rtol, "maxiter": maxiter, "disp": disp}
    return _bracketed("bisect", f, a, b, args, full_output, options)


@host_only
def brenth(
    f: Callable[..., Any],
    a: Any,
    b: Any,
    args: Any = (),
    xtol: float = _XTOL,
    rtol: float = _RTOL,
    maxiter: int = 100,
    full_output: bool = False,
    disp: bool = True,
) -> Any:
    """An `x` between `a` and `b` with ``f(x, *args) = 0``, by Brent's method with hyperbolic steps.

    As `root_scalar` in everything else.

    Shapes: scalars.   Dtypes: real; gives float64.
    Derivative: as `root_scalar`.
    Raises: ValueError: from SciPy, without a change of sign. RuntimeError: no convergence.
    Source: Bus & Dekker, "Two efficient algorithms with guaranteed convergence for finding a zero of a
    function", ACM TOMS 1 (1975); SciPy reference, ``scipy.optimize.brenth``.

    >>> float(round(brenth(lambda x: x * x - 4.0, 0.0, 9.0), 9))
    2.0
    """
    options = {"xtol": xtol, "rtol": rtol, "maxiter": maxiter, "disp": disp}
    return _bracketed("brenth", f, a, b, args, full_output, options)


@host_only
def ridder(
    f: Callable[..., Any],
    a: Any,
    b: Any,
    args: Any = (),
    xtol: float = _XTOL,
    rtol: float = _RTOL,
    maxiter: int = 100,
    full_output: bool = False,
    disp: bool = True,
) -> Any:
    """An `x` between `a` and `b` with ``f(x, *args) = 0``, by Ridders' method.

    As `root_scalar` in everything else.

    Shapes: scalars.   Dtypes: real; gives float64.
    Derivative: as `root_scalar`.
    Raises: ValueError: from SciPy, without a change of sign. RuntimeError: no convergence.
    Source: Ridders, "A new algorithm for computing a single root of a real continuous function",
    1979; SciPy reference, ``scipy.optimize.ridder``.

    >>> float(round(ridder(lambda x: x * x - 4.0, 0.0, 9.0), 9))
    2.0
    """
    options = {"xtol": xtol, "rtol": rtol, "maxiter": maxiter, "disp": disp}
    return _bracketed("ridder", f, a, b, args, full_output, options)


@host_only
def toms748(
    f: Callable[..., Any],
    a: Any,
    b: Any,
    args: Any = (),
    k: int = 1,
    xtol: float = _XTOL,
    rtol: float = _RTOL,
    maxiter: int = 100,
    full_output: bool = False,
    disp: bool = True,
) -> Any:
    """An `x` between `a` and `b` with ``f(x, *args) = 0``, by `k` Newton-like steps at a time on cubic
    interpolants.

    As `root_scalar` in everything else.

    Shapes: scalars.   Dtypes: real; gives float64.
    Derivative: as `root_scalar`.
    Raises: ValueError: from SciPy, without a change of sign. RuntimeError: no convergence.
    Source: Alefeld, Potra & Shi, "Algorithm 748: enclosing zeros of continuous functions", ACM TOMS 21
    (1995); SciPy reference, ``scipy.optimize.toms748``.

    >>> float(round(toms748(lambda x: x * x - 4.0, 0.0, 9.0), 9))
    2.0
    """
    options = {"xtol": xtol, "rtol": rtol, "maxiter": maxiter, "disp": disp, "k": k}
    return _bracketed("toms748", f, a, b, args, full_output, options)


@host_only
def newton(
    func: Callable[..., Any],
    x0: Any,
    fprime: Any = None,
    args: Any = (),
    tol: float = 1.48e-8,
    maxiter: int = 50,
    fprime2: Any = None,
    x1: Any = None,
    rtol: float = 0.0,
    full_output: bool = False,
    disp: bool = True,
) -> Any:
    """An `x` near `x0` with ``func(x, *args) = 0``, for every element of `x0` by itself.

    By Newton's method with funcgrad's derivative, where SciPy needs `fprime`; by the secant method if
    `x1` is given; by Halley's if `fprime2` is. In everything else as `root_scalar`.

    Shapes: ``x0: (*a) -> (*a)``; `func` works element by element.   Dtypes: floating, complex.
    Derivative: as `root_scalar`, element by element.
    Raises: RuntimeError: from SciPy, if there is no convergence. ArgumentError: `full_output`, under a
    transform.
    Source: SciPy reference, ``scipy.optimize.newton``.

    >>> import funcgrad
    >>> root = lambda c: newton(lambda x: x**2 - c, np.ones(2))
    >>> root(np.array([4.0, 9.0])).round(9).tolist()
    [2.0, 3.0]
    >>> funcgrad.jacrev(root)(np.array([4.0, 9.0])).round(9).tolist()
    [[0.25, 0.0], [0.0, 0.166666667]]
    """
    require_callable("newton", func)
    solver, further = scipy("newton").newton, extras(args)
    xs = [point("newton", "a start", x, rank=None) for x in (x0, x1) if x is not None]
    g = _with(func, further)
    own_slope = not callable(fprime) and x1 is None
    given = [_with(d, further) if callable(d) else None for d in (fprime, fprime2)]

    def solve(f: Any, derivatives: Any, x0: Any, x1: Any = None, full: bool = full_output) -> Any:
        return solver(
            f,
            x0 if x0.shape else x0.item(),
            derivatives[0],
            tol=tol,
            maxiter=maxiter,
            fprime2=derivatives[1],
            x1=x1,
            rtol=rtol,
            full_output=full,
            disp=disp,
        )

    if not tracing():
        return solve(g, [_slope(g) if own_slope else given[0], given[1]], *xs)
    require_constants("newton", tol=tol, rtol=rtol, maxiter=maxiter)
    if full_output:
        raise ArgumentError(f"newton: full_output is not supported under transforms{where()}")
    dtype = np.result_type(*[aval_of(x).dtype for x in xs])
    xs = [fnp.asarray(x, dtype) for x in xs]

    def numbers(f: Any, derivatives: Any, x0: Any, x1: Any = None) -> list[Any]:
        x, about, *_ = solve(f, derivatives, x0, x1, full=True)
        return [x, 0, 0, about if isinstance(about, np.ndarray) else about.converged]

    return _found("newton", g, given, xs, numbers, own_slope=own_slope, dtype=dtype)[0]
