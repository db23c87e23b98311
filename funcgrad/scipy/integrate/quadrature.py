"""Integrals of functions: `quad`, `quad_vec`, `dblquad`, `tplquad`, `nquad`, `fixed_quad`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import numpy as fnp
from ...core import Aval, aval_of
from ...errors import ArgumentError, ShapeError, where
from ...indexing import known
from ...numpy._arguments import array_of, arrays_of, beside, converted
from ...ops.from_scipy import scipy_package
from ...transforms.arguments import require_callable
from ...transforms.derivatives import jacrev
from .._arrays import host_only
from .._programs import Programs, on_host, tracing, with_tangent

_FLOAT = np.dtype(np.float64)
_NOT_CONVERGED = 1  # of SciPy's `quad_vec`, which says nothing more


class _Tolerance:
    """How exact an integral is asked to be, and in how many parts."""

    def __init__(self, epsabs: float, epsrel: float, limit: int) -> None:
        self.options = {"epsabs": float(epsabs), "epsrel": float(epsrel), "limit": int(limit)}

    def of_many(self) -> dict[str, Any]:
        """The same for a vector of integrals: by the largest error."""
        return {**self.options, "norm": "max", "limit": max(self.options["limit"], 1000)}


def _limit(name: str, what: str, x: Any) -> Any:
    x = array_of(x)
    aval = aval_of(x)
    if aval.shape or aval.dtype.kind not in "biuf":
        raise ArgumentError(f"{name}: {what} is {aval}; need a real number{where()}")
    return converted(x, _FLOAT)


def _integral(
    name: str, f: Callable[..., Any], a: Any, b: Any, tolerance: _Tolerance, *, scalar: bool
) -> list[Any]:
    """The integral of ``f(x)`` from `a` to `b` and the estimate of its error."""
    a, b = _limit(name, "a", a), _limit(name, "b", b)
    scipy = scipy_package("integrate", "the integral of a function")
    if not tracing():
        if scalar:
            return list(scipy.quad(f, float(a), float(b), **tolerance.options)[:2])
        return list(scipy.quad_vec(f, float(a), float(b), **tolerance.of_many())[:2])
    program = Programs([f], [Aval((), _FLOAT)])
    (integrand,), (aval,) = program.run, program.out_avals
    if scalar and aval.shape:
        raise ShapeError(f"{name}: the function gives {aval}; need a number{where()}")
    return _traced(name, integrand, a, b, program.held, tolerance, aval, scalar=scalar)


def _traced(
    name: str,
    integrand: Callable[..., Any],
    a: Any,
    b: Any,
    held: Sequence[Any],
    tolerance: _Tolerance,
    aval: Aval,
    *,
    scalar: bool,
    known: bool = False,
) -> list[Any]:
    """The integral of ``integrand(*held, x)`` on the host, with its derivatives (Leibniz).

    If it must be `known`, nan where it does not converge.
    """
    scipy = scipy_package("integrate", "the integral of a function")

    def compute(a: Any, b: Any, *held: Any) -> list[Any]:
        def f(x: float) -> Any:
            return np.asarray(integrand(*held, np.float64(x)))

        if scalar:
            return list(scipy.quad(f, float(a), float(b), **tolerance.options)[:2])
        y, error, about = scipy.quad_vec(
            f, float(a), float(b), **tolerance.of_many(), full_output=True
        )
        return [y * np.nan if known and about.status == _NOT_CONVERGED else y, error]

    dtype = aval.dtype if aval.dtype.kind in "fc" else _FLOAT
    types = [Aval(aval.shape, dtype), Aval((), _FLOAT)]
    value, error = on_host(name, compute, [a, b, *held], types)

    def tangent(y: Any, operands: Sequence[Any], dots: Sequence[Any]) -> Any:
        a, b, *held = operands
        total: Any = 0.0
        for x, dot, sign in ((b, dots[1], 1.0), (a, dots[0], -1.0)):
            if dot is not None:
                total = total + sign * _at_limit(integrand, held, x) * dot
        for i, dot in enumerate(dots[2:]):
            if dot is None:
                continue
            slope = _gradient(name, integrand, a, b, held, i, tolerance, aval)
            total = total + fnp.tensordot(slope, dot, axes=aval_of(dot).ndim)
        return converted(total, dtype)

    return [with_tangent(name, value, [a, b, *held], tangent), error]


def _at_limit(f: Callable[..., Any], held: Sequence[Any], x: Any) -> Any:
    """The integrand at a limit; 0 at an infinite one."""
    finite = fnp.isfinite(x)
    return fnp.where(finite, f(*held, fnp.where(finite, x, 0.0)), 0.0)


def _gradient(
    name: str,
    integrand: Callable[..., Any],
    a: Any,
    b: Any,
    held: Sequence[Any],
    i: int,
    tolerance: _Tolerance,
    aval: Aval,
) -> Any:
    """The integral of the integrand's derivative by ``held[i]``, with derivatives of its own."""

    def slope(*values: Any) -> Any:
        before, x = values[:-1], values[-1]

        def of_one(h: Any) -> Any:
            return integrand(*before[:i], h, *before[i + 1 :], x)

        return jacrev(of_one)(before[i])

    program = Programs([slope], [*map(aval_of, held), Aval((), _FLOAT)])  # called hundreds of times
    moved = aval_of(held[i])
    result = Aval((*aval.shape, *moved.shape), np.result_type(aval.dtype, moved.dtype))
    (run,), held = program.run, [*program.held, *held]
    return _traced(name, run, a, b, held, tolerance, result, scalar=False, known=True)[0]


@host_only
def quad(
    func: Callable[..., Any],
    a: Any,
    b: Any,
    args: Any = (),
    full_output: Any = 0,
    epsabs: float = 1.49e-8,
    epsrel: float = 1.49e-8,
    limit: int = 50,
    points: Any = None,
    weight: Any = None,
    wvar: Any = None,
    wopts: Any = None,
    maxp1: int = 50,
    limlst: int = 50,
    complex_func: bool = False,
) -> tuple[Any, Any]:
    """The integral of ``func(x, *args)`` from `a` to `b`, and an estimate of its error.

    SciPy's `quad` computes the value, also in compiled programs and, one example after another, under
    `vmap`. What belongs to `weight` (`wvar`, `wopts`, `maxp1`, `limlst`) changes nothing.

    Shapes: scalars, and `func` gives one.   Dtypes: real; gives float64.
    Derivative: Leibniz's rule: by a limit the integrand there, 0 by an infinite one; by `args` and what
    `func` closes over the integral of the integrand's derivative, adaptive itself, and nan where that
    does not converge; none of the error.
    Raises: ArgumentError: a limit is no number, an option is not supported. ImportError: no SciPy.
    ConcretizationError: `func` branches on values that are traced.
    Source: Piessens et al., "QUADPACK", Springer 1983; SciPy reference, ``scipy.integrate.quad``.

    >>> import funcgrad
    >>> area = lambda rate: quad(lambda x: np.exp(-rate * x), 0.0, np.inf)[0]
    >>> float(round(area(2.0), 9)), float(funcgrad.grad(area)(2.0).round(9))
    (0.5, -0.25)
    """
    require_callable("quad", func)
    options = {"full_output": full_output, "points": points, "weight": weight}
    for option, value in {**options, "complex_func": complex_func}.items():
        if value is not None and not (np.isscalar(value) and not value):
            raise ArgumentError(f"quad: {option}={value!r} is not supported{where()}")
    extras = args if isinstance(args, tuple) else (args,)
    y, error = _integral(
        "quad", lambda x: func(x, *extras), a, b, _Tolerance(epsabs, epsrel, limit), scalar=True
    )
    return y, error


@host_only
def quad_vec(
    f: Callable[..., Any],
    a: Any,
    b: Any,
    epsabs: float = 1e-200,
    epsrel: float = 1e-8,
    *,
    limit: int = 10000,
    args: Any = (),
) -> tuple[Any, Any]:
    """The integral of ``f(x, *args)``, an array, from `a` to `b`, and an estimate of its error.

    As `quad` in everything else; the largest error of all elements decides.

    Shapes: `a` and `b` are scalars; ``f: () -> (*s)`` gives ``(*s)``.   Dtypes: floating, complex.
    Derivative: as `quad`.
    Raises: as `quad`.
    Source: SciPy reference, ``scipy.integrate.quad_vec``.

    >>> quad_vec(lambda x: x ** np.arange(3), 0.0, 1.0)[0].round(6).tolist()
    [1.0, 0.5, 0.333333]
    """
    require_callable("quad_vec", f)
    extras = args if isinstance(args, tuple) else (args,)
    y, error = _integral(
        "quad_vec", lambda x: f(x, *extras), a, b, _Tolerance(epsabs, epsrel, limit), scalar=False
    )
    return y, error


@host_only
def dblquad(
    func: Callable[..., Any],
    a: Any,
    b: Any,
    gfun: Any,
    hfun: Any,
    args: Any = (),
    epsabs: float = 1.49e-8,
    epsrel: float = 1.49e-8,
) -> tuple[Any, Any]:
    """The integral of ``func(y, x, *args)`` over x from `a` to `b` and y from `gfun` to `hfun`, which
    are numbers or functions of x; and an estimate of the outer integral's error.

    Shapes: scalars.   Dtypes: real; gives float64.
    Derivative: as `quad`, also by what the limits close over.
    Raises: as `quad`.
    Source: SciPy reference, ``scipy.integrate.dblquad``.

    >>> float(round(dblquad(lambda y, x: x * y, 0.0, 1.0, 0.0, lambda x: x)[0], 9))
    0.125
    """
    require_callable("dblquad", func)

    def inner(x: Any) -> Any:
        low, high = (g(x) if callable(g) else g for g in (gfun, hfun))
        return quad(func, low, high, (x, *args), epsabs=epsabs, epsrel=epsrel)[0]

    return quad(inner, a, b, epsabs=epsabs, epsrel=epsrel)


@host_only
def tplquad(
    func: Callable[..., Any],
    a: Any,
    b: Any,
    gfun: Any,
    hfun: Any,
    qfun: Any,
    rfun: Any,
    args: Any = (),
    epsabs: float = 1.49e-8,
    epsrel: float = 1.49e-8,
) -> tuple[Any, Any]:
    """The integral of ``func(z, y, x, *args)`` over x from `a` to `b`, y from `gfun` to `hfun`, which
    are numbers or functions of x, and z from `qfun` to `rfun`, numbers or functions of x and y; and an
    estimate of the outer integral's error.

    A gradient takes minutes, since it is a triple integral of programs; nested `fixed_quad` is faster.

    Shapes: scalars.   Dtypes: real; gives float64.
    Derivative: as `quad`, also by what the limits close over.
    Raises: as `quad`.
    Source: SciPy reference, ``scipy.integrate.tplquad``.

    >>> float(round(tplquad(lambda z, y, x: x * y * z, 0, 1, 0, 2, 0, lambda x, y: x)[0], 9))
    0.25
    """
    require_callable("tplquad", func)

    def depths(y: Any, x: Any, *_: Any) -> list[Any]:
        return [g(x, y) if callable(g) else g for g in (qfun, rfun)]

    def widths(x: Any, *_: Any) -> list[Any]:
        return [g(x) if callable(g) else g for g in (gfun, hfun)]

    return nquad(func, [depths, widths, (a, b)], args, {"epsabs": epsabs, "epsrel": epsrel})


_OF_QUAD = ("epsabs", "epsrel", "limit")


@host_only
def nquad(
    func: Callable[..., Any],
    ranges: Sequence[Any],
    args: Any = None,
    opts: Any = None,
    full_output: bool = False,
) -> tuple[Any, Any]:
    """The integral of ``func(x0, ..., xn, *args)`` over all `ranges`, x0 being innermost, and an
    estimate of the outer integral's error.

    A range is a pair of numbers, or a function of the variables further out and `args` that gives one.
    `opts`: "epsabs", "epsrel", "limit" of `quad`, for all integrals or in a list, for each.

    Shapes: scalars.   Dtypes: real; gives float64.
    Derivative: as `quad`, also by what ranges close over.
    Raises: as `quad`; ArgumentError: no ranges, another option, `full_output`, options that are
    functions.
    Source: SciPy reference, ``scipy.integrate.nquad``.

    >>> float(round(nquad(lambda x, y, c: c * x * y, [lambda y, c: (0, y), (0, 1)], (8.0,))[0], 9))
    1.0
    """
    require_callable("nquad", func)
    extras = () if args is None else args if isinstance(args, tuple) else (args,)
    choices = list(opts) if isinstance(opts, list | tuple) else [opts] * len(ranges)
    fits = all(c is None or (isinstance(c, dict) and set(c) <= set(_OF_QUAD)) for c in choices)
    if len(ranges) == 0 or len(choices) != len(ranges) or not fits or full_output:
        raise ArgumentError(
            f"nquad: {len(ranges)} ranges, opts={opts!r}, full_output={full_output}; need ranges, and "
            f"options {', '.join(_OF_QUAD)} for all or each{where()}"
        )

    def over(depth: int, outer: tuple[Any, ...]) -> tuple[Any, Any]:
        span = ranges[depth]
        low, high = span(*outer, *extras) if callable(span) else span

        def integrand(x: Any) -> Any:
            if not depth:
                return func(x, *outer, *extras)
            return over(depth - 1, (x, *outer))[0]

        return quad(integrand, low, high, **(choices[depth] or {}))

    return over(len(ranges) - 1, ())


def fixed_quad(
    func: Callable[..., Any], a: Any, b: Any, args: Any = (), n: int = 5
) -> tuple[Any, None]:
    """The integral of ``func(x, *args)`` from `a` to `b` by Gauss and Legendre's rule with `n` nodes,
    and None.

    `func` takes all nodes at once, an array ``(n,)``.

    Shapes: ``func: (n) -> (*s, n)`` gives ``(*s)``.   Dtypes: floating, complex.
    Derivative: that of the sum, by the limits and `args`.
    Raises: ArgumentError: a limit is infinite, as far as it is known.
    Source: SciPy reference, ``scipy.integrate.fixed_quad``.

    >>> float(fixed_quad(lambda x: x**4, 0.0, 1.0)[0].round(9))
    0.2
    """
    require_callable("fixed_quad", func)
    a, b = arrays_of(a, b)
    for x in (a, b):
        value = known(x)
        if value is not None and np.any(np.isinf(value)):
            raise ArgumentError(
                f"fixed_quad: the limits must be finite; quad takes others{where()}"
            )
    nodes, weights = np.polynomial.legendre.leggauss(n)
    half = (b - a) * 0.5
    dtype = aval_of(half).dtype
    nodes, weights = beside(half, nodes.astype(dtype)), beside(half, weights.astype(dtype))
    y = func(half * (nodes + 1.0) + a, *args)
    return half * fnp.sum(y * weights, axis=-1), None
